"""The page's colours: text on paper has the contrast that WCAG 2 asks for at level AA (4.5), light and dark."""

import re

import pytest

from howlate.document.html import asset

TEXT = ("ink", "soft", "faint", "accent", "bad", "note", "max")
PAPERS = {"paper": TEXT, "raised": ("ink", "soft"), "note-paper": ("ink",), "bad-paper": ("ink",)}
MARKS = ("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "p999", "p99", "median", "steal")


def schemes() -> dict[str, dict[str, str]]:
    """The variables of both schemes, by name."""
    light, dark, *_ = (
        dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", asset("page.css"), re.DOTALL)
    )
    return {"light": light, "dark": {**light, **dark}}


def luminance(colour: str) -> float:
    """WCAG 2.2, "relative luminance"."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_formula_is_wcags() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#8d959e", "#fdfdfc") == pytest.approx(2.98, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable(scheme: str) -> None:
    colours = schemes()[scheme]
    for paper, texts in PAPERS.items():
        for text in texts:
            assert contrast(colours[text], colours[paper]) >= 4.5, (text, paper)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_and_marks_are_seen(scheme: str) -> None:
    """Graphical objects need 3."""
    colours = schemes()[scheme]
    for mark in MARKS:
        assert contrast(colours[mark], colours["paper"]) >= 3, mark
