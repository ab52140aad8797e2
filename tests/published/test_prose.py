"""Every number with a unit in the prose of a page of docs/studies stands in one of the page's blocks, in the study's
own document or file, or in its commands: a page that is measured anew and whose prose stays is noticed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from howlate.system.paths import ROOT

PAGES = sorted(path for path in (ROOT / "docs" / "studies").glob("*.md") if path.name != "README.md")
PUBLISHED = ROOT / "src" / "howlate" / "published"
NUMBER = r"\d[\d,]*(?:\.\d+)?"
SERIES = re.compile(
    rf"({NUMBER}(?:(?:,? (?:and|to|or|of|in|against) |, |/){NUMBER})*) ?(us|µs|ms|ns|s|%)(?![\w/])"
)
BLOCK = re.compile(r"<!-- (?:made|by hand):.*?<!-- end -->", re.DOTALL)


def blocks_and_prose(text: str) -> tuple[str, str]:
    """What a program made, or a command that the block names, with all commands; and what a person wrote."""
    shown = "\n".join([*BLOCK.findall(text), *re.findall(r"^    .*$", text, re.MULTILINE)])
    prose = re.sub(r"<!--.*?-->", "", BLOCK.sub("", text), flags=re.DOTALL)
    prose = re.sub(r"^    .*$", "", prose, flags=re.MULTILINE)
    return shown, re.sub(r"`[^`]*`|\]\([^)]*\)", "", prose)


def numbers(text: str) -> set[float]:
    return {float(found.replace(",", "")) for found in re.findall(NUMBER, text)}


def is_among(told: str, known: set[float]) -> bool:
    """To the digits that it has, in whatever unit of time the known one is."""
    digits = len(told.partition(".")[2])
    half = 0.5 * 10**-digits * 1.0001
    value = float(told.replace(",", ""))
    return any(abs(number * unit - value) <= half for number in known for unit in (1, 1e-3, 1e3, 1e-6, 1e6))


def unfounded(text: str, more: str = "") -> Iterator[str]:
    shown, prose = blocks_and_prose(text)
    known = numbers(shown) | numbers(more)
    for series in SERIES.finditer(prose):
        for told in re.findall(NUMBER, series[1]):
            if not is_among(told, known):
                yield f"{told} {series[2]}: ...{prose[max(0, series.start() - 60) : series.end()]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_number_of_a_pages_prose_stands_in_one_of_its_blocks(page: Path) -> None:
    of_the_study = [*PUBLISHED.glob(f"documents/{page.stem}*"), PUBLISHED / "studies" / f"{page.stem}.toml"]
    assert len(of_the_study) > 1
    more = "\n".join(path.read_text() for path in of_the_study)
    assert list(unfounded(page.read_text(), more)) == []


def test_a_number_that_a_new_measurement_changed_is_found() -> None:
    prose = "It was 42.4 us, and is 49 us, 48.7 and 1.01 ms or 48.8 us.\n"
    page = f"<!-- made: table -->\n| 48.7 | 1,014 |\n<!-- end -->\n\n{prose}"
    assert [told.split(":")[0] for told in unfounded(page)] == ["42.4 us", "48.8 us"]
