"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from howlate.rooms import later

if TYPE_CHECKING:
    from howlate.document.report_input import ReportInput
    from howlate.model.loaded import RunContent
    from howlate.why.explained_cells import ExplainedCell
    from howlate.words.statement import Statement


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return (
        "howlate.why.advise.advice",
        "howlate.why.advise.chart",
        "howlate.why.advise.document",
        "howlate.why.calibrate.document",
        "howlate.why.cause_words",
        "howlate.why.charts.causes",
        "howlate.why.in_report",
        "howlate.why.late_cases",
        "howlate.why.late_counters",
        "howlate.why.late_page",
        "howlate.why.late_parts",
        "howlate.why.on_screen",
        "howlate.why.recorded",
        "howlate.why.replayed.pair_document",
        "howlate.why.screen",
    )


parts = later("howlate.why.in_report", "PARTS")
"""For document/of_runs.py: what knobs buy, and why samples were late."""


def opening(material: ReportInput) -> Iterator[Statement]:
    """For document/first_screen/on_page.py: the short answer of runs of `howlate advise`."""
    from howlate.why.advise.document import answers

    return answers(material.runs)


def answers(runs: Sequence[RunContent]) -> bool:
    """For document/of_runs.py: what the knobs buy is the answer."""
    from howlate.why.advise.document import only

    return only(runs)


def explained(content: RunContent) -> dict[str, ExplainedCell]:
    """For document/of_runs.py: the cells with explained samples, by their ids."""
    from howlate.why.explained_cells import explained_cells

    return {cell.id: cell for cell in explained_cells(content)}


reasons = later("howlate.why.on_screen", "reasons")
"""For document/first_screen/screen.py: why samples were late."""
doubts = later("howlate.why.in_report", "doubts")
"""For verdict/in_report.py: which rows are on samples that recording made slower."""
