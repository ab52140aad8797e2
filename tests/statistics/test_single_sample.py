"""One sample that makes a column's maximum and its deviation."""

import math
import statistics

from hypothesis import given
from hypothesis import strategies as st

from howlate.model.decode import decoded
from howlate.model.summary import ColumnSummary
from howlate.statistics.describe import ValueCounts
from howlate.statistics.statistics import describe, largest_alone, stddev_without
from howlate.statistics.valid import ALONE, FIRST_SAMPLE, SAMPLE, CellRecord, warnings


def described(samples: list[int], index: int | None = 0) -> ColumnSummary:
    return describe(ValueCounts.of(samples), None, 0, index)


def test_the_deviation_without_a_sample_is_that_of_the_others() -> None:
    # 2, 4, 4, 4, 5, 5, 7, 9 and 20: the mean is 60 / 9; without 20 the deviation is sqrt(32 / 7)
    samples = [2, 4, 4, 4, 5, 5, 7, 9, 20]
    found = stddev_without(20, 9, 60 / 9, statistics.stdev(samples))
    assert math.isclose(found, math.sqrt(32 / 7), rel_tol=1e-12)


@given(st.lists(st.integers(-(10**9), 10**9), min_size=3, max_size=30))
def test_it_agrees_with_computing_it_anew(samples: list[int]) -> None:
    *rest, value = samples
    spread = statistics.stdev(samples)
    found = stddev_without(value, len(samples), statistics.fmean(samples), spread)
    assert math.isclose(found, statistics.stdev(rest), rel_tol=1e-6, abs_tol=1e-6 * spread)


def test_a_start_that_makes_both_figures_is_told_with_what_they_are_without_it() -> None:
    idle = [8_000 + 10 * (n % 100) for n in range(299)]
    its = described([21_900, *idle])
    assert its.alone is not None
    assert (its.alone.index, its.alone.max) == (0, 8_990)
    assert math.isclose(its.alone.stddev, statistics.stdev(idle), rel_tol=1e-9)
    (warning,) = warnings(CellRecord(300, alone={"latency_ns": its}))
    assert warning == ALONE(
        column="latency",
        sample=FIRST_SAMPLE(index=0),
        rest_max_ns=8_990,
        max_ns=21_900,
        rest_stddev_ns=its.alone.stddev,
        stddev_ns=its.stddev,
    )


def test_one_that_comes_later_is_told_without_that_remedy_and_a_warm_up_moves_the_first() -> None:
    samples = [*([1_000, 1_100] * 20), 90_000]
    (warning,) = warnings(CellRecord(41, alone={"dt_ns": described(samples, 40)}))
    assert (warning.rule, warning.values["sample"]) == ("cell.alone", SAMPLE(index=40))
    (warning,) = warnings(CellRecord(41, alone={"dt_ns": described(samples, 5)}, warm_up=5))
    assert (warning.rule, warning.values["sample"].rule) == ("cell.alone", "sample.first")


def test_what_two_samples_share_or_few_samples_have_is_no_such_case() -> None:
    rest = [1_000, 1_100] * 20
    assert described([*rest, 90_000]).alone is not None
    assert described([*rest, 90_000, 90_000]).alone is None  # twice
    assert described([1, 2, 1, 2, 90_000]).alone is None  # fewer than ten
    assert described([*rest, 1_200]).alone is None  # it does not make the deviation
    assert described([*[1_000] * 39, 1_030, 1_300]).alone is not None
    assert described([*[1_000] * 39, 1_030, 1_130]).alone is None  # the next is within the margin of 1.1
    assert described([*rest, 90_000], None).alone is None  # nothing says which one it was
    assert described([5] * 20).alone is None


def test_the_bound_is_half_of_the_deviation() -> None:
    # Nine samples of deviation 1 about 0 and one more, x: the sum of squares is then 8 + 0.9 x^2, the deviation s.
    # The bound 1 = s / 2 is at x^2 = (9 * 4 - 8) / 0.9.
    edge = math.sqrt(28 / 0.9)
    for x, is_alone in ((edge * 0.99, False), (edge * 1.01, True)):
        mean, stddev = x / 10, math.sqrt((8 + 0.9 * x * x) / 9)
        found = largest_alone(int(x * 1e9), 0, 10, mean * 1e9, stddev * 1e9, 3)
        assert (found is not None) is is_alone


def test_it_survives_summary_json_and_is_absent_from_an_older_one() -> None:
    its = described([*([1_000, 1_100] * 20), 90_000], 7)
    value = its.to_json()
    assert value["alone"] == {"index": 7, "max": 1_100, "stddev": value["alone"]["stddev"]}
    assert decoded(ColumnSummary, value, "summary.json") == its
    del value["alone"]
    assert decoded(ColumnSummary, value, "summary.json").alone is None
    assert "alone" not in described([1_000, 1_100] * 20).to_json()
