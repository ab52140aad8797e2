"""The formulas of the statistics (statistics/statistics.py): mean, deviation, quantiles, counts beyond a limit.

All are computed from exact counts of distinct values, so 1e8 samples are handled as well as ten. Formulas and
sources: docs/statistics.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BEYOND = 10
"""A quantile is given only where at least this many samples lie beyond it."""

Int64s: TypeAlias = "npt.NDArray[np.int64]"


class ValueCounts(Struct, frozen=True):
    """How often each distinct value occurs: values strictly increasing, counts positive."""

    values: Int64s
    counts: Int64s

    @classmethod
    def of(cls, samples: npt.ArrayLike) -> ValueCounts:
        import numpy as np  # it takes a third of the time of `show`, which describes no samples

        values, counts = np.unique(np.asarray(samples, np.int64), return_counts=True)
        return cls(values, counts.astype(np.int64))

    @property
    def n(self) -> int:
        return int(self.counts.sum())


def mean(data: ValueCounts) -> float | None:
    """The arithmetic mean, sum(x) / n; None without samples. The sum is exact (integers of any size)."""
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
    exact = data.values.astype(object) if _far(data) else data.values  # differences may exceed 64 bits
    apart = (exact - center).astype("float64")
    squares = float((apart * apart).dot(data.counts))
    rest = float(apart.dot(data.counts))
    return math.sqrt(max(squares - rest * rest / n, 0.0) / (n - 1))


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
    return int(data.values[data.counts.cumsum().searchsorted(rank)])


def exceedances(data: ValueCounts, limit: int) -> int:
    """How many samples are greater than the limit (a deadline, the period): counted, not estimated."""
    return int(data.counts[data.values.searchsorted(limit, side="right") :].sum())


def _far(data: ValueCounts) -> bool:
    """Whether differences may exceed 64 bits."""
    return int(data.values[-1]) - int(data.values[0]) >= 2**62


def _total(data: ValueCounts) -> int:
    """The exact sum: in 64 bits if it fits, else in integers of any size."""
    largest = max(abs(int(data.values[0])), abs(int(data.values[-1])), 1) if len(data.values) else 1
    if largest * data.n < 2**63:
        return int(data.values.dot(data.counts))
    return sum(int(value) * int(count) for value, count in zip(data.values, data.counts, strict=True))
