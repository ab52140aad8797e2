"""What the charts draw of a column, from counts: the empirical tail and the median and p99 of blocks of
time."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from howlate.model.bins import Tail, TimeBlocks
from howlate.statistics.describe import Int64s, ValueCounts

BLOCKS = 1000
"""About as many as a chart has pixel columns."""
TAIL_KEPT = 100
"""The largest distinct values, which are never thinned."""
TAIL_POINTS = 1000
"""About as many points as the rest of the tail has."""


def block_width_ns(span_ns: int) -> int:
    """The width of a block, such that `span_ns` has at most BLOCKS of them: whole nanoseconds, at least
    one."""
    return max(1, -(-span_ns // BLOCKS))


class BlockBins(Struct, frozen=True):
    """Counts by block and bin, sorted by block, then by value: the groups that a query gives."""

    block: Int64s
    largest: Int64s
    counts: Int64s


def time_blocks(bins: BlockBins, width_ns: int) -> TimeBlocks:
    """Count, median, p99 and maximum of each block that has samples.

    A quantile is the largest sample of the bin that holds its order statistic (rank ceil(q n)): with bins of
    7 mantissa bits it is at most 0.8 % above it, never below, and the maximum is exact.
    """
    if len(bins.block) == 0:
        return TimeBlocks((), width_ns / 1e9, (), (), (), ())
    first = np.concatenate(([0], np.flatnonzero(np.diff(bins.block)) + 1))
    last = np.concatenate((first[1:], [len(bins.block)])) - 1
    reached = np.cumsum(bins.counts)
    before = reached[first] - bins.counts[first]
    total = reached[last] - before

    def at(numerator: int, denominator: int) -> tuple[int, ...]:
        rank = before + -(-total * numerator // denominator)
        return tuple(bins.largest[np.searchsorted(reached, rank)].tolist())

    return TimeBlocks(
        start_s=tuple(float(block) * width_ns / 1e9 for block in bins.block[first]),
        width_s=width_ns / 1e9,
        counts=tuple(total.tolist()),
        median_ns=at(1, 2),
        p99_ns=at(99, 100),
        max_ns=tuple(bins.largest[last].tolist()),
    )


def tail(data: ValueCounts) -> Tail:
    """Share of samples greater than each distinct value, 1 - F(x). At most TAIL_POINTS values, evenly spread
    over the logarithm of the share, and always the smallest and the largest TAIL_KEPT; the largest has the
    share 0."""
    n = data.n
    if n == 0:
        return Tail((), ())
    beyond = n - np.cumsum(data.counts)
    kept = np.arange(len(beyond))
    many = len(beyond) - TAIL_KEPT
    if many > TAIL_POINTS:
        steps = np.geomspace(float(beyond[0]), max(float(beyond[many]), 1.0), TAIL_POINTS)
        chosen = np.searchsorted(-beyond[:many], -steps)
        kept = np.unique(np.concatenate((np.minimum(chosen, many - 1), [0], kept[many:])))
    return Tail(tuple(data.values[kept].tolist()), tuple(float(count) / n for count in beyond[kept]))
