"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return (
        "howlate.prove.bisected",
        "howlate.prove.bisected_document",
        "howlate.prove.chart",
        "howlate.prove.claim",
        "howlate.prove.document",
        "howlate.prove.proof",
        "howlate.prove.screen",
    )
