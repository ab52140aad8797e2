"""Sides against each other: exact p values, Holm, and no difference without an interval that carries it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.compare.compare import NOT_INTERLEAVED
from howlate.model.summary import MISSES, ColumnSummary, DeadlineSummary
from howlate.sides.paired import ratio_interval
from howlate.sides.sides import (
    IN_THE_MARGIN,
    MARGIN,
    NO_MISSES,
    NO_PAIRS,
    NO_VALUE,
    NOT_ALIKE,
    TOO_FEW_PAIRS,
    Once,
    SideRow,
    decided_together,
    decisions,
    fewest_pairs,
    holm,
    margin_p,
    over_points,
)
from howlate.statistics.spread import Spread, spread_of
from howlate.statistics.statistics import QUANTILES
from howlate.words.statement import Statement

VALUES = st.lists(st.floats(0.5, 2.0), min_size=6, max_size=12)


def row(side: int, maxima: list[float], medians: list[float] | None = None, first: int = 1) -> SideRow:
    """A side whose repetitions have these maxima."""
    once = {}
    for i, value in enumerate(maxima):
        middle = 100 if medians is None else medians[i]
        quantiles: dict[str, int | None] = {**dict.fromkeys(QUANTILES), "0.5": round(middle * 1000)}
        column = ColumnSummary(10, 1, middle * 1000, round(value * 1000), value * 10, 0, quantiles, 0.0)
        once[first + i] = Once(column, 0, {})
    return SideRow(side, once, len(maxima))


def directions(one: SideRow, other: SideRow, refused: Statement | None = None) -> dict[str, str]:
    return {v.figure: v.direction for v in decisions(one, other, refused)}


def test_all_pairs_on_one_side_have_the_smallest_p() -> None:
    p, direction = margin_p([2.0] * 8, [1.0] * 8)
    assert (p, direction) == (2 / 256, 1)
    p, direction = margin_p([1.0] * 6, [2.0] * 6)
    assert (p, direction) == (2 / 64, -1)


def test_within_the_margin_nothing_points_anywhere() -> None:
    assert margin_p([1.05] * 8, [1.0] * 8)[0] == 1.0
    assert margin_p([1.0] * 8, [1.0] * 8) == (1.0, 0)


@settings(max_examples=200)
@given(VALUES, st.randoms())
def test_p_is_below_a_level_exactly_where_that_levels_interval_leaves_the_margin(
    values: list[float], random: object
) -> None:
    other = [1.0] * len(values)
    p, direction = margin_p(values, other)
    for level in (0.04, 0.1, 0.3):
        its = ratio_interval(values, other, 1 - level)
        outside = its is not None and (its.low > MARGIN or its.high < 1 / MARGIN)
        if its is not None and all(
            abs(math.log(v) - math.log(MARGIN)) > 1e-9 for v in (its.low, 1 / its.high)
        ):
            assert (p <= level) == outside
            assert not outside or direction == (1 if its.low > MARGIN else -1)


@given(VALUES)
def test_swapping_the_sides_swaps_the_direction(values: list[float]) -> None:
    other = [1.0] * len(values)
    p, direction = margin_p(values, other)
    q, back = margin_p(other, values)
    assert p == pytest.approx(q) and direction == -back


def test_holm_stops_at_the_first_that_is_not_rejected() -> None:
    assert holm([0.01, 0.04, 0.03]) == [True, False, False]
    assert holm([0.01, 0.02, 0.04]) == [True, True, True]
    assert holm([0.02, 0.02, 0.02]) == [False, False, False]
    assert holm([]) == []


def test_holm_errs_as_seldom_as_promised() -> None:
    """Three figures without a difference, eight pairs: some difference is claimed in 5 % at most."""
    rng = np.random.default_rng(1)
    claimed = 0
    for _ in range(1500):
        p = [
            margin_p(list(rng.lognormal(0, 0.2, 8)), list(rng.lognormal(0, 0.2, 8)), 1.0)[0] for _ in range(3)
        ]
        claimed += any(holm(p))
    assert claimed / 1500 < 0.065


def test_a_difference_is_told_in_both_directions() -> None:
    slow, fast = row(0, [20 + i for i in range(8)]), row(1, [5 + i / 10 for i in range(8)])
    assert directions(slow, fast) == {"0.5": "equal", "max": "larger", "stddev": "larger"}
    assert directions(fast, slow) == {"0.5": "equal", "max": "smaller", "stddev": "smaller"}
    for one, other in zip(decisions(slow, fast), decisions(fast, slow), strict=True):
        back = other.turned()
        assert (one.figure, one.direction) == (back.figure, back.direction)
        assert one.interval is not None and back.interval is not None
        assert one.interval.low == pytest.approx(back.interval.low)


def test_a_factor_inside_the_margin_is_no_difference() -> None:
    """An interval wholly inside the margin shows that the sides are equal; one that reaches out shows nothing."""
    found = decisions(row(0, [10.5 + i / 100 for i in range(12)]), row(1, [10 + i / 100 for i in range(12)]))
    largest = next(v for v in found if v.figure == "max")
    assert (largest.direction, largest.why) == ("equal", None)
    assert largest.interval is not None and 1 < largest.interval.low <= largest.interval.high < MARGIN
    apart = decisions(row(0, [9 + i / 2 for i in range(12)]), row(1, [10.0] * 12))
    largest = next(v for v in apart if v.figure == "max")
    assert largest.interval is not None and largest.interval.low < MARGIN < largest.interval.high
    assert (largest.direction, largest.why) == ("indistinct", IN_THE_MARGIN(margin=MARGIN))


@pytest.mark.parametrize("figures", range(1, 13))
def test_the_fewest_pairs_show_what_one_pair_fewer_cannot(figures: int) -> None:
    """Of any number of figures, each a thousand times as large on one side."""
    needed = fewest_pairs(figures)
    for pairs, direction in ((needed - 1, "unstated"), (needed, "larger")):
        values = {
            str(name): ([1000.0] * pairs, [1 + i / 100 for i in range(pairs)]) for name in range(figures)
        }
        found = decided_together(values).values()
        assert {each.direction for each in found} == {direction}
        assert all(each.seen is not None and each.seen > 900 for each in found)
        too_few = TOO_FEW_PAIRS(needed=needed, pairs=pairs, figures=figures)
        assert {each.why for each in found} == ({too_few} if direction == "unstated" else {None})
        assert all((each.interval is None) == (pairs < fewest_pairs(1)) for each in found)


@given(st.integers(1, 8), st.integers(1, 14), st.floats(1.3, 1000))
def test_too_few_pairs_are_never_called_indistinct(figures: int, pairs: int, factor: float) -> None:
    values = {str(name): ([factor] * pairs, [1.0] * pairs) for name in range(figures)}
    found = {each.direction for each in decided_together(values).values()}
    assert found == ({"unstated"} if pairs < fewest_pairs(figures) else {"larger"})


def test_only_repetitions_that_both_sides_have_are_pairs() -> None:
    found = decisions(row(0, [20.0] * 8, first=1), row(1, [5.0] * 8, first=4))
    largest = next(v for v in found if v.figure == "max")
    assert largest.why == TOO_FEW_PAIRS(needed=7, pairs=5, figures=3) and largest.seen == pytest.approx(4)
    apart = decisions(row(0, [20.0] * 8), row(1, [5.0] * 8, first=9))
    assert {v.why for v in apart} == {NO_PAIRS()}


def with_misses(
    side: int, misses: Sequence[int], deadline_ns: int = 1000, releases: int = 12_000, **known: Any
) -> SideRow:
    """A side whose repetitions missed so many deadlines, with a p99.9."""
    whole = row(side, [10.0] * len(misses))
    once = {
        number: replace(
            whole.once[number],
            column=replace(whole.once[number].column, quantiles={"0.5": 4000, "0.999": 9000}),
            misses=missed,
            deadline=DeadlineSummary(deadline_ns, releases, missed, **known),
        )
        for number, missed in enumerate(misses, 1)
    }
    return replace(whole, once=once)


def test_misses_and_the_tail_are_compared_where_they_are_there() -> None:
    few, many = with_misses(0, [10 + i % 3 for i in range(8)]), with_misses(1, [40 + i % 5 for i in range(8)])
    assert directions(few, many) == {
        "0.5": "equal", "0.999": "equal", "max": "equal", "stddev": "equal", "deadline_misses": "smaller",
    }  # fmt: skip
    assert set(directions(row(0, [5.0] * 8), row(1, [5.0] * 8))) == {"0.5", "max", "stddev"}
    assert directions(few, row(1, [10.0] * 8))["deadline_misses"] == "unstated"


def test_no_miss_on_either_side_is_not_called_equal_and_costs_the_others_nothing() -> None:
    found = {v.figure: v for v in decisions(with_misses(0, [0] * 7), with_misses(1, [0] * 7))}
    assert found["deadline_misses"].why == NO_MISSES()
    slow = with_misses(0, [0] * 8)
    slow = replace(
        slow, once={n: replace(o, column=replace(o.column, max=90_000)) for n, o in slow.once.items()}
    )
    assert {v.figure: v for v in decisions(slow, with_misses(1, [0] * 8))}["max"].direction == "larger"


@pytest.mark.parametrize("late", range(4))
def test_a_handful_of_misses_is_never_called_equal(late: int) -> None:
    """None in most repetitions: the ratio of the true rates may be anything."""
    one, other = [0] * 12, [0] * 12
    for number in range(late + 1):
        one[number], other[11 - number] = 1, 1
    found = {v.figure: v for v in decisions(with_misses(0, one), with_misses(1, other))}["deadline_misses"]
    assert found.direction == "indistinct" and found.interval is not None
    assert found.interval.low < 1 / MARGIN and found.interval.high > MARGIN


NONE = [0] * 12
ONE = [*NONE[1:], 1]


@pytest.mark.parametrize(
    ("first", "second"),
    [((12_000, NONE), (120_000, ONE)), ((12_000, ONE), (14_400, ONE)), ((12_000, ONE), (14_400, NONE))],
)
def test_a_side_with_fewer_releases_is_not_called_larger_for_that(
    first: tuple[int, list[int]], second: tuple[int, list[int]]
) -> None:
    """Half a miss is the same share on both sides."""
    sides = [with_misses(n, misses, releases=of) for n, (of, misses) in enumerate((first, second))]
    for one, other in (sides, sides[::-1]):
        found = decisions(one, other)[-1]
        assert (found.figure, found.direction, found.p) == (MISSES, "indistinct", 1.0)
        assert found.interval is not None and found.interval.low < 1 < found.interval.high


def test_a_side_without_a_miss_may_never_have_one() -> None:
    """Its low end is 0, and the other's high end is not there."""
    found = decisions(with_misses(0, NONE), with_misses(1, [30] * 12))[-1]
    assert found.direction == "smaller" and found.interval is not None
    assert (found.interval.low, found.to_json()["low"]) == (0.0, 0.0)
    assert found.interval.high == pytest.approx(1 / 30.5)
    back = decisions(with_misses(0, [30] * 12), with_misses(1, NONE))[-1]
    for turned in (back, found.turned()):
        assert turned.direction == "larger" and turned.interval is not None
        assert (turned.interval.high, turned.to_json()["high"]) == (math.inf, None)
        assert turned.interval.low == pytest.approx(30.5)
    one = decisions(with_misses(0, ONE), with_misses(1, [30] * 12))[-1]
    assert one.interval is not None and one.interval.low > 0


