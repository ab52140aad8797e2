"""Each statistic by numbers worked by hand, and against the plainest computation of the same."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.statistics.describe import ValueCounts, exceedances, mean, quantile, stddev
from howlate.statistics.statistics import QUANTILES, describe

int64s = st.integers(-(2**63), 2**63 - 1)
samples = st.lists(st.integers(-50, 10_000), max_size=300)
shares = st.sampled_from([*QUANTILES, "0.9", "0.25"])


def test_mean_and_deviation_by_hand() -> None:
    """2, 4, 4, 4, 5, 5, 7, 9: sum 40, mean 5, squares about it 9+1+1+1+0+0+4+16 = 32, 32 / 7."""
    data = ValueCounts.of([9, 2, 4, 4, 5, 4, 7, 5])
    assert mean(data) == 5.0
    assert stddev(data) == pytest.approx(math.sqrt(32 / 7), rel=1e-15)


def test_deviation_keeps_its_digits_far_from_zero() -> None:
    """1e15 + (4, 7, 13, 16): mean + 10, squares 36 + 9 + 9 + 36 = 90, 90 / 3 = 30. The textbook formula in
    doubles gives no right digit here: the squares are of the order 1e30."""
    data = ValueCounts.of([10**15 + part for part in (4, 7, 13, 16)])
    assert stddev(data) == pytest.approx(math.sqrt(30), rel=1e-15)


def test_deviation_of_one_large_value_among_many() -> None:
    """One of 100,000 is 28,282 us, the others 45 us: by Samuelson's inequality no deviation below 89 us is
    possible."""
    data = ValueCounts(np.array([45_000, 28_282_000]), np.array([99_999, 1]))
    expected = (28_282_000 - 45_000) * math.sqrt(99_999 / 100_000 / 99_999)
    assert stddev(data) == pytest.approx(expected, rel=1e-12)
    assert expected / 1e3 > 89


def test_nothing_and_one_have_no_more_than_they_have() -> None:
    nothing = describe(ValueCounts.of([]), 1_000, None)
    assert (nothing.count, nothing.min, nothing.mean, nothing.max, nothing.stddev) == (
        0,
        None,
        None,
        None,
        None,
    )
    assert (nothing.period_exceeded, nothing.max_at_s) == (0, None)
    assert set(nothing.quantiles.values()) == {None}
    one = describe(ValueCounts.of([7]), None, 2_500_000_000)
    assert (one.count, one.min, one.mean, one.max, one.stddev) == (1, 7, 7.0, 7, None)
    assert (one.period_exceeded, one.max_at_s) == (None, 2.5)


def test_quantiles_are_order_statistics() -> None:
    """1..1000: the median is the 500th, p99 the 990th, with just ten beyond; p99.9 has one beyond."""
    data = ValueCounts.of(range(1, 1001))
    assert quantile(data, "0.5") == 500
    assert quantile(data, "0.99") == 990
    assert quantile(data, "0.999") is None


def test_a_quantile_needs_ten_samples_beyond() -> None:
    """999: rank ceil(989.01) = 990 leaves nine. 20 and 19 for the median: rank 10 leaves ten, rank 10 leaves
    nine."""
    assert quantile(ValueCounts.of(range(999)), "0.99") is None
    assert quantile(ValueCounts.of(range(20)), "0.5") == 9
    assert quantile(ValueCounts.of(range(19)), "0.5") is None


def test_a_share_is_what_its_digits_say() -> None:
    """In doubles 0.99999 * 1,000,000 rounds; the rank is 999,990 exactly, and leaves ten."""
    data = ValueCounts.of(range(1_000_000))
    assert quantile(data, "0.99999") == 999_989


def test_exceedances_by_hand() -> None:
    """Beyond means greater: a latency equal to the deadline has kept it."""
    data = ValueCounts.of([100, 100, 101, 250, 99])
    assert [exceedances(data, limit) for limit in (98, 99, 100, 249, 250)] == [5, 4, 2, 1, 0]


@given(samples, shares)
def test_a_quantile_has_its_share_at_or_below(values: list[int], share: str) -> None:
    found = quantile(ValueCounts.of(values), share)
    rank = math.ceil(Fraction(share) * len(values))
    if len(values) - rank < 10:
        assert found is None
    else:
        assert found == sorted(values)[rank - 1]
        at_or_below = sum(value <= found for value in values)
        assert at_or_below >= Fraction(share) * len(values)


@given(samples)
def test_description_agrees_with_the_plainest_computation(values: list[int]) -> None:
    found = describe(ValueCounts.of(values), 1_000, None)
    assert found.count == len(values)
    assert found.min == min(values, default=None)
    assert found.max == max(values, default=None)
    assert found.period_exceeded == sum(value > 1_000 for value in values)
    if values:
        assert found.mean == pytest.approx(statistics.fmean(values), rel=1e-14, abs=1e-12)
    if len(values) > 1:
        assert found.stddev == pytest.approx(statistics.stdev(values), rel=1e-12, abs=1e-9)


@given(st.lists(int64s, min_size=2, max_size=40))
def test_no_64_bit_values_overflow(values: list[int]) -> None:
    found = describe(ValueCounts.of(values), 0, None)
    assert found.mean == float(Fraction(sum(values), len(values)))
    assert found.stddev == pytest.approx(statistics.stdev(values), rel=1e-9, abs=1e-9)


@given(samples, samples)
def test_counts_of_all_are_the_sum_of_the_counts(first: list[int], second: list[int]) -> None:
    both = ValueCounts.of(first + second)
    assert both.n == len(first) + len(second)
    for limit in (-1, 0, 500, 9_999):
        parts = exceedances(ValueCounts.of(first), limit) + exceedances(ValueCounts.of(second), limit)
        assert exceedances(both, limit) == parts
