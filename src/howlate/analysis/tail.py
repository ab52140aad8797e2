"""The tail of a series, in the order in which it came: which samples belong to it, and their clusters over time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from howlate.analysis.describe import Int64s, ValueCounts, at_rank, exceedances
from howlate.analysis.diagnose import declustered, extremal_index
from howlate.model.bins import TimeBlocks
from howlate.model.tail import TailSummary

BLOCKS = 50
"""Of equal time, that counts and maxima are made of."""
FEWEST = 50
"""Samples that a tail should have; a threshold below p99.9 leaves as many."""
SHARE = 1_000
"""One in so many lies beyond the p99.9."""
FEWEST_FOR_THETA = 20
"""With fewer exceedances nothing is said of their clusters."""
LONGEST = 0.1
"""Two late samples farther apart than this part of a block are not of one cluster: what lasts longer is a change
of the machine, which the counts of the blocks must show."""
RUN = 10
"""So many kept releases end a cluster of misses."""
MANY_MISSES = 1_000_000
"""Of more misses, and more than one in a hundred, the clusters are not counted: all are taken for one."""


def threshold(counts: ValueCounts) -> int | None:
    """The value above which the tail begins: the p99.9, or the order statistic that leaves FEWEST samples beyond.
    Where ties leave less than half of them, the next smaller value, unless that leaves twenty times as many. None
    where the samples are too few, or too equal."""
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


def clusters_of_misses(positions: Int64s, latency_ns: Int64s, step_ns: int | None, threads: int = 1) -> int:
    """How many clusters late answers make, with the releases that each of them swallowed: the runs estimator, with
    RUN kept releases between two clusters (R. L. Smith, I. Weissman 1994)."""
    if not len(positions):
        return 0
    reach = positions + (np.maximum(latency_ns // step_ns, 0) * threads if step_ns else 0)
    apart = positions[1:] - np.maximum.accumulate(reach)[:-1]
    return 1 + int((apart > RUN * threads).sum())


def with_swallowed(
    positions: Int64s, latency_ns: Int64s, length: int, step_ns: int | None, threads: int = 1
) -> Int64s:
    """The positions of exceedances with those of the releases that passed unserved meanwhile: a latency of three and
    a half periods swallows three, none of them beyond the thread's next exceedance or the end of the series.

    Positions are increasing and below `length`; those of several threads take turns. `step_ns`: the period, None
    where none is swallowed."""
    if not step_ns or not len(positions):
        return positions
    most = (_next_of_thread(positions, length, threads) - 1 - positions) // threads
    swallowed = np.clip(latency_ns // step_ns, 0, most)
    total = int(swallowed.sum())
    if not total:
        return positions
    first = np.repeat(np.cumsum(swallowed) - swallowed, swallowed)
    offsets = (np.arange(total) - first + 1) * threads
    return np.sort(np.concatenate((positions, np.repeat(positions, swallowed) + offsets)))


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
            runs = clusters_of_misses(own, own, None) / len(own)
            intervals = extremal_index(own) if len(own) >= FEWEST_FOR_THETA else None
            found[str(cpu)] = min(runs, 1.0 if intervals is None else intervals, found.get(str(cpu), 1.0))
    return found


def clusters_by_cpu(
    positions: Int64s, latency_ns: Int64s, step_ns: int | None, threads: int, cpus: Mapping[int, int]
) -> dict[str, int]:
    """How many clusters the late answers of each CPU make. `cpus`: of each thread."""
    found: dict[str, int] = {}
    for thread, cpu in cpus.items():
        own = positions % threads == thread
        clusters = clusters_of_misses(positions[own] // threads, latency_ns[own], step_ns)
        found[str(cpu)] = found.get(str(cpu), 0) + clusters
    return found


def summary_of_tail(threshold_ns: int, positions: Int64s, length: int, blocks: TimeBlocks) -> TailSummary:
    """`positions`: strictly increasing, below `length`, of the samples above the threshold. `blocks`: the column
    against time."""
    maxima = tuple(int(value) for value in _merged_maxima(blocks))
    theta = extremal_index(positions) if len(positions) >= FEWEST_FOR_THETA else None
    if theta is None:
        return TailSummary(threshold_ns, len(positions), block_max_ns=maxima)
    starts = declustered(positions, theta, length / BLOCKS * LONGEST)
    counts = np.bincount(np.minimum(starts * BLOCKS // max(length, 1), BLOCKS - 1), minlength=BLOCKS)
    return TailSummary(threshold_ns, len(positions), theta, tuple(int(count) for count in counts), maxima)


def _merged_maxima(blocks: TimeBlocks) -> Int64s:
    """The maxima of BLOCKS blocks of equal time; those without a sample are left out."""
    if not blocks.start_s:
        return np.empty(0, np.int64)
    number = np.round(np.asarray(blocks.start_s) / blocks.width_s).astype(np.int64)
    number = (number - number[0]) * BLOCKS // (number[-1] - number[0] + 1)
    first = np.concatenate(([0], np.flatnonzero(np.diff(number)) + 1))
    return np.maximum.reduceat(np.asarray(blocks.max_ns, np.int64), first)