@pytest.mark.parametrize("expected", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("times", [1.0, 1.2, 10.0])
def test_equal_rates_of_misses_are_not_told_apart_whatever_the_releases(
    times: float, expected: float
) -> None:
    """In at most 5 % of 200; of each repetition so many misses are expected on the shorter side."""
    random, wrong = np.random.default_rng(35), 0
    for _ in range(200):
        few, many = random.poisson(expected, 12), random.poisson(expected * times, 12)
        sides = with_misses(0, few.tolist()), with_misses(1, many.tolist(), releases=round(12_000 * times))
        wrong += decisions(*sides, figures=[MISSES])[0].direction in ("smaller", "larger")
    assert wrong <= 10


@pytest.mark.parametrize("times", [1.0, 1.2, 10.0])
def test_five_times_as_many_misses_are_found_whatever_the_releases(times: float) -> None:
    random, found = np.random.default_rng(36), 0
    for _ in range(50):
        few, many = random.poisson(50, 12), random.poisson(10 * times, 12)
        sides = with_misses(0, few.tolist()), with_misses(1, many.tolist(), releases=round(12_000 * times))
        found += decisions(*sides)[-1].direction == "larger"
    assert found == 50


def test_misses_of_unlike_or_uncertain_deadlines_are_not_compared() -> None:
    found = {v.figure: v for v in decisions(with_misses(0, [9] * 8), with_misses(1, [9] * 8, 2000))}
    assert found["deadline_misses"].why == NOT_ALIKE(settings=("deadline",))
    found = {v.figure: v for v in decisions(with_misses(0, [9] * 8), with_misses(1, [9] * 8, at_least=True))}
    assert found["deadline_misses"].direction == "unstated"


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 0.999), st.floats(0, 0.999), st.integers(8, 14))
def test_what_was_rounded_off_makes_no_difference_and_no_equality(
    first: int, second: int, more: float, still: float, pairs: int
) -> None:
    """Of values in whole microseconds nothing is said that the values before rounding contradict."""
    true = (first + more) / (second + still)
    values = {"max": ([first * 1e3] * pairs, [second * 1e3] * pairs)}
    found = decided_together(values, steps={"max": (999.0, 999.0)})["max"]
    assert (
        found.interval is not None
        and found.interval.low <= true * 1.001
        and found.interval.high >= true * 0.999
    )
    assert found.direction != "larger" or true > MARGIN
    assert found.direction != "smaller" or true < 1 / MARGIN
    assert found.direction != "equal" or 1 / MARGIN <= true <= MARGIN


