"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from howlate.rooms import later, modules_in

if TYPE_CHECKING:
    from howlate.document.first_screen.on_screen import Reasons
    from howlate.document.report_input import ReportInput
    from howlate.model.loaded import RunContent
    from howlate.why.explained_cells import ExplainedCell
    from howlate.words.statement import Statement


modules_of_results = modules_in("howlate.why", without="advise.flips advise.flow replayed.flow")
"""For words/rooms.py: the modules here whose texts are translated."""
parts = later("howlate.why.in_report", "PARTS")
"""For document/of_runs.py: what knobs buy, and why samples were late."""


def opening(material: ReportInput) -> Iterator[Statement]:
    """For document/first_screen/on_page.py: the short answer of runs of `howlate advise`."""
    from howlate.why.advise.flip import is_advice

    if not any(is_advice(content.run) for content in material.runs):
        return iter(())
    from howlate.why.advise.document import answers

    return answers(material.runs)


def answers(runs: Sequence[RunContent]) -> bool:
    """For document/of_runs.py: what the knobs buy is the answer."""
    from howlate.why.advise.flip import is_advice

    return all(is_advice(content.run) for content in runs)


def explained(content: RunContent) -> dict[str, ExplainedCell]:
    """For document/of_runs.py: the cells with explained samples, by their ids."""
    if all(cell.trace is None for cell in content.cells):
        return {}
    from howlate.why.explained_cells import explained_cells

    return {cell.id: cell for cell in explained_cells(content)}


def reasons(material: ReportInput) -> Reasons | None:
    """For document/first_screen/screen.py: why samples were late."""
    if not any(material.with_cases):
        from howlate.why.late_counters import NO_EVENTS, without_cases

        return without_cases(material, NO_EVENTS())
    from howlate.why.on_screen import reasons

    return reasons(material)


doubts = later("howlate.why.in_report", "doubts")
"""For verdict/in_report.py: which rows are on samples that recording made slower."""
