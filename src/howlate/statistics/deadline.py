"""How many releases were not answered within a stated deadline (docs/statistics.md, "Deadline misses")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from howlate.model.summary import CellSummary, DeadlineSummary, OfCpu
from howlate.statistics.valid import holds

FIRST_STEP_NS = 1_000
LAST_STEP_NS = 100 * 10**9
"""The ladder's first deadline, and the limit of its deadlines."""


class ThreadReleases(Struct, frozen=True):
    """The releases of one measuring thread, outside warm-up."""

    thread: int
    cpu: int
    releases: int
    overruns: int


class Skipped(Struct, frozen=True):
    """The releases of a thread that passed before the activation that skipped them began."""

    releases: int = 0
    late: int = 0
    """Those that are later than a deadline by then."""

    def within(self, overruns: int) -> Skipped:
        """No more than were never served. What was dropped looks skipped, and may have been answered in time."""
        beyond = max(0, self.releases - overruns)
        return Skipped(self.releases - beyond, max(0, self.late - beyond))


def against(
    deadline_ns: int,
    threads: Sequence[ThreadReleases],
    late: Mapping[int, int],
    skipped: Mapping[int, Skipped],
) -> DeadlineSummary:
    """The releases of a cell against a deadline, by thread: how many answers are `late`, and what late activations
    `skipped` that the deadline holds for."""
    every: dict[str, OfCpu] = {}
    total = 0
    for of in threads:
        answered = skipped.get(of.thread, Skipped()).within(of.overruns)
        total += answered.releases
        count = OfCpu(of.releases, late.get(of.thread, 0) + answered.late, of.overruns - answered.releases)
        every[str(of.cpu)] = _plus(every.get(str(of.cpu), OfCpu()), count)
    return DeadlineSummary(
        deadline_ns,
        sum(count.releases for count in every.values()),
        sum(count.late for count in every.values()),
        sum(count.unserved for count in every.values()),
        skipped=total,
        by_cpu=every if len(every) > 1 else {},
    )


def ladder_steps(largest_ns: int) -> list[int]:
    """Deadlines in decades, up to the first that is not below the largest value."""
    steps = [FIRST_STEP_NS]
    while steps[-1] < min(largest_ns, LAST_STEP_NS):
        steps.append(steps[-1] * 10)
    return steps


def _plus(one: OfCpu, other: OfCpu) -> OfCpu:
    return OfCpu(
        one.releases + other.releases,
        one.late + other.late,
        one.unserved + other.unserved,
        **_clusters([one, other]),
    )


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
        skipped=sum(cell.skipped for cell in cells),
        at_least=any(cell.at_least for cell in cells),
        by_cpu=_by_cpu(cells),
        **_clusters(cells),
    )


def _by_cpu(cells: Sequence[DeadlineSummary]) -> dict[str, OfCpu]:
    every: dict[str, OfCpu] = {}
    for cell in cells:
        for cpu, count in cell.by_cpu.items():
            every[cpu] = _plus(every.get(cpu, OfCpu()), count)
    return every


def _clusters(counts: Sequence[DeadlineSummary] | Sequence[OfCpu]) -> dict[str, Any]:
    """Those of all misses; None where one of them has misses and does not say it. `by_stretch` is a cell's alone."""
    found: dict[str, Any] = {}
    for name, of_all in (("clusters", sum), ("squares", sum), ("largest", max)):
        values = [getattr(count, name) for count in counts if count.misses]
        known = [value for value in values if value is not None]
        found[name] = of_all(known) if known and len(known) == len(values) else None
    return found


def by_deadline(summaries: Sequence[CellSummary]) -> dict[int, list[CellSummary]]:
    """The cells that count and have a deadline, by that deadline, in the order in which the deadlines come."""
    cells: dict[int, list[CellSummary]] = {}
    for summary in summaries:
        if summary.deadline is not None and holds(summary):
            cells.setdefault(summary.deadline.deadline_ns, []).append(summary)
    return cells
