"""How many releases were not answered within a stated deadline (docs/statistics.md, "Deadline misses")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from howlate.analysis.describe import Int64s
from howlate.model.summary import CellSummary, DeadlineSummary, OfCpu

FIRST_STEP_NS = 1_000
LAST_STEP_NS = 100 * 10**9
"""The ladder's first deadline, and what none of its deadlines exceeds."""


@dataclass(frozen=True)
class ThreadReleases:
    """Of one measuring thread, outside warm-up."""

    thread: int
    cpu: int
    releases: int
    overruns: int


@dataclass(frozen=True)
class Skipped:
    """Releases that passed before the activation that skipped them began: how late each was by then."""

    threads: Int64s
    late_ns: Int64s

    @classmethod
    def none(cls) -> Skipped:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    @classmethod
    def of(cls, threads: Int64s, late_ns: Int64s, skipped: Int64s, step_ns: int) -> Skipped:
        """Of late activations: the thread of each, by how much it was late, and how many releases it skipped. L late
        at a period of T answers the first of them L - T late, the second L - 2 T, none of them before its time."""
        first = np.repeat(np.cumsum(skipped) - skipped, skipped)
        number = np.arange(int(skipped.sum()), dtype=np.int64) - first + 1
        answered = np.maximum(np.repeat(late_ns, skipped) - number * step_ns, 0)
        return cls(np.repeat(threads, skipped), answered)


def against(
    deadline_ns: int,
    threads: Sequence[ThreadReleases],
    late: Mapping[int, int],
    skipped: Skipped,
    step_ns: int | None,
) -> DeadlineSummary:
    """The releases of a cell against a deadline. `late`: by thread, how many answers are later. `step_ns`: the period
    of a late policy that skips releases; a deadline above it holds for the skipped ones too."""
    put_back = step_ns is not None and deadline_ns > step_ns
    every: dict[str, OfCpu] = {}
    total = 0
    for of in threads:
        answered = skipped.late_ns[skipped.threads == of.thread][: of.overruns if put_back else 0]
        total += len(answered)
        count = OfCpu(
            of.releases,
            late.get(of.thread, 0) + int((answered > deadline_ns).sum()),
            of.overruns - len(answered),
        )
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
    return OfCpu(one.releases + other.releases, one.late + other.late, one.unserved + other.unserved)


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
        sum(cell.skipped for cell in cells),
        any(cell.at_least for cell in cells),
        _by_cpu(cells),
    )


def _by_cpu(cells: Sequence[DeadlineSummary]) -> dict[str, OfCpu]:
    every: dict[str, OfCpu] = {}
    for cell in cells:
        for cpu, count in cell.by_cpu.items():
            every[cpu] = _plus(every.get(cpu, OfCpu()), count)
    return every


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
