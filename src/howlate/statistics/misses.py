"""How many releases missed a deadline that the user stated: facts of what was measured, no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.model.columns import LATENCY, RESPONSE
from howlate.model.summary import CellSummary, DeadlineSummary
from howlate.statistics.deadline import by_deadline, together
from howlate.statistics.groups import groups_of
from howlate.statistics.labels import axes_that_vary
from howlate.statistics.phrases import DATA_POINTS, RELEASES
from howlate.words.statement import Caption, Statement, message

MISSED = message(
    "deadline.missed",
    "Of {releases:count} {things} {misses:count} missed the deadline of {deadline_ns:given} ({late:count} late, "
    "{unserved:count} never served).",
)
MISSED_AT_LEAST = message(
    "deadline.missed-at-least",
    "Of {releases:count} {things} at least {misses:count} missed the deadline of {deadline_ns:given}.",
)
UNSTATED_MISSED = message(
    "deadline.unstated-missed",
    "Of {releases:count} releases {misses:count} missed the deadline ({late:count} late, {unserved:count} never "
    "served).",
)
"""Of an older howlate's summaries, which do not say the deadline."""
WORST_ROW = message(
    "deadline.worst-row", "The largest share missed it in the row {row}: {misses:count} of {releases:count}."
)


def deadline_statements(summaries: Sequence[CellSummary]) -> list[list[Statement]]:
    """For each deadline the misses; of several rows also the one with the most. Of the cells that count."""
    statements = []
    for cells in by_deadline(summaries).values():
        every = together(cell.deadline for cell in cells if cell.deadline is not None)
        assert every is not None
        has_releases = all(
            cell.latest in (LATENCY, RESPONSE) or not cell.known.missed_releases for cell in cells
        )
        things = RELEASES if has_releases else DATA_POINTS
        statements.append([_of_all(every, things), *_worst_row(cells, every)])
    return statements


def _of_all(every: DeadlineSummary, things: Caption) -> Statement:
    counts = {
        "releases": every.releases,
        "misses": every.misses,
        "late": every.late,
        "unserved": every.unserved,
    }
    if not every.deadline_ns:
        return UNSTATED_MISSED(**counts)
    if every.at_least:
        del counts["late"], counts["unserved"]
        return MISSED_AT_LEAST(**counts, things=things, deadline_ns=every.deadline_ns)
    return MISSED(**counts, things=things, deadline_ns=every.deadline_ns)


def _worst_row(cells: Sequence[CellSummary], every: DeadlineSummary) -> list[Statement]:
    groups = groups_of(cells)
    if len(groups) < 2 or not every.misses or every.at_least:
        return []
    axes = axes_that_vary([group.labels for group in groups])
    rows = [(group.deadline, " · ".join(group.labels.get(axis, "-") for axis in axes)) for group in groups]
    counted = [(deadline, name) for deadline, name in rows if deadline is not None]
    worst, name = max(counted, key=lambda row: row[0].misses / max(1, row[0].releases))
    return [WORST_ROW(row=name, misses=worst.misses, releases=worst.releases)]


def deadlines_json(summaries: Sequence[CellSummary]) -> list[dict[str, Any]]:
    """`deadlines` of `show --json`: the cells that count together, for each deadline that was stated."""
    counts = [
        together(cell.deadline for cell in cells if cell.deadline is not None)
        for cells in by_deadline(summaries).values()
    ]
    return [every.to_json() for every in counts if every is not None]
