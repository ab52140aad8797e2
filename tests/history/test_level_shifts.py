"""Level shifts: what was seen stays seen, the level holds over the looks, and steps are found within four runs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howlate.history.level_shifts import (
    BEFORE,
    DOWN,
    FEWEST,
    LEVEL,
    NEWEST,
    UP,
    correlation_of,
    difference,
    fewest_of,
    interval_of,
    limit_of,
    place_of,
    places_of,
    refined,
    scores_of,
    shifts,
)
from made_noise import RUNS_WITHOUT_A_CHANGE, SPREAD, ar, is_called

MARGIN = math.log(1.1)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(12, 40), st.floats(-1, 1))
def test_what_was_seen_after_some_runs_is_seen_after_more_of_them(seed: int, at: int, step: float) -> None:
    """So looking again and again is looking once, at the end."""
    values = np.random.default_rng(seed).normal(0, 0.2, (2, 50))
    values[0, at:] += step
    whole = shifts(values, margin=MARGIN)
    for end in (at + 4, at + 5, 45):
        assert shifts(values[:, :end], margin=MARGIN) == [each for each in whole if each.seen_at <= end]


@pytest.mark.parametrize("name", [name for name, kind in RUNS_WITHOUT_A_CHANGE.items() if kind.is_promised])
def test_without_a_change_hardly_anybody_is_told_of_one(name: str) -> None:
    """At most 4 of 15: at 5 % more are less likely than 1 in 1,000. bench/differences.py looks closer."""
    random, kind = np.random.default_rng(4), RUNS_WITHOUT_A_CHANGE[name]
    assert sum(is_called(kind.made(random), kind.boots(random), (60,)) for _ in range(15)) <= 4


def test_a_step_of_a_half_is_found_within_four_runs() -> None:
    """In 90 % of 40, less twice the binomial error."""
    random, found = np.random.default_rng(5), 0
    for _ in range(40):
        values = random.normal(0, SPREAD, (1, 34))
        values[0, 30:] += math.log(1.5)
        found += any(each.at >= 28 for each in shifts(values, margin=MARGIN))
    assert found >= 32


def test_a_step_down_is_found_too() -> None:
    random = np.random.default_rng(6)
    values = random.normal(0, SPREAD, (1, 40))
    values[0, 30:] -= math.log(2)
    (shift,) = shifts(values, margin=MARGIN)
    assert abs(shift.at - 30) <= 1


@pytest.mark.parametrize("outliers", [1, 2])
def test_a_few_runs_of_ten_times_are_no_level(outliers: int) -> None:
    random = np.random.default_rng(7)
    values = random.normal(0, SPREAD, (1, 40))
    values[0, 20 : 20 + outliers] += math.log(10)
    assert shifts(values, margin=MARGIN) == []


def test_two_runs_of_ten_times_in_a_row_are_hardly_ever_a_level() -> None:
    """In 38 of 200 histories; in 54 where two of the newest four could carry the others."""
    random, called = np.random.default_rng(12), 0
    for _ in range(200):
        values = random.normal(0, SPREAD, (1, 60))
        first = random.integers(0, 59)
        values[0, first : first + 2] += math.log(10)
        called += bool(shifts(values, margin=MARGIN))
    assert called <= 45


@pytest.mark.parametrize("level", [LEVEL, LEVEL / 2, LEVEL / 10])
@pytest.mark.parametrize("direction", [UP, DOWN])
def test_the_first_looks_spend_no_more_than_their_share(level: float, direction: int) -> None:
    """What is not less than the smallest p that there is, summed over all looks to come."""
    for newest in NEWEST:
        counts = range(newest + BEFORE[0], 200)
        few = [
            limit for n in counts
            if (limit := limit_of(n, newest, direction, level)) == 1 / math.comb(n, newest)
        ]  # fmt: skip
        assert sum(few) <= level * 0.65
    assert limit_of(FEWEST, NEWEST[0], UP, LEVEL) == pytest.approx(1 / 210)


def test_the_fewest_values_are_those_whose_smallest_p_the_level_has_room_for() -> None:
    assert [fewest_of(level) for level in (LEVEL, LEVEL / 2, LEVEL / 5)] == [10, 10, 13]
    values = np.random.default_rng(11).normal(0, 0.1, (1, 13))
    values[0, 9:] += 2
    assert shifts(values[:, 1:], LEVEL / 5) == [] and len(shifts(values, LEVEL / 5)) == 1


def test_a_shift_of_one_row_hides_none_of_another() -> None:
    """Each row is followed on from its own shift."""
    values = np.random.default_rng(12).normal(0, SPREAD, (2, 60))
    values[0, 30:] += 1
    values[1, 34:] += 1
    assert sorted((each.series, each.at) for each in shifts(values, margin=MARGIN)) == [(0, 30), (1, 34)]


@pytest.mark.parametrize(
    ("r", "count"), [(0.5, 100), *(pytest.param(r, 400, marks=pytest.mark.sweep) for r in (0.0, 0.3, 0.5))]
)
def test_where_a_run_takes_after_the_one_before_no_more_are_told_of_a_change(r: float, count: int) -> None:
    """At most 5 % of the histories, and twice the binomial error."""
    random = np.random.default_rng(10)
    drawn = [SPREAD * ar(random, r, 60)[np.newaxis] for _ in range(count)]
    called = sum(bool(shifts(values, margin=MARGIN)) for values in drawn)
    assert called <= 0.05 * count + 2 * math.sqrt(0.0475 * count)


@pytest.mark.parametrize("r", [0.0, 0.3, 0.6])
def test_the_correlation_of_neighbours_is_estimated(r: float) -> None:
    random = np.random.default_rng(8)
    drawn = [ar(random, r, 60) for _ in range(50)]
    found = [correlation_of([values - values.mean()], 0.0) for values in drawn]
    assert np.median(found) == pytest.approx(r, abs=0.1)
    more = [correlation_of([values - values.mean()], 0.2) for values in drawn]
    assert np.median(more) == pytest.approx(r + 0.2, abs=0.1)
    assert correlation_of([np.zeros(10)], 0.2) == 0.0


def test_size_place_and_interval_of_a_step() -> None:
    values = np.array([1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 3.0, 3.1, 2.9, 3.0])
    assert place_of(scores_of(values)) == 6 and refined(values, [5]) == [6]
    assert difference(values, 6) == pytest.approx(2.0)
    low, high = interval_of(values, 6)
    assert low < 2.0 < high and high - low < 0.4
    assert places_of(values, 6) == (6, 6)
    wide = np.random.default_rng(9).normal(0, 1, 40)
    wide[20:] += 1.0
    first, last = places_of(wide, place_of(scores_of(wide)))
    assert first < last
