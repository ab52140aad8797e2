"""The report's charts as files of their own, for papers and slides: an SVG a chart, in light colours, with title,
explanation, legend and axes; PNG is drawn from it by a program that the system has."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from howlate.document.document import ChartItem
from howlate.document.html import asset
from howlate.document.of_runs import document
from howlate.document.report_input import ReportInput, compared
from howlate.document.results import Fit
from howlate.document.sheet import PAGE
from howlate.document.side_charts import over_sides
from howlate.document.text import every_note
from howlate.errors import NotPossibleError, TargetError, UsageError
from howlate.figures.figure import Figure, Key, Panel
from howlate.figures.frame import frame
from howlate.figures.scale import OWN_AXES, Axes
from howlate.figures.svg import MARKERS, el, words
from howlate.model.loaded import RunContent
from howlate.sides.cell_labels import labels_of
from howlate.sides.join import gravity_of_runs, must_be_one_clock
from howlate.store.files import OUTPUT, make_folder, storing, written_beside, written_output
from howlate.words.quantities import sentence_case
from howlate.words.say import text_of

WIDTH = 1000
MARGIN = 24
LEFT = 92
"""Room for the ticks of the y axis."""
LETTER = 6.9
"""Width of a letter of 13 px, roughly."""
KEY_LETTER = 7.4
"""Width of a letter of the legend, with room to the next."""
NARROW = 440
"""Below this every other tick has no text."""
BOLD = 7.9
"""Width of a heavy letter."""
MOST = 200
"""Cells that one picture draws at most, the latest of them."""
_KEPT = (".frame", ".plane", ".marker", ".note", ".dash", ".c1", ".c5", ".c-max", ".c-case", ".legend .line")
"""What the page's rules must begin with to matter for a picture."""
PATIENCE_S = 60


def figures_of(
    runs: Sequence[RunContent], axes: Axes = OWN_AXES, *, published: bool = False
) -> Iterator[tuple[str, Figure]]:
    """Every chart of the report by the name of its file: chart, part, column. `published`: also the figures of the
    study's document."""
    must_be_one_clock(runs)
    charts = list(over_sides(runs, axes, published=published))
    material = ReportInput(runs, PAGE, compared(runs), Fit(1, MOST, MOST), axes, charts)
    for item in document(material).items():
        if isinstance(item, ChartItem) and isinstance(item.figure, Figure):
            yield _name(item.figure, item.part, item.column), item.figure


def _name(figure: Figure, part: str, column: str) -> str:
    parts = (figure.name, part, column.removesuffix("_ns"))
    return re.sub(r"[^a-z0-9._-]+", "-", "-".join(p for p in parts if p).lower())


def write_pictures(
    runs: Sequence[RunContent],
    folder: Path,
    form: str,
    axes: Axes = OWN_AXES,
    *,
    published: bool = False,
    only: Collection[str] | None = None,
    own: bool = False,
) -> list[Path]:
    """Writes each chart into the folder, or those of these names; returns their paths. `own`: the folder is one of
    the run's own, in which no link is followed."""
    draw = rasteriser() if form == "png" else None
    note = text_of(
        every_note(
            virtual=bool(runs) and runs[0].run.virtual,
            labels=labels_of(runs, None),
            gravity=gravity_of_runs(runs),
        )
    )
    pictures = [
        (name, svg_of(figure, note))
        for name, figure in figures_of(runs, axes, published=published)
        if only is None or name in only
    ]
    if not pictures:
        raise UsageError(
            "there is no chart to draw of this run",
            remedy="`howlate show --all RUN` lists the cells that are whole",
        )
    with storing(folder, OUTPUT):
        if own:
            make_folder(folder)
        else:
            folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, (text, size) in pictures:
        path = folder / f"{name}.{form}"
        with (written_beside if own else written_output)(path, OUTPUT) as place:
            if draw is None:
                place.write_text(text, encoding="utf-8")
            else:
                _write_png(draw, text, size, place)
        written.append(path)
    return written


def rasteriser() -> str:
    """The program that draws SVG here; NotPossibleError where there is none."""
    for name in ("rsvg-convert", "chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    raise NotPossibleError(
        "no installed program draws PNG", remedy="apt install librsvg2-bin (or chromium), or use --format svg"
    )


def _write_png(program: str, text: str, size: tuple[int, int], path: Path) -> None:
    """At twice the resolution of the screen."""
    with tempfile.TemporaryDirectory(prefix="howlate-picture-") as scratch:
        source, made = Path(scratch) / "picture.svg", Path(scratch) / "picture.png"
        source.write_text(text, encoding="utf-8")
        reason = f"it did not end within {PATIENCE_S} s"
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                _argv(program, source, made, size, Path(scratch)),
                capture_output=True,
                timeout=PATIENCE_S,
                check=False,
            )
            if done.returncode == 0 and made.is_file():
                shutil.copyfile(made, path)
                return
            reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
        raise TargetError(
            "{program} drew nothing: {reason}",
            remedy="use --format svg",
            program=Path(program).name,
            reason=reason,
        )


def _argv(program: str, source: Path, made: Path, size: tuple[int, int], scratch: Path) -> list[str]:
    if "rsvg" in Path(program).name:
        return [program, "--zoom", "2", "--output", str(made), str(source)]
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [
        program,
        "--headless",
        "--disable-gpu",
        *alone,
        "--hide-scrollbars",
        f"--user-data-dir={scratch / 'profile'}",
        "--force-device-scale-factor=2",
        f"--window-size={size[0]},{size[1]}",
        f"--screenshot={made}",
        source.as_uri(),
    ]


