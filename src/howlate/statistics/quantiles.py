"""The 95 % intervals of quantiles: of one cell between two of its order statistics, found in its bins, where samples
that are alike for a while count as fewer independent ones; of repetitions between two of them. docs/statistics.md has
the formulas."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec.structs import replace

from howlate.model.bins import CellBins, Histogram, Scatter
from howlate.model.summary import CellSummary, ColumnSummary, QuantileInterval
from howlate.statistics.bounds import quantile_bound_rank
from howlate.statistics.special import beta_cdf

CONFIDENCE = 0.95
STRETCHES = (50, 25, 10)
"""Numbers of equal stretches whose shares are compared; what comes and goes slowly shows in the long ones alone."""
FEWEST_STRETCHES = 10


def with_intervals(summary: CellSummary, bins: CellBins) -> CellSummary:
    """The summary with the intervals of the quantiles that it states; none of a cell that is not valid."""
    if not summary.valid:
        return summary
    columns = {
        name: replace(column, intervals=_of_column(column, own))
        if (own := bins.of(name)) is not None
        else column
        for name, column in summary.columns.items()
    }
    return replace(summary, columns=columns)


def _of_column(column: ColumnSummary, bins: CellBins) -> dict[str, QuantileInterval]:
    if bins.scatter is None:  # without an order nothing says how many samples are alike
        return {}
    found = {}
    below = below_rows(bins.scatter)
    for share, value in column.quantiles.items():
        if value is not None:
            independent = effective_size(below, float(share))
            interval = None if independent is None else interval_of(bins.histogram, float(share), independent)
            if interval is not None:
                found[share] = interval
    return found


def interval_of(histogram: Histogram, share: float, independent: float) -> QuantileInterval | None:
    """The order statistics between which the quantile lies with 95 %: their ranks are those of `independent`
    samples, as parts of all samples. None where the largest, or the smallest, is not enough for one end."""
    counts = list(accumulate(histogram.counts))
    n, size = counts[-1], max(1, int(independent))
    one_side = (1 + CONFIDENCE) / 2
    high, from_above = (
        quantile_bound_rank(share, size, one_side),
        quantile_bound_rank(1 - share, size, one_side),
    )
    if high is None or from_above is None:
        return None
    low = size + 1 - from_above
    first = bisect_left(counts, (low - 1) * n // size + 1)
    last = bisect_left(counts, min(n, -(-high * n // size)))
    return QuantileInterval(histogram.lower_ns[first], histogram.upper_ns[last] - 1, size)


def below_rows(scatter: Scatter) -> list[list[int]]:
    """How many samples of each column that has some lie in each row or below it."""
    held = {column: [0] * scatter.rows for column in scatter.at}
    for cell, count in zip(scatter.cells, scatter.counts, strict=True):
        held[cell // scatter.rows][cell % scatter.rows] = count
    return [list(accumulate(counts)) for counts in held.values() if any(counts)]


def effective_size(below: Sequence[Sequence[int]], share: float) -> float | None:
    """How many independent samples would vary as much: n divided by the index of dispersion of how many samples of
    each interval lie below a value near the quantile, sum (x - m p)^2 / (m p (1 - p)) / (intervals - 1), the largest
    of several numbers of intervals and at least 1. Of two values as near, the one with fewer. None where all samples
    are alike, or the intervals too few. `below`: of `below_rows`."""
    if len(below) < FEWEST_STRETCHES:
        return None
    rows: list[int] = [sum(counts) for counts in zip(*below, strict=True)]
    n = rows[-1]
    wanted, sizes = math.log(share / (1 - share)), [counts[-1] for counts in below]
    row_of = {under: row for row, under in enumerate(rows) if 0 < under < n}
    apart = {row: abs(math.log(under / (n - under)) - wanted) for under, row in row_of.items()}
    least = min(apart.values(), default=0.0)
    nearest = [row for row, distance in apart.items() if math.isclose(distance, least, abs_tol=1e-12)]
    return min((n / _dispersion([c[row] for c in below], sizes) for row in nearest), default=None)


def _dispersion(below: Sequence[int], sizes: Sequence[int]) -> float:
    return max(1.0, *(_index(below, sizes, stretches) for stretches in STRETCHES))


def _index(below: Sequence[int], sizes: Sequence[int], stretches: int) -> float:
    parts = min(stretches, len(sizes))
    ends = [part * len(sizes) // parts for part in range(parts + 1)]
    counted, all_ = ([sum(of[begin:end]) for begin, end in pairwise(ends)] for of in (below, sizes))
    share = sum(counted) / sum(all_)
    squares = ((x - m * share) ** 2 / (m * share * (1 - share)) for x, m in zip(counted, all_, strict=True))
    return math.fsum(squares) / (parts - 1)


def interval_over(values: Sequence[float]) -> tuple[float, float] | None:
    """Between which of these the median of their distribution lies with 95 %: the r-th smallest and the r-th largest,
    r the largest with P(Bin(n, 1/2) < r) <= 2.5 %. None of fewer than six. Of repetitions, which may each be as
    dependent inside as they like."""
    n = len(values)
    rank = sum(1 for r in range(1, n // 2 + 1) if _below(r, n) <= (1 - CONFIDENCE) / 2)
    if not rank:
        return None
    ordered = sorted(values)
    return ordered[rank - 1], ordered[n - rank]


def _below(rank: int, n: int) -> float:
    """P(Bin(n, 1/2) < rank)."""
    return 1 - beta_cdf(0.5, rank, n - rank + 1)
