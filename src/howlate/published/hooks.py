"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from howlate.compare.compare import Comparison
    from howlate.compare.topics import Topic
    from howlate.document.document import ChartItem
    from howlate.document.sheet import Sheet
    from howlate.model.loaded import RunContent
    from howlate.sides.printed_figures import PrintedDocument
    from howlate.words.statement import Statement


def find_document(name: str) -> PrintedDocument:
    """For sides/printed_figures.py."""
    from howlate.published.document import StudyDocument
    from howlate.published.load import find_reference

    return StudyDocument(find_reference(name))


def of_both_modes(name: str) -> bool:
    """For sides/printed_figures.py."""
    from howlate.published.load import find_reference, references

    return name in references() and len(set(find_reference(name).modes.values())) > 1


def layouts(comparison: Comparison) -> list[Sheet]:
    """For compare/document.py."""
    from howlate.published.layouts import layouts

    return layouts(comparison)


def conclusion(topic: Topic, first: int, second: int) -> list[Statement]:
    """For compare/relations.py."""
    from howlate.published.steadier import conclusion

    return conclusion(topic, first, second)


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return ("howlate.published.as_published", "howlate.published.layouts", "howlate.published.steadier")


def published_figures(contents: Sequence[RunContent]) -> Iterator[ChartItem]:
    """For document/side_charts.py."""
    from howlate.published.as_published import published_figures

    return published_figures(contents)
