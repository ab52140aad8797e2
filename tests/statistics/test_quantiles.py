"""The intervals of quantiles: literal ranks, and how often they hold where samples are alike for a while."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace

from howlate.model.bins import Histogram
from howlate.model.summary import QuantileInterval
from howlate.statistics.quantiles import (
    below_rows,
    effective_size,
    interval_of,
    interval_over,
    with_intervals,
)
from made_cells import histogram_of, made_cell, scatter_of
from swept import crossed

THOUSAND = Histogram(tuple(range(1, 1001)), tuple(range(2, 1002)), (1,) * 1_000)
"""The samples 1 to 1,000, each in a bin of its own."""
N = 4_000
Reals = npt.NDArray[np.float64]
Series = Callable[[np.random.Generator], Reals]


def independent(random: np.random.Generator) -> Reals:
    return random.normal(size=N)


def in_turns(random: np.random.Generator) -> Reals:
    """Two levels that take turns of a hundredth of the series."""
    ends = np.cumsum(1 + random.exponential(N / 100, 400).astype(int))
    return random.normal(size=N) + (np.searchsorted(ends, np.arange(N)) + random.integers(2)) % 2


def wandering(random: np.random.Generator) -> Reals:
    """A sum of sines of random phase, the slowest of which has twenty periods in the series."""
    at = np.arange(N)[:, np.newaxis] / N
    periods = np.array([20, 31, 43, 59, 71, 83])
    waves: Reals = np.sin(2 * np.pi * (periods * at + random.random(len(periods))))
    series: Reals = 0.5 * random.normal(size=N) + waves.sum(axis=1)
    return series


def in_groups(random: np.random.Generator) -> Reals:
    """Each value forty times in a row, with a little noise."""
    return np.repeat(random.normal(size=N // 40), 40) + 0.01 * random.normal(size=N)


def as_latencies(series: Reals) -> npt.NDArray[np.int64]:
    return (100_000 * np.exp(0.2 * series)).astype(np.int64)


@pytest.mark.parametrize(
    ("share", "independent", "low", "high"),
    [(0.5, 1_000, 469, 532), (0.5, 100, 391, 610), (0.99, 1_000, 983, 997), (0.5, 6, 1, 1_000)],
)
def test_the_ranks_are_those_of_the_binomial_distribution(
    share: float, independent: int, low: int, high: int
) -> None:
    """G. J. Hahn and W. Q. Meeker 1991, section 5.2; of fewer independent samples as parts of all of them."""
    found = interval_of(THOUSAND, share, independent)
    assert found == QuantileInterval(low, high, independent)


def test_where_the_largest_sample_is_not_enough_there_is_none() -> None:
    """P(maximum >= p99.9) = 1 - 0.999^n, which 97.5 % asks 3,688 independent samples of."""
    assert interval_of(THOUSAND, 0.999, 3_687) is None
    assert interval_of(THOUSAND, 0.999, 3_688) is not None


def test_the_interval_reaches_over_the_bins_of_its_ends() -> None:
    wide = Histogram((0, 100, 200), (100, 200, 300), (100, 800, 100))
    assert interval_of(wide, 0.5, 1_000) == QuantileInterval(100, 199, 1_000)


@pytest.mark.parametrize(
    ("series", "low", "high"),
    [(independent, 0.5, 1.0), (in_turns, 0.005, 0.2), (in_groups, 0.01, 0.04)],
    ids=["independent", "in turns", "in groups"],
)
def test_samples_that_are_alike_for_a_while_count_as_fewer(series: Series, low: float, high: float) -> None:
    """Of forty alike each is a fortieth, 0.025."""
    random = np.random.default_rng(1)
    shares = []
    for _ in range(20):
        scatter = scatter_of(as_latencies(series(random)))
        size = effective_size(below_rows(scatter), 0.5) if scatter is not None else None
        assert size is not None
        shares.append(size / N)
    assert low <= np.median(shares) <= high


def test_a_grid_that_is_filled_in_part_is_cut_where_samples_are() -> None:
    """As that of a run that ended early: the alike ones were in one stretch, which shows no difference."""
    filled = scatter_of(as_latencies(in_groups(np.random.default_rng(3))))
    assert filled is not None
    for columns in (filled.columns, 2 * filled.columns, 100 * filled.columns):
        with np.errstate(all="raise"):
            assert effective_size(below_rows(replace(filled, columns=columns)), 0.5) == effective_size(
                below_rows(filled), 0.5
            )
    empty = replace(filled, cells=(), counts=(), at=(), smallest_ns=(), largest_ns=())
    with np.errstate(all="raise"):
        assert effective_size(below_rows(empty), 0.5) is None


@pytest.mark.parametrize(
    ("series", "share"), crossed([independent, in_turns, wandering, in_groups], ["0.5", "0.9"])
)
def test_it_holds_as_often_as_it_says(series: Series, share: str) -> None:
    """Of 150 at least 90 %, which a probability of 95 % misses once in two hundred; where samples counted as
    independent it would be a half or less of those that are not."""
    random = np.random.default_rng(2)
    every = np.concatenate([series(random) for _ in range(150)])
    truth = np.quantile(as_latencies(every), float(share))
    held, stated = 0, 0
    for _ in range(150):
        values = as_latencies(series(random))
        scatter = scatter_of(values)
        size = effective_size(below_rows(scatter), float(share)) if scatter is not None else None
        found = interval_of(histogram_of(values), float(share), size) if size is not None else None
        if found is not None:
            stated += 1
            held += int(found.low <= truth <= found.high)
    assert stated >= 100
    assert held >= 0.9 * stated


def test_only_a_valid_cell_in_a_known_order_has_intervals() -> None:
    cell, bins, _values = made_cell("none")
    column = with_intervals(cell, bins).columns["latency_ns"]
    assert {"0.5", "0.99"} <= set(column.intervals) < set(column.quantiles)
    for share, interval in column.intervals.items():
        value = column.quantiles[share]
        assert value is not None and interval.low <= value <= interval.high
    assert with_intervals(replace(cell, valid=False), bins).columns["latency_ns"].intervals == {}
    assert with_intervals(cell, replace(bins, scatter=None)).columns["latency_ns"].intervals == {}


def test_of_two_values_as_near_the_one_with_fewer_independent_samples_counts() -> None:
    """A fifth of the samples lies in the lowest row and a fifth in the highest: one of the two varies."""
    below = [[under, 8, 10] for under in (0, 4) * 10]
    mirrored = [[10 - middle, 10 - low, 10] for low, middle, _ in below]
    dispersion = 20 * (2**2 / (10 * 0.2 * 0.8)) / 19
    assert effective_size(below, 0.5) == pytest.approx(200 / dispersion)
    assert effective_size(mirrored, 0.5) == pytest.approx(200 / dispersion)


def test_equal_samples_have_none() -> None:
    scatter = scatter_of(np.full(1_000, 5_000))
    assert scatter is not None and effective_size(below_rows(scatter), 0.5) is None


@pytest.mark.parametrize(
    ("count", "ends"), [(5, None), (6, (0, 5)), (8, (0, 7)), (9, (1, 7)), (12, (2, 9)), (20, (5, 14))]
)
def test_the_median_over_repetitions_lies_between_two_of_them(
    count: int, ends: tuple[float, float] | None
) -> None:
    """The sign test's interval: D. B. Owen, Handbook of statistical tables (1962), table 12.1."""
    assert interval_over([float(each) for each in reversed(range(count))]) == ends
