"""The log-linear histogram: nothing is lost, every bin holds its values, no bin is wider than 0.8 %."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from howlate.statistics.bins.histogram import histogram
from howlate.statistics.describe import ValueCounts

values = st.lists(st.one_of(st.integers(0, 2_000), st.integers(-(2**62), 2**62)), max_size=80)


def test_bins_by_hand() -> None:
    """Below 256 each value has a bin; 256..511 are cut into bins of 2, 1024..2047 into bins of 8."""
    found = histogram(ValueCounts.of([0, 255, 255, 256, 257, 258, 1_030, 1_031, 1_032]))
    assert found.lower_ns == (0, 255, 256, 258, 1_024, 1_032)
    assert found.upper_ns == (1, 256, 258, 260, 1_032, 1_040)
    assert found.counts == (1, 2, 2, 1, 2, 1)


def test_negative_values_have_bins_of_their_own() -> None:
    found = histogram(ValueCounts.of([-3, -1, 0, -300]))
    assert sum(found.counts) == 4
    assert found.lower_ns == (-300, -3, -1, 0)
    assert found.upper_ns == (-298, -2, 0, 1)


@given(values)
def test_every_value_is_in_its_bin(numbers: list[int]) -> None:
    found = histogram(ValueCounts.of(numbers))
    assert sum(found.counts) == len(numbers)
    assert all(count > 0 for count in found.counts)
    for lower, upper, count in zip(found.lower_ns, found.upper_ns, found.counts, strict=True):
        assert sum(lower <= number < upper for number in numbers) == count
        assert upper - lower <= max(1, max(abs(lower), abs(upper)) / 128)
    edges = [edge for pair in zip(found.lower_ns, found.upper_ns, strict=True) for edge in pair]
    assert edges == sorted(edges)


def test_few_bins_hold_many_samples() -> None:
    random = np.random.default_rng(1)
    found = histogram(ValueCounts.of(random.lognormal(9, 1, 200_000).astype(np.int64)))
    assert sum(found.counts) == 200_000
    assert len(found.counts) < 2_000


@given(values, values)
def test_histograms_merge_by_addition(first: list[int], second: list[int]) -> None:
    def as_dict(numbers: list[int]) -> dict[tuple[int, int], int]:
        found = histogram(ValueCounts.of(numbers))
        return dict(zip(zip(found.lower_ns, found.upper_ns, strict=True), found.counts, strict=True))

    merged = as_dict(first)
    for edge, count in as_dict(second).items():
        merged[edge] = merged.get(edge, 0) + count
    assert merged == as_dict(first + second)