def test_what_may_not_be_paired_is_not() -> None:
    found = decisions(row(0, [20.0] * 8), row(1, [5.0] * 8), NOT_INTERLEAVED())
    assert {(v.direction, v.why) for v in found} == {("unstated", NOT_INTERLEAVED())}


def test_over_points_each_counts_the_same_and_a_repetition_is_one_pair() -> None:
    """Ratios of 1 / 4 at one point and 1 at another: 1 / 2 in the mean. Two points of eight repetitions are eight
    pairs, not sixteen."""
    few, many, alike = row(0, [10.0] * 8), row(1, [40.0] * 8), row(0, [10.0] * 8)
    found = over_points({"max": [(few, many), (alike, few)]})["max"]
    assert found.interval is not None
    assert (found.direction, found.interval.pairs, found.p) == ("smaller", 8, 2 / 256)
    assert found.interval.ratio == pytest.approx(0.5)
    turned = over_points({"max": [(many, few), (few, alike)]})["max"]
    assert turned.direction == "larger"


def test_over_points_a_gain_and_an_equal_loss_are_neither() -> None:
    one, other = row(0, [10.0] * 8), row(1, [40.0] * 8)
    assert over_points({"max": [(one, other), (other, one)]})["max"].direction == "equal"


def test_over_points_only_repetitions_count_that_all_of_them_have() -> None:
    one, other, later = row(0, [10.0] * 8), row(1, [40.0] * 8), row(0, [10.0] * 8, first=4)
    assert over_points({"max": [(one, other), (later, other)]}) == {}
    assert over_points({"max": []}) == {}


