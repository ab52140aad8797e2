"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return (
        "howlate.verdict.charts.matrix",
        "howlate.verdict.document",
        "howlate.verdict.evidence",
        "howlate.verdict.extrapolate",
        "howlate.verdict.forbids",
        "howlate.verdict.judge",
        "howlate.verdict.promise",
        "howlate.verdict.promise_bounds",
        "howlate.verdict.promise_facts",
        "howlate.verdict.promise_sentence",
        "howlate.verdict.rate",
        "howlate.verdict.stretch",
        "howlate.verdict.verdict",
    )
