"""How many releases were not answered within a stated deadline (docs/statistics.md, "Deadline misses")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from howlate.model.summary import CellSummary, DeadlineSummary


def together(counts: Iterable[DeadlineSummary]) -> DeadlineSummary | None:
    """The sum over several cells; `deadline_ns` is 0 where they do not share it. None of nothing."""
    cells = list(counts)
    if not cells:
        return None
    stated = {cell.deadline_ns for cell in cells}
    return DeadlineSummary(
        stated.pop() if len(stated) == 1 else 0,
        sum(cell.releases for cell in cells),
        sum(cell.late for cell in cells),
        sum(cell.unserved for cell in cells),
    )


def by_deadline(summaries: Sequence[CellSummary]) -> dict[int, list[CellSummary]]:
    """The valid cells of which a deadline was asked, by that deadline, in the order in which the deadlines come."""
    found: dict[int, list[CellSummary]] = {}
    for summary in summaries:
        if summary.valid and summary.deadline is not None:
            found.setdefault(summary.deadline.deadline_ns, []).append(summary)
    return found