def svg_of(figure: Figure, note: str = "") -> tuple[str, tuple[int, int]]:
    """A whole picture and its size in pixels."""
    out = [el("text", {"class": "title", "x": MARGIN, "y": 40}, words(figure.title))]
    y = 52.0
    reading = text_of(figure.reading)
    reading = f"{reading} {sentence_case(note)}." if note else reading
    for line in textwrap.wrap(reading, int((WIDTH - 2 * MARGIN) / LETTER)):
        y += 18
        out.append(el("text", {"class": "reading", "x": MARGIN, "y": y}, words(line)))
    y += 14
    keys, y = _legend(figure.keys, y)
    out += keys
    if figure.y_title:
        y += 22
        out.append(
            el(
                "text",
                {"class": "reading", "x": MARGIN, "y": y},
                words(figure.y_title),
            )
        )
    panels, y = _panels(figure, y + 8)
    out += panels
    y += 20
    out.append(
        el(
            "text",
            {"class": "reading", "x": WIDTH - MARGIN, "y": y, "text-anchor": "end"},
            words(figure.x_title),
        )
    )
    height = round(y + MARGIN)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">'
    )
    paper = el("rect", {"width": WIDTH, "height": height, "fill": "#ffffff"})
    return f"{head}<style>{_style()}</style>{paper}{''.join(out)}</svg>\n", (WIDTH, height)


def _legend(keys: Sequence[Key], y: float) -> tuple[list[str], float]:
    out: list[str] = []
    x = float(MARGIN)
    for i, key in enumerate(keys):
        wide = 60 + len(text_of(key.text)) * KEY_LETTER
        if i == 0 or x + wide > WIDTH - MARGIN:
            x, y = float(MARGIN), y + 22
        out.append(el("g", {"transform": f"translate({x:.0f} {y - 4:.0f})", "class": "legend"}, _sample(key)))
        out.append(el("text", {"class": "key", "x": x + 36, "y": y}, words(key.text)))
        x += wide
    return out, y


def _sample(key: Key) -> str:
    if key.mark == "area":
        return el("rect", {"class": f"area {key.classes}", "width": 24, "height": 9, "y": -5})
    line = el("path", {"class": f"line {key.classes}", "d": "M0,0H28"})
    if key.mark == "line":
        return line
    marker = el(
        "path",
        {"class": f"marker {key.mark} {key.classes}", "transform": "translate(14 0)", "d": MARKERS[key.mark]},
    )
    return (line if key.series is not None else "") + marker


def _panels(figure: Figure, y: float) -> tuple[list[str], float]:
    """The panels below each other, or side by side if the figure says so or there are many."""
    across = figure.columns or (2 if len(figure.panels) > 8 else 1)
    wide = (WIDTH - 2 * MARGIN - 20 * (across - 1)) / across
    out: list[str] = []
    for begin in range(0, len(figure.panels), across):
        row = figure.panels[begin : begin + across]
        labels = [
            textwrap.wrap(text_of(panel.label), int(wide / BOLD)) if len(figure.panels) > 1 else []
            for panel in row
        ]
        asides = [textwrap.wrap(text_of(panel.aside), int(wide / LETTER)) for panel in row]
        head = 17 * max(len(lines) + len(more) for lines, more in zip(labels, asides, strict=True)) + 12
        for i, (panel, lines, more) in enumerate(zip(row, labels, asides, strict=True)):
            x = MARGIN + i * (wide + 20)
            texts = [*(("panel", line) for line in lines), *(("reading", line) for line in more)]
            out += [
                el("text", {"class": kind, "x": x, "y": y + 17 * (n + 1)}, words(line))
                for n, (kind, line) in enumerate(texts)
            ]
            out.append(_panel(panel, f"p{begin + i}", x, y + head, wide))
        y += head + max(panel.height for panel in row) + 34
    return out, y


def _panel(panel: Panel, ident: str, x: float, y: float, wide: float) -> str:
    left = 2 if not panel.picture.y_ticks else min(LEFT, wide / 5)
    inside: dict[str, str | int | float] = {
        "x": x + left,
        "y": y,
        "width": wide - left - 2,
        "height": panel.height,
        "overflow": "visible",
    }
    drawn = frame(_without_links(panel), ident)
    return el("g", {"class": "narrow" if wide < NARROW else "wide"}, el("svg", inside, drawn))


def _without_links(panel: Panel) -> Panel:
    """Removes links: they lead to other charts, which are files of their own."""
    notes = [replace(note, link="") for note in panel.picture.notes]
    return replace(panel, picture=replace(panel.picture, notes=notes))


@cache
def _style() -> str:
    """The page's rules for what is inside of charts, with the light colours filled in."""
    css = asset("page.css")
    root = css[css.index(":root {") : css.index("}", css.index(":root {"))]
    colours = dict(re.findall(r"--([a-z0-9-]+): ([^;]+);", root))
    kept = []
    for line in css.split("@media print")[0].splitlines():
        if line.startswith(_KEPT) and line.endswith("}"):  # indented ones are for some screens alone
            kept.append(re.sub(r"var\(--([a-z0-9-]+)\)", lambda m: colours[m[1]], line))
    own = (
        f".title{{font-size:22px;font-weight:620;fill:{colours['ink']}}}"
        f".reading{{font-size:13px;fill:{colours['soft']}}}"
        f".key,.panel{{font-size:13px;fill:{colours['ink']}}}.panel{{font-weight:600}}"
        ".narrow .second{display:none}.frame text{font-family:sans-serif}.frame,.note{overflow:visible}"
    )
    return "".join(kept) + own
