"""The tail of a series, in the order in which it came: which samples belong to it, and their clusters over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from howlate.model.bins import TimeBlocks
from howlate.model.summary import DeadlineSummary, OfCpu
from howlate.model.tail import BLOCKS, TailSummary
from howlate.statistics.describe import Int64s, ValueCounts, at_rank, exceedances
from howlate.statistics.diagnose import declustered, extremal_index

FEWEST = 50
"""Samples that a tail should have; a threshold below p99.9 leaves as many."""
SHARE = 1_000
"""One sample in this number lies beyond the p99.9."""
FEWEST_FOR_THETA = 20
"""Fewest exceedances whose clusters are described."""
LONGEST = 0.1
"""Two late samples farther apart than this part of a block are not of one cluster: what lasts longer is a change
of the machine, which the counts of the blocks must show."""
RUN = 10
"""Kept releases that end a cluster of misses."""
MANY_MISSES = 1_000_000
"""Of more misses, and more than one in a hundred, the clusters are not counted: all are taken for one."""


def threshold(counts: ValueCounts) -> int | None:
    """The value above which the tail begins: the p99.9, or the order statistic that leaves FEWEST samples beyond.
    Where ties leave less than half of them, the next smaller value, unless that leaves twenty times as many. None
    where there are too few distinct samples."""
    n = counts.n
    wanted = max(FEWEST, -(-n // SHARE))
    if n < 2 * wanted:
        return None
    value = at_rank(counts, n - wanted)
    if exceedances(counts, value) * 2 >= wanted:
        return value
    below = int(np.searchsorted(counts.values, value)) - 1
    if below >= 0 and exceedances(counts, int(counts.values[below])) <= 20 * wanted:
        return int(counts.values[below])
    return value if exceedances(counts, value) >= FEWEST_FOR_THETA else None


class Clusters(Struct, frozen=True):
    """Clusters of misses: late answers with the releases that they swallowed."""

    starts: Int64s
    """The positions of their first late answers, increasing."""
    sizes: Int64s
    """In misses."""

    def figures(self, misses: int, length: int) -> dict[str, Any]:
        """`clusters`, `squares`, `largest` and `by_stretch` of a summary: how many begin in each of BLOCKS equal
        parts of a series. Misses that no late answer explains are one cluster, of unknown place."""
        sizes = np.append(self.sizes, max(0, misses - int(self.sizes.sum())))
        squares = sum(int(size) ** 2 for size in sizes)
        return {
            "clusters": int((sizes > 0).sum()),
            "squares": squares,
            "largest": int(sizes.max()),
            "by_stretch": _by_block(self.starts, length),
        }


Counted = TypeVar("Counted", DeadlineSummary, OfCpu)


def with_clusters(count: Counted, every: Sequence[Clusters], length: int) -> Counted:
    """The counts with the clusters of their misses: of several threads those of each, in series of this length."""
    if not count.misses:
        return count
    none = np.empty(0, np.int64)
    starts = np.concatenate([none, *(of.starts for of in every)])
    sizes = np.concatenate([none, *(of.sizes for of in every)])
    figures: dict[str, Any] = Clusters(starts, sizes).figures(count.misses, length)
    return replace(count, **figures)


def clusters_of_misses(
    positions: Int64s,
    latency_ns: Int64s,
    length: int,
    step_ns: int | None,
    threads: int = 1,
    deadline_ns: int = 0,
) -> Clusters:
    """The clusters that late answers make, with the releases that each of them swallowed: the runs estimator, with
    RUN kept releases between two clusters (R. L. Smith, I. Weissman 1994). Above the period only those swallowed
    releases miss `deadline_ns` that are later than it when the answer comes."""
    if not len(positions):
        return Clusters(positions, positions)
    swallowed = _swallowed(positions, latency_ns, length, step_ns, threads)
    missed = swallowed
    if step_ns and deadline_ns > step_ns:
        missed = np.clip((latency_ns - deadline_ns - 1) // step_ns, 0, swallowed)
    apart = positions[1:] - np.maximum.accumulate(positions + swallowed * threads)[:-1]
    first = np.concatenate(([0], np.flatnonzero(apart > RUN * threads) + 1))
    return Clusters(positions[first], np.add.reduceat(1 + missed, first))


def with_swallowed(
    positions: Int64s, latency_ns: Int64s, length: int, step_ns: int | None, threads: int = 1
) -> Int64s:
    """The positions of exceedances with those of the releases that passed unserved meanwhile: a latency of three and
    a half periods swallows three, none of them beyond the thread's next exceedance or the end of the series.

    Positions are increasing and below `length`; those of several threads take turns. `step_ns`: the period, None
    where none is swallowed."""
    swallowed = _swallowed(positions, latency_ns, length, step_ns, threads)
    total = int(swallowed.sum())
    if not total:
        return positions
    first = np.repeat(np.cumsum(swallowed) - swallowed, swallowed)
    offsets = (np.arange(total) - first + 1) * threads
    return np.sort(np.concatenate((positions, np.repeat(positions, swallowed) + offsets)))


def _swallowed(
    positions: Int64s, latency_ns: Int64s, length: int, step_ns: int | None, threads: int
) -> Int64s:
    """How many releases passed unserved during each."""
    if not step_ns or not len(positions):
        return np.zeros_like(positions)
    most = (_next_of_thread(positions, length, threads) - 1 - positions) // threads
    return np.clip(latency_ns // step_ns, 0, most)


def _next_of_thread(positions: Int64s, length: int, threads: int) -> Int64s:
    """For each position the next one of the same thread, or the end of the series."""
    order = np.argsort(positions % threads, kind="stable")
    ordered = positions[order]
    is_last = np.append(ordered[:-1] % threads != ordered[1:] % threads, True)
    following = np.empty_like(positions)
    following[order] = np.where(is_last, length, np.append(ordered[1:], length))
    return following


def theta_by_cpu(positions: Int64s, threads: int, cpus: Mapping[int, int]) -> dict[str, float]:
    """The extremal index of each CPU's own exceedances, if it has two; the least of several threads there. `cpus`: of
    each thread. The smaller one of the intervals estimator's, which takes a single burst for no cluster, and of the
    runs estimator's, with RUN kept releases between two clusters."""
    found: dict[str, float] = {}
    for thread, cpu in cpus.items() if len(set(cpus.values())) > 1 else ():
        own = positions[positions % threads == thread] // threads
        if len(own) > 1:
            runs = len(clusters_of_misses(own, own, int(own[-1]) + 1, None).starts) / len(own)
            intervals = extremal_index(own) if len(own) >= FEWEST_FOR_THETA else None
            found[str(cpu)] = min(runs, 1.0 if intervals is None else intervals, found.get(str(cpu), 1.0))
    return found


