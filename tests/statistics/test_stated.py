"""Misses of what another tool measured, as far as its file tells them."""

import numpy as np
import pytest

from howlate.model.stated import Stated
from howlate.statistics.describe import ValueCounts
from howlate.statistics.stated import late_at_least, more_may_be_late

US = 1_000
NOTHING = ValueCounts(np.empty(0, np.int64), np.empty(0, np.int64))


def histogram(bins_us: dict[int, int]) -> ValueCounts:
    values = np.array(list(bins_us), np.int64) * US
    return ValueCounts(values, np.array(list(bins_us.values()), np.int64))


@pytest.mark.parametrize(
    ("deadline_us", "late", "more"),
    [
        (0, 8, True),
        (8, 8, True),
        (9, 8, False),  # no value of the bin from 0 is above 9
        (12, 3, True),
        (19, 3, False),
        (22, 1, True),  # the bin begins below the deadline, and the maximum is 25
        (25, 0, False),
        (30, 0, False),
    ],
)
def test_a_wide_bin_holds_misses_that_its_edge_does_not_tell(deadline_us: int, late: int, more: bool) -> None:
    """Ten values a bin: 0 to 9, 10 to 19, 20 to 29."""
    counts = histogram({0: 90, 10: 5, 20: 3})
    entry = Stated("noise_ns", 0, 3, min="0", max="25", count=98, width_ns=10 * US)
    above = int(counts.counts[counts.values > deadline_us * US].sum())
    assert late_at_least({0: above}, [entry], deadline_us * US) == {0: late}
    assert more_may_be_late(counts, [entry], deadline_us * US) is more


@pytest.mark.parametrize(
    ("deadline_us", "late", "more"), [(6, 3_249, False), (7, 1, True), (102, 1, True), (103, 0, False)]
)
def test_of_a_summary_the_extremes_tell_what_is_certain(deadline_us: int, late: int, more: bool) -> None:
    """No sample has a value of its own: all are later than what the smallest is later than."""
    entry = Stated("latency_ns", min="7", max="103", count=3_249, beyond=3_249)
    assert late_at_least({0: 0}, [entry], deadline_us * US) == {0: late}
    assert more_may_be_late(NOTHING, [entry], deadline_us * US) is more


def test_what_lies_beyond_is_a_miss_of_the_thread_that_had_it() -> None:
    counts = histogram({1: 119_998})
    threads = [
        Stated("user_latency_ns", 0, 2, min="1", max="1", count=60_000, beyond=0, beyond_from_ns=20 * US),
        Stated("user_latency_ns", 1, 67, min="1", max="401", count=60_000, beyond=2, beyond_from_ns=20 * US),
    ]
    assert late_at_least({0: 0, 1: 0}, threads, 10 * US) == {0: 0, 1: 2}
    assert late_at_least({0: 0, 1: 0}, threads, 100 * US) == {0: 0, 1: 1}
    assert late_at_least({0: 0, 1: 0}, threads, 500 * US) == {0: 0, 1: 0}
    assert [more_may_be_late(counts, threads, us * US) for us in (10, 100, 500)] == [False, True, False]


def test_of_figures_that_contradict_each_other_none_tells_a_miss() -> None:
    entry = Stated("latency_ns", min="7", max="103", count=10, beyond=10, sound=False)
    assert late_at_least({0: 0}, [entry], 5 * US) == {0: 0}
    assert more_may_be_late(NOTHING, [entry], 5 * US)