def test_at_one_point_the_mean_over_points_is_what_stands_there() -> None:
    one, other = row(0, [10.0 + i for i in range(8)]), row(1, [40.0 - i for i in range(8)])
    there = {v.figure: v for v in decisions(one, other)}
    over = over_points({name: [(one, other)] for name in there})
    for name, decision in there.items():
        its, same = over[name].interval, decision.interval
        assert its is not None and same is not None
        assert (over[name].direction, over[name].p) == (decision.direction, decision.p)
        assert (its.ratio, its.low, its.high) == pytest.approx((same.ratio, same.low, same.high))


def test_zero_has_no_ratio() -> None:
    found = {v.figure: v for v in decisions(row(0, [0.0] * 8), row(1, [5.0] * 8))}
    assert found["max"].direction == "unstated" and found["max"].why == NO_VALUE()


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=12))
def test_a_range_lies_within_its_values(values: list[int]) -> None:
    its = spread_of(values)
    assert its is not None
    assert its.smallest == min(values) <= its.median <= its.largest == max(values)


def test_a_figure_that_a_repetition_does_not_state_has_no_range() -> None:
    its = row(0, [1.0, 2.0])
    assert its.spread("0.999") is None and its.spread("maximum") == Spread(1000, 1500, 2000)
    assert SideRow(0, {}, 3).spread("maximum") is None and SideRow(0, {}, 3).of == "0 of 3"
