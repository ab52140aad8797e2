"""The README: short, what it points at is there, what it tells a newcomer to type is known, and its picture is of the
screen as it is."""

import re
from html import unescape
from pathlib import Path

import click
import pytest

from house_tools import tool
from howlate.cli import howlate
from howlate.cli._measure import material_of
from howlate.document.first_screen.lines import LINES, Line
from howlate.document.first_screen.screen import screen
from howlate.store.loaded import load_run
from made_inventory import make_runs

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TYPED = sorted(set(re.findall(r"`?\./howlate ([a-z][^`\n#|]*)", README)))
WORDS, PICTURE_BYTES = 250, 30_000
PICTURE = ROOT / "docs" / "pictures" / "first-screen.svg"


@pytest.mark.parametrize("line", TYPED)
def test_every_command_is_known_with_its_options(line: str) -> None:
    command: click.Command = howlate
    words = line.split()
    with click.Context(howlate, info_name="howlate") as context:
        while isinstance(command, click.Group) and words:
            found = command.get_command(context, words[0])
            if found is None:
                break
            command, words = found, words[1:]
        assert command is not howlate, line
        if not command.context_settings.get("ignore_unknown_options"):  # those of the probe are its own
            known = {option for parameter in command.get_params(context) for option in parameter.opts}
            assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line


def test_it_is_short() -> None:
    """Its prose: all but the lines to type and the table."""
    prose = [line for line in README.splitlines() if not line.startswith(("    ", "|", "!["))]
    assert len(re.sub(r"\]\([^)]*\)", "]", "\n".join(prose)).split()) <= WORDS


def test_each_recipe_has_three_lines() -> None:
    blocks = re.findall(r"(?:^    \./howlate .*\n)+", README, re.MULTILINE)
    assert [block.count("\n") for block in blocks if block.count("\n") > 1] == [3, 3, 3]


def test_every_link_and_picture_is_there_and_the_picture_is_small() -> None:
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in target]
    assert [target for target in targets if not (ROOT / target).exists()] == []
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert [ROOT / picture for picture in pictures] == [PICTURE]
    assert PICTURE.stat().st_size < PICTURE_BYTES


def _rows(svg: str) -> list[list[str]]:
    """The texts of each line of the picture."""
    rows: dict[str, list[str]] = {}
    for y, text in re.findall(r'<text x="\d+" y="(\d+)"[^>]*>([^<]*)</text>', svg):
        rows.setdefault(y, []).append(unescape(text))
    return list(rows.values())


def _form(rows: list[list[str]]) -> set[str]:
    """The words that every screen of its kind has, in their order: no figures, strips, names and machines."""
    kinds = {
        "verdict": r"(FAIL|PASS|INCONCLUSIVE) +deadline N us: N of N(,N)* (wake-ups|releases) missed it.*",
        "heading": r"load .* max +misses",
        "row": r"[FP?] +\S+ .* N(\.N)? [mun]?s +N(,N)*",
        "why": r"Why late \(the N worst, share of their time\) the most in one",
        "trust": r"Trust: .*",
        "all": r".*all tables: (\./)?howlate show --all .*",
    }
    lines = [re.sub(r"\d+", "N", " ".join(row)) for row in rows]
    return {name for name, pattern in kinds.items() if any(re.fullmatch(pattern, line) for line in lines)}


def _tool(run: Path) -> tuple[str, list[Line]]:
    """The picture of a run, as the tool makes it, and its lines."""
    lines = screen(material_of([load_run(run, kernels=False)], None, Path("runs") / run.name))
    return tool("make_screen_picture").picture(lines), lines


def test_the_picture_is_of_the_screen_as_it_is(tmp_path: Path) -> None:
    """A screen that is made now has the parts of the picture, in the same words; those of events alone are the
    picture's."""
    make_runs(tmp_path / "runs", ["ordinary"])
    svg, lines = _tool(tmp_path / "runs" / "ordinary")
    shown = _rows(PICTURE.read_text(encoding="utf-8"))
    assert len(shown) <= LINES
    assert _form(_rows(svg)) == _form(shown) - {"why"} and len(_form(shown)) == 6
    assert len(_rows(svg)) == sum(any(text.strip() for text, _ in line) for line in lines)
