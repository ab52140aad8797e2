"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return (
        "howlate.why.advise.advice",
        "howlate.why.advise.chart",
        "howlate.why.advise.document",
        "howlate.why.calibrate.document",
        "howlate.why.cause_names",
        "howlate.why.charts.causes",
        "howlate.why.late_cases",
        "howlate.why.late_counters",
        "howlate.why.late_page",
        "howlate.why.late_parts",
        "howlate.why.recorded",
        "howlate.why.remedies",
        "howlate.why.replayed.document",
        "howlate.why.replayed.page",
        "howlate.why.replayed.pair_document",
        "howlate.why.replayed.parts",
    )
