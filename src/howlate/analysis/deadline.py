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
        _clusters(cells),
    )


def _clusters(cells: Sequence[DeadlineSummary]) -> int | None:
    """Of all misses; None where one of the cells has misses and does not say it."""
    clusters = [cell.clusters for cell in cells if cell.misses]
    known = [count for count in clusters if count is not None]
    return sum(known) if known and len(known) == len(clusters) else None


def by_deadline(summaries: Sequence[CellSummary]) -> dict[int, list[CellSummary]]:
    """The valid cells of which a deadline was asked, by that deadline, in the order in which the deadlines come."""
    cells: dict[int, list[CellSummary]] = {}
    for summary in summaries:
        if summary.valid and summary.deadline is not None:
            cells.setdefault(summary.deadline.deadline_ns, []).append(summary)
    return cells
