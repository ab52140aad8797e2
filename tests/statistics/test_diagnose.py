"""Diagnostics by numbers worked by hand, against other computations, and against series whose answer is
known."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from howlate.statistics.diagnose import (
    clustering,
    confidence_ahead,
    extremal_index,
    kendall_trend,
)


def test_extremal_index_by_hand() -> None:
    """At 0, 1, 2, 12: T = 1, 1, 10. T - 1 sums to 9, (T - 1)(T - 2) to 72: 2 * 81 / (3 * 72) = 0.75.
    At 0, 1, 3: no T above 2, sums 3 and 5: 2 * 9 / (2 * 5) = 1.8, so 1."""
    assert extremal_index([0, 1, 2, 12]) == 0.75
    assert extremal_index([0, 1, 3]) == 1.0
    assert extremal_index([5]) is None
    assert extremal_index([]) is None


@pytest.mark.parametrize("size", [1, 4])
def test_extremal_index_finds_the_size_of_clusters(size: int) -> None:
    """Clusters of `size` neighbours at random places: the index is about 1 / size."""
    random = np.random.default_rng(3)
    starts = np.sort(random.choice(1_000_000, 2_000, replace=False)) * 10
    positions = np.unique((starts[:, None] + np.arange(size)).ravel())
    assert extremal_index(positions) == pytest.approx(1 / size, abs=0.06)


@given(st.sets(st.integers(0, 10_000), min_size=2, max_size=60))
def test_extremal_index_is_a_share(positions: set[int]) -> None:
    theta = extremal_index(sorted(positions))
    assert theta is not None
    assert 0 < theta <= 1


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.0, 1.0, 2.5])), max_size=60))
def test_stretches_of_no_time_say_nothing_of_bursts(stretches: list[tuple[int, float]]) -> None:
    counts, lengths = [count if length else 0 for count, length in stretches], [of for _, of in stretches]
    lasting = [pair for pair in stretches if pair[1]]
    with np.errstate(all="raise"):
        found = clustering(counts, lengths)
    assert found == clustering([count for count, _ in lasting], [length for _, length in lasting])
    assert found is None or (found.index >= 0 and 0 < found.p <= 1)


def test_kendall_by_hand() -> None:
    """1, 3, 2, 4: five rising pairs, one falling: S = 4, tau = 4 / 6; var S = 4 * 3 * 13 / 18 = 26 / 3,
    z = 3 / 2.943920 = 1.019049, p = 0.308180."""
    found = kendall_trend([1, 3, 2, 4])
    assert found is not None
    assert found.tau == pytest.approx(4 / 6)
    assert found.p == pytest.approx(0.308180, abs=1e-6)
    constant = kendall_trend([5, 5, 5])
    assert constant is not None
    assert (constant.tau, constant.p) == (0.0, 1.0)
    assert kendall_trend([1, 2]) is None


@given(st.lists(st.integers(0, 9), min_size=3, max_size=40))
def test_kendall_agrees_with_scipy(series: list[int]) -> None:
    found = kendall_trend(series)
    assert found is not None
    if len(set(series)) > 1:
        expected = scipy.stats.kendalltau(np.arange(len(series)), series).statistic
        assert found.tau == pytest.approx(expected, abs=1e-12)
    assert 0 <= found.p <= 1


def test_equal_values_and_equal_numbers_are_neither_rise_nor_fall() -> None:
    """Numbers 1, 1, 2, 3 with values 5, 9, 5, 9: rising (5, 9), (5, 9); falling (9, 5); three pairs are neither.
    S = 1; of six pairs five are at unequal numbers and four of unequal values: tau = 1 / sqrt(20)."""
    found = kendall_trend([5, 9, 5, 9], [1, 1, 2, 3])
    assert found is not None
    assert found.tau == pytest.approx(1 / math.sqrt(20))
    assert found.p == 1.0
    turned = kendall_trend([9, 5, 5, 9], [1, 1, 2, 3])
    assert turned == found  # which of those at one number comes first says nothing
    alike = kendall_trend([7, 7, 7, 7, 7, 7], [1, 2, 4, 6, 10, 15])
    assert alike is not None
    assert (alike.tau, alike.p) == (0.0, 1.0)


TIED = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=40)


@given(TIED)
def test_kendall_with_numbers_agrees_with_scipy(points: list[tuple[int, int]]) -> None:
    numbers, values = zip(*points, strict=True)
    found = kendall_trend(values, numbers)
    assert found is not None
    if len(set(numbers)) > 1 and len(set(values)) > 1:
        expected = scipy.stats.kendalltau(numbers, values, method="asymptotic")
        assert found.tau == pytest.approx(expected.statistic, abs=1e-12)
        assert found.p >= expected.pvalue - 1e-12  # that has no continuity correction


def test_kendall_keeps_its_level_and_finds_a_drift() -> None:
    """Without a trend p < 0.05 in about 5 % of series; a drift of one deviation over the series is mostly
    found."""
    random = np.random.default_rng(4)
    noise = random.normal(size=(400, 50))
    false = np.mean([_p(series) < 0.05 for series in noise])
    found = np.mean([_p(series + np.linspace(0, 2, 50)) < 0.05 for series in noise])
    assert 0.02 < false < 0.08
    assert found > 0.9


def _p(series: object) -> float:
    found = kendall_trend(np.asarray(series))
    assert found is not None
    return found.p


def test_next_stretch_by_hand() -> None:
    assert confidence_ahead(19, 1) == 0.95
    assert confidence_ahead(10, 10) == 0.5
    assert confidence_ahead(0, 3) == 0.0
    for bad in ((0, 0), (-1, 2)):
        with pytest.raises(ValueError, match="blocks"):
            confidence_ahead(*bad)


def test_next_stretch_counts_the_orders() -> None:
    """Of all orders of five different blocks, three past and two next, the largest lies in the past in 3 /
    5."""
    orders = list(itertools.permutations(range(5)))
    kept = sum(max(order[:3]) > max(order[3:]) for order in orders)
    assert kept / len(orders) == confidence_ahead(3, 2)