def clusters_by_thread(
    positions: Int64s,
    latency_ns: Int64s,
    length: int,
    step_ns: int | None,
    threads: int,
    deadline_ns: int = 0,
) -> dict[int, Clusters]:
    """The clusters that the late answers of each thread make."""
    found = {}
    for thread in np.unique(positions % threads):
        own = positions % threads == thread
        places = positions[own] // threads
        found[int(thread)] = clusters_of_misses(
            places, latency_ns[own], -(-length // threads), step_ns, 1, deadline_ns
        )
    return found


def summary_of_tail(threshold_ns: int, positions: Int64s, length: int, blocks: TimeBlocks) -> TailSummary:
    """`positions`: strictly increasing, below `length`, of the samples above the threshold. `blocks`: the column
    against time."""
    maxima = tuple(int(value) for value in _merged_maxima(blocks))
    theta = extremal_index(positions) if len(positions) >= FEWEST_FOR_THETA else None
    if theta is None:
        return TailSummary(threshold_ns, len(positions), block_max_ns=maxima)
    starts = declustered(positions, theta, length / BLOCKS * LONGEST)
    return TailSummary(threshold_ns, len(positions), theta, _by_block(starts, length), maxima)


def _by_block(starts: Int64s, length: int) -> tuple[int, ...]:
    block = np.minimum(starts * BLOCKS // max(length, 1), BLOCKS - 1)
    return tuple(int(count) for count in np.bincount(block, minlength=BLOCKS))


def _merged_maxima(blocks: TimeBlocks) -> Int64s:
    """The maxima of BLOCKS blocks of equal time; those without a sample are left out."""
    if not blocks.start_s:
        return np.empty(0, np.int64)
    number = np.round(np.asarray(blocks.start_s) / blocks.width_s).astype(np.int64)
    number = (number - number[0]) * BLOCKS // (number[-1] - number[0] + 1)
    first = np.concatenate(([0], np.flatnonzero(np.diff(number)) + 1))
    return np.maximum.reduceat(np.asarray(blocks.max_ns, np.int64), first)
