"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from howlate.analysis.beside import PrintedDocument
    from howlate.analysis.compare import Comparison
    from howlate.model.loaded import RunContent
    from howlate.report.document import Drawn
    from howlate.report.sheet import Sheet


def find_document(name: str) -> PrintedDocument:
    """For analysis/beside.py."""
    from howlate.published.document import StudyDocument
    from howlate.published.load import find_reference

    return StudyDocument(find_reference(name))


def of_both_modes(name: str) -> bool:
    """For analysis/beside.py."""
    from howlate.published.load import find_reference, references

    return name in references() and len(set(find_reference(name).modes.values())) > 1


def layouts(found: Comparison) -> list[Sheet]:
    """For report/comparison.py."""
    from howlate.published.layouts import layouts

    return layouts(found)


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return ("howlate.published.as_published", "howlate.published.layouts")


def published_figures(contents: Sequence[RunContent]) -> Iterator[Drawn]:
    """For report/side_charts.py."""
    from howlate.published.as_published import published_figures

    return published_figures(contents)
