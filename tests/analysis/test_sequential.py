"""Deciding while measuring keeps its level though it looks a hundred times, and a repeated bound does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
from hypothesis import given
from hypothesis import strategies as st

from howlate.analysis.bounds import rate_upper
from howlate.analysis.sequential import (
    rate_lower_always,
    rate_upper_always,
    shown_above,
    shown_below,
    trials_without_miss,
)

RATE = 1e-3
RUNS, LOOKS, STEP = 300, 100, 500


def counted(true_rate: float, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Misses so far at each look, a row a simulated run."""
    random = np.random.default_rng(seed)
    return np.cumsum(random.binomial(STEP, true_rate, (RUNS, LOOKS)), axis=1)


def test_the_mixtures_are_integrals_of_likelihood_ratios() -> None:
    def ratio(rate: float) -> float:
        return (rate / RATE) ** 3 * ((1 - rate) / (1 - RATE)) ** 4_997

    below, _ = scipy.integrate.quad(ratio, 0, RATE, epsabs=0)
    above, _ = scipy.integrate.quad(ratio, RATE, 100 * RATE, epsabs=0, points=[2 * RATE, 5 * RATE])
    assert shown_below(3, 5_000, RATE) == pytest.approx(0.5 * below / RATE, rel=1e-6)
    assert shown_above(3, 5_000, RATE) == pytest.approx(above / (99 * RATE), rel=1e-4)


def test_without_a_miss_repeated_looks_cost_a_sixth_more() -> None:
    assert trials_without_miss(1e-6) / (-math.log(0.05) / 1e-6) == pytest.approx(7 / 6, abs=0.03)
    assert shown_below(0, trials_without_miss(1e-6), 1e-6) >= 20
    assert trials_without_miss(1e-6, theta=0.5) == pytest.approx(2 * trials_without_miss(1e-6), abs=1)


@pytest.mark.parametrize(("test", "seed"), [(shown_below, 1), (shown_above, 2)])
def test_the_level_holds_in_spite_of_a_hundred_looks(test: object, seed: int) -> None:
    """At the tolerated rate itself, where a wrong verdict is likeliest: at most 5 % of 300 runs and twice the
    binomial error of so many (bench/coverage.py has 1,000)."""
    wrong = 0
    for misses in counted(RATE, seed):
        wrong += any(
            test(int(k), (look + 1) * STEP, RATE) >= 20  # type: ignore[operator]
            for look, k in enumerate(misses)
        )
    assert wrong / RUNS <= 0.05 + 0.025


@pytest.mark.long
def test_a_repeated_bound_does_not_keep_it() -> None:
    """Why not simply look at Clopper and Pearson's bound each time."""
    wrong = 0
    for misses in counted(RATE, 3)[:200]:
        wrong += any(rate_upper(int(k), (look + 1) * STEP, 0.95) <= RATE for look, k in enumerate(misses))
    assert wrong / 200 > 0.08


def test_it_decides_where_there_is_something_to_decide() -> None:
    """A rate ten times smaller passes, one three times larger fails, in nearly every run."""
    passed = sum(
        any(shown_below(int(k), (look + 1) * STEP, RATE) >= 20 for look, k in enumerate(misses))
        for misses in counted(RATE / 10, 4)[:200]
    )
    failed = sum(
        any(shown_above(int(k), (look + 1) * STEP, RATE) >= 20 for look, k in enumerate(misses))
        for misses in counted(3 * RATE, 5)[:200]
    )
    assert passed >= 198 and failed >= 198


@given(st.integers(2, 10**9), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.9, 0.95, 0.999]))
def test_more_misses_are_never_less_evidence(
    trials: int, one: float, other: float, confidence: float
) -> None:
    """However far they are above the rate: the lower bound of 530 misses was a millionth of that of 525."""
    few, many = sorted((round(one * trials), round(other * trials)))
    assert rate_lower_always(few, trials, confidence) <= rate_lower_always(many, trials, confidence) * (
        1 + 1e-9
    )
    assert rate_upper_always(few, trials, confidence) <= rate_upper_always(many, trials, confidence) * (
        1 + 1e-9
    )


@pytest.mark.parametrize("trials", [60_000, 10**7])
def test_the_lower_bound_follows_the_share_of_misses(trials: int) -> None:
    for misses in (520, 525, 530, 1_200, 30_000):
        share = misses / trials
        assert share * (1 - 6 / misses**0.5) < rate_lower_always(misses, trials, 0.95) < share
