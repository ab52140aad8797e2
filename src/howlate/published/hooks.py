"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from howlate.rooms import later

if TYPE_CHECKING:
    from howlate.sides.printed_figures import PrintedDocument


def find_document(name: str) -> PrintedDocument:
    """For sides/printed_figures.py."""
    from howlate.published.counterparts import StudyDocument
    from howlate.published.load import find_reference

    return StudyDocument(find_reference(name))


def of_both_modes(name: str) -> bool:
    """For sides/printed_figures.py."""
    from howlate.published.load import find_reference, references

    return name in references() and len(set(find_reference(name).modes.values())) > 1


layouts = later("howlate.published.layouts", "layouts")
"""For compare/document.py."""
conclusion = later("howlate.published.steadier", "conclusion")
"""For compare/relations.py."""


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return ("howlate.published.as_published", "howlate.published.layouts", "howlate.published.steadier")


published_figures = later("howlate.published.as_published", "published_figures")
"""For document/side_charts.py."""
