"""What is said of one column: count, extremes, mean, deviation, quantiles, how many lie beyond a limit.

All from exact counts of distinct values, so 1e8 samples are as good as ten. Formulas and sources:
docs/statistics.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from howlate.model.summary import QUANTILES, ColumnSummary, LargestAlone
from howlate.stats.alone import largest_alone

BEYOND = 10
"""A quantile is given only where at least this many samples lie beyond it."""

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ValueCounts:
    """How often each distinct value occurs: values strictly increasing, counts positive."""

    values: Int64s
    counts: Int64s

    @classmethod
    def of(cls, samples: npt.ArrayLike) -> ValueCounts:
        """The counts of an array of integers."""
        values, counts = np.unique(np.asarray(samples, np.int64), return_counts=True)
        return cls(values, counts.astype(np.int64))

    @property
    def n(self) -> int:
        """How many samples there are."""
        return int(self.counts.sum())


def mean(data: ValueCounts) -> float | None:
    """The arithmetic mean, sum(x) / n; None of nothing. The sum is exact (whole numbers of any size)."""
    return float(Fraction(_total(data), data.n)) if data.n else None


def stddev(data: ValueCounts) -> float | None:
    """The sample's standard deviation, sqrt(sum((x - mean)^2) / (n - 1)); None below two samples.

    Two passes about the mean with the correction for the mean's own rounding (Chan, Golub, LeVeque 1983, eq.
    1.7): no cancellation, however far the values are from zero.
    """
    n = data.n
    if n < 2:
        return None
    center = _total(data) // n
    apart = (
        np.array([int(value) - center for value in data.values], dtype=np.float64)
        if _far(data)
        else ((data.values - center).astype(np.float64))
    )
    squares = float(np.dot(apart * apart, data.counts))
    rest = float(np.dot(apart, data.counts))
    return float(np.sqrt(max(squares - rest * rest / n, 0.0) / (n - 1)))


def quantile(data: ValueCounts, share: str) -> int | None:
    """The order statistic of rank ceil(share * n) (the inverse of the empirical distribution function;
    Hyndman and Fan 1996, type 1): a value that was measured. None where fewer than ten samples have a higher
    rank.

    `share` is a decimal text, so that 0.99999 is exactly that.
    """
    n = data.n
    rank = -(-Fraction(share) * n // 1)
    if n - rank < BEYOND:
        return None
    return at_rank(data, int(rank))


def at_rank(data: ValueCounts, rank: int) -> int:
    """The rank-th smallest sample, from 1."""
    return int(data.values[np.searchsorted(np.cumsum(data.counts), rank)])


def exceedances(data: ValueCounts, limit: int) -> int:
    """How many samples are greater than the limit (a deadline, the period): counted, not estimated."""
    return int(data.counts[np.searchsorted(data.values, limit, side="right") :].sum())


def describe(
    data: ValueCounts,
    period_ns: int | None = None,
    max_at_ns: int | None = None,
    max_index: int | None = None,
) -> ColumnSummary:
    """All of it. `max_at_ns` and `max_index` are release and index of the (first) maximum after t0; None for
    `period_ns` where there is none."""
    some = data.n > 0
    return ColumnSummary(
        count=data.n,
        min=int(data.values[0]) if some else None,
        mean=mean(data),
        max=int(data.values[-1]) if some else None,
        stddev=stddev(data),
        period_exceeded=exceedances(data, period_ns) if period_ns is not None else None,
        quantiles={share: quantile(data, share) for share in QUANTILES},
        max_at_s=max_at_ns / 1e9 if some and max_at_ns is not None else None,
        alone=_alone(data, max_index),
    )


def _alone(data: ValueCounts, max_index: int | None) -> LargestAlone | None:
    center, spread = mean(data), stddev(data)
    if center is None or spread is None or max_index is None or len(data.values) < 2:
        return None
    next_largest = int(data.values[-1 if data.counts[-1] > 1 else -2])
    return largest_alone(int(data.values[-1]), next_largest, data.n, center, spread, max_index)


def _far(data: ValueCounts) -> bool:
    """Whether differences may not fit 64 bits."""
    return int(data.values[-1]) - int(data.values[0]) >= 2**62


def _total(data: ValueCounts) -> int:
    """The exact sum: 64-bit where it fits, else whole numbers of any size."""
    largest = max(abs(int(data.values[0])), abs(int(data.values[-1])), 1) if len(data.values) else 1
    if largest * data.n < 2**63:
        return int(np.dot(data.values, data.counts))
    return sum(int(value) * int(count) for value, count in zip(data.values, data.counts, strict=True))
