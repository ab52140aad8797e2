"""The statistics of a column of samples, one entry each: its name in summary.json, its formula, its heading,
and its meaning. An entry adds a column to the tables of cells in terminal and page, and a member to JSON. The
comparison and the spread over repetitions choose their own figures. docs/statistics.md has the formulas and
their sources."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from msgspec import Struct

from howlate.model.summary import ColumnSummary, LargestAlone
from howlate.statistics.describe import ValueCounts, exceedances, mean, quantile, stddev
from howlate.words.language import N_

FEWEST = 10
"""With fewer samples the largest always makes much of the deviation."""
SHARE = 0.5
"""The deviation without the largest sample is below this share of the deviation with it."""

MARGIN = 1.1
"""If the maximum is less than this factor above the next largest value, it does not depend on that one
sample."""


def stddev_without(value: float, n: int, mean: float, stddev: float) -> float:
    """The sample's standard deviation of n samples after one of them, `value`, is taken away; n is 3 at least.

    From the moments alone: taking x away from n samples lowers the sum of squares about the mean, (n - 1) s^2, by
    n / (n - 1) * (x - mean)^2. (Welford 1962, the update of a sum of squares, read backwards.)
    """
    squares = (n - 1) * stddev**2 - n / (n - 1) * (value - mean) ** 2
    return math.sqrt(max(squares, 0.0) / (n - 2))


def largest_alone(
    largest: int, next_largest: int, n: int, mean: float, stddev: float, index: int
) -> LargestAlone | None:
    """Maximum and deviation without the largest sample, if the deviation is below half of what it is with it:
    then that one sample makes more than three quarters of the sum of squares. None otherwise, for fewer than
    ten samples, and if the next largest value is nearly as large (docs/statistics.md, "One sample alone"). Such a
    sample may be a start, or a stall that came once; n more samples would shrink the deviation although nothing
    became steadier."""
    if n < FEWEST or largest - next_largest <= (MARGIN - 1) * abs(next_largest):
        return None
    rest = stddev_without(largest, n, mean, stddev)
    return LargestAlone(index, next_largest, rest) if rest < SHARE * stddev else None


Formula = Callable[[ValueCounts], "int | float | None"]


class Statistic(Struct, frozen=True):
    """One statistic of a column, in nanoseconds. None if the samples do not allow it."""

    name: str
    """The name in summary.json: a member of the column, or of its quantiles."""
    heading: str
    """The heading of its column in tables; "" for a statistic that tables leave out."""
    formula: Formula
    quantile: bool = False
    term: str = ""
    """The explanation on the page; several statistics may share one."""
    meaning: str = ""

    def of(self, column: ColumnSummary | None) -> int | float | None:
        """The value; None if an older run lacks it."""
        return None if column is None else column.figure(self.name)


def _smallest(data: ValueCounts) -> int | None:
    return int(data.values[0]) if data.n else None


def _largest(data: ValueCounts) -> int | None:
    return int(data.values[-1]) if data.n else None


def _quantile(share: str, heading: str = "", term: str = "", meaning: str = "") -> Statistic:
    return Statistic(
        share, heading, partial(quantile, share=share), quantile=True, term=term, meaning=meaning
    )


STATISTICS: tuple[Statistic, ...] = (
    Statistic(
        "max",
        N_("max"),
        _largest,
        term=N_("Largest seen"),
        meaning=N_(
            "The worst wake-up among those measured. A longer run, another load, other hardware "
            "or another day can show a worse one; these samples alone promise nothing about that."
        ),
    ),
    _quantile(
        "0.5",
        N_("median"),
        N_("Median, p99, p99.9"),
        N_(
            "Order statistics of all samples, warm-up left out. Each is given only if at least ten samples lie "
            "beyond it; otherwise there is a dash."
        ),
    ),
    _quantile("0.99", "p99"),
    _quantile("0.999", "p99.9"),
    _quantile("0.9999"),
    _quantile("0.99999"),
    Statistic("mean", N_("mean"), mean),
    Statistic("min", N_("min"), _smallest),
    Statistic(
        "stddev",
        N_("std dev"),
        stddev,
        term=N_("Standard deviation"),
        meaning=N_(
            "The samples' standard deviation (n - 1). Latencies are far from a normal distribution: no multiple "
            "of it is a bound."
        ),
    ),
)
"""In the order of the tables: the most important come first, because a narrow screen cuts off the rest."""

QUANTILES: tuple[str, ...] = tuple(entry.name for entry in STATISTICS if entry.quantile)


def describe(
    data: ValueCounts,
    period_ns: int | None = None,
    max_at_ns: int | None = None,
    max_index: int | None = None,
) -> ColumnSummary:
    """All of them. `max_at_ns` and `max_index` are release and index of the (first) maximum after t0; None for
    `period_ns` where there is none."""
    figures = {entry.name: entry.formula(data) for entry in STATISTICS}
    return ColumnSummary.of(
        data.n,
        figures,
        QUANTILES,
        period_exceeded=exceedances(data, period_ns) if period_ns is not None else None,
        max_at_s=max_at_ns / 1e9 if data.n and max_at_ns is not None else None,
        alone=_alone(data, max_index),
    )


def _alone(data: ValueCounts, max_index: int | None) -> LargestAlone | None:
    center, spread = mean(data), stddev(data)
    if center is None or spread is None or max_index is None or len(data.values) < 2:
        return None
    next_largest = int(data.values[-1 if data.counts[-1] > 1 else -2])
    return largest_alone(int(data.values[-1]), next_largest, data.n, center, spread, max_index)
