"""Makes docs/pictures/first-screen.svg, the README's picture: what `howlate check` ends with; and first-page.png, the
first screen of its page, with Chromium.

    .venv/bin/python tools/make_screen_picture.py [RUN]

RUN is a run folder; without it, 12 s are measured into build/runs/screen-picture.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

from howlate.cli._measure import material_of
from howlate.document.first_screen.lines import COLUMNS, Line
from howlate.document.first_screen.screen import screen
from howlate.store.loaded import load_run
from howlate.words.language import choose

ROOT = Path(__file__).parents[1]
RUN = Path("runs") / "screen-picture"
PICTURE = ROOT / "docs" / "pictures" / "first-screen.svg"
PAGE = PICTURE.with_name("first-page.png")
BROWSER = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
WINDOW = ("--force-device-scale-factor=0.75", "--window-size=1280,1000")
TASK = ("--period", "500us", "--policy", "fifo:90", "--load", "none,disk,hackbench", "--deadline", "300us")
MEASURED = ("check", *TASK, "--duration", "12s")
COLUMN, ROW, SIZE, BORDER = 8, 18, 13, 12
BACKGROUND, TEXT = "#1d2126", "#d7dbe0"
COLOURS = {"red": "#ff6b68", "green": "#6cc56c", "yellow": "#e5c454", "cyan": "#5cc4cf"}


def picture(lines: Sequence[Line]) -> str:
    """The screen as an SVG that needs no font: each text is stretched to its columns."""
    columns = max(COLUMNS, *(sum(len(text) for text, _ in line) for line in lines))  # a command is not cut
    width, height = columns * COLUMN + 2 * BORDER, len(lines) * ROW + 2 * BORDER
    texts = [text for row, line in enumerate(lines) for text in _texts(line, row)]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            "<title>What howlate check ends with</title>",
            f'<rect width="{width}" height="{height}" rx="6" fill="{BACKGROUND}"/>',
            f'<g font-family="ui-monospace, monospace" font-size="{SIZE}" fill="{TEXT}">',
            *texts,
            "</g>",
            "</svg>\n",
        )
    )


def _texts(line: Line, row: int) -> Sequence[str]:
    made, column = [], 0
    for text, style in line:
        words = style.split()
        colour = "".join(f' fill="{COLOURS[word]}"' for word in words if word in COLOURS)
        weight = ' font-weight="bold"' * ("bold" in words) + ' opacity="0.6"' * ("dim" in words)
        for part in re.finditer(r"\S+(?: \S+)*", text):
            x, y = BORDER + (column + part.start()) * COLUMN, BORDER + row * ROW + SIZE
            length = f'textLength="{len(part[0]) * COLUMN}" lengthAdjust="spacingAndGlyphs"'
            made.append(f'<text x="{x}" y="{y}" {length}{colour}{weight}>{escape(part[0])}</text>')
        column += len(text)
    return made


def main() -> None:
    run = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / RUN
    if not (run / "run.json").exists():
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        subprocess.run(
            [sys.executable, "-m", "howlate", *MEASURED, "--out", RUN],
            cwd=ROOT / "build",  # its page names the run as it was given
            env=environment,
            check=False,
        )
    choose([], {"HOWLATE_COMMAND": "./howlate"})
    material = material_of([load_run(run, kernels=False)], None, Path("runs") / run.name)
    PICTURE.write_text(picture(screen(material)), encoding="utf-8")
    report = (run / "report.html").resolve().as_uri()
    subprocess.run([*BROWSER, *WINDOW, f"--screenshot={PAGE}", report], check=True)
    print(PICTURE, PAGE)


if __name__ == "__main__":
    main()
