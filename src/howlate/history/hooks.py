"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return (
        "howlate.history.chart",
        "howlate.history.courses",
        "howlate.history.document",
        "howlate.history.history",
        "howlate.history.screen",
    )
