"""How much must be measured."""

import numpy as np
import pytest

from howlate.compare.effort import (
    CHANCE,
    NOISE,
    Misses,
    fewest,
    figures_compared,
    horizon_effort_s,
    powers,
    rate_efforts,
)
from howlate.model.summary import MISSES
from howlate.sides.sides import COMPARED, HALF_A_MISS, decided_together
from howlate.statistics.bounds import rate_upper, with_reserve
from howlate.verdict.rate import rate_of
from howlate.verdict.ruling import Question, Ruling
from howlate.verdict.sequential import trials_without_miss
from made_evidence import made_evidence, quiet


def test_a_rate_needs_more_the_nearer_the_true_one_is() -> None:
    none, tenth, third = rate_efforts(1e-7, 0.95, 1e-3)
    assert (none.true_rate, none.misses) == (0, 0)
    assert none.activations == pytest.approx(1.011 * 2.9957e7, rel=0.001)
    assert 0 < tenth.misses < third.misses and none.activations < tenth.activations < third.activations
    assert rate_efforts(1e-7, 0.95, 1e-3, theta=0.25)[0].activations == pytest.approx(
        4 * none.activations, rel=0.01
    )
    assert rate_efforts(1e-7, 0.95, 1e-3, 1.0, [1e-7]) == []
    assert trials_without_miss(1e-7, 0.95) > 0.9 * none.activations


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.9])
def test_no_fewer_are_planned_than_the_verdict_needs(rate: float) -> None:
    (effort,) = rate_efforts(rate, 0.95, 1e-3, 1.0, [0.0])
    found = [
        rate_of(made_evidence(1_000_000, quiet(effort.activations, seed)), Question(1_000_000, rate, 0.0))
        for seed in range(20)
    ]
    assert [each.outcome for each in found].count(Ruling.PASS) >= 18


@pytest.mark.parametrize("theta", [1.0, 0.25])
@pytest.mark.parametrize("share", [0.0, 0.1, 1 / 3, 0.6])
def test_what_is_planned_passes_in_95_percent(share: float, theta: float) -> None:
    """Of groups of misses, whose number is Poisson's, by the bound itself."""
    rate = 1e-4
    (effort,) = rate_efforts(rate, 0.95, 1e-3, theta, [share * rate])
    groups = np.random.default_rng(1).poisson(share * rate * theta * effort.activations, 400)
    seconds, trials = effort.activations * 1e-3, theta * effort.activations
    passed = [rate_upper(with_reserve(int(k), seconds), trials, 0.95) <= rate for k in groups]
    assert np.mean(passed) >= CHANCE - 2 * np.sqrt(CHANCE * (1 - CHANCE) / 400)


@pytest.mark.parametrize("share", [0.0, 1 / 3])
def test_what_is_planned_passes_through_the_verdict_and_its_diagnostics(share: float) -> None:
    """At most 5 of 40 do not; with a chance of a half 15 would not."""
    rate, random = 5e-4, np.random.default_rng(3)
    (effort,) = rate_efforts(rate, 0.95, 1e-3, 1.0, [share * rate])
    open_ = 0
    for _ in range(40):
        values = random.permutation(quiet(effort.activations))
        late = random.random(effort.activations) < share * rate
        values[late] = 2_000_000 + random.integers(0, 10**6, late.sum())
        question = Question(1_000_000, rate, 0.0)
        open_ += rate_of(made_evidence(1_000_000, values), question).outcome is not Ruling.PASS
    assert open_ <= 5


def test_a_horizon_needs_nineteen_times_itself() -> None:
    assert horizon_effort_s(1_800, 0.95) == pytest.approx(34_200)


def found_by_compare(ratio: float, name: str, pairs: int, misses: Misses, repetitions: int) -> float:
    """How often the decision of `compare` itself finds the ratio in one figure."""
    random = np.random.default_rng(5)
    found = 0
    for _ in range(repetitions):
        values = {}
        for figure in COMPARED:
            of = ratio if figure == name else 1.0
            if figure == MISSES:
                first, second = (random.poisson(misses.expected * f, pairs) + HALF_A_MISS for f in (of, 1.0))
            else:
                first, second = of * np.exp(random.normal(0, NOISE[figure], pairs)), np.ones(pairs)
            values[figure] = (list(first), list(second))
        found += decided_together(values)[name].direction == "larger"
    return found / repetitions


@pytest.mark.parametrize("name", COMPARED)
def test_the_power_of_pairs_is_that_of_the_test_that_compare_makes(name: str) -> None:
    misses = Misses(12.0)
    (power,) = powers(2.5, COMPARED, misses, [16])
    share = found_by_compare(2.5, name, 16, misses, 200)
    assert power.figures[name] == pytest.approx(share, abs=0.05 + 2 * np.sqrt(share * (1 - share) / 200))


@pytest.mark.parametrize("has_deadline", [False, True])
def test_too_few_pairs_find_nothing_and_the_fewest_do(has_deadline: bool) -> None:
    figures = figures_compared(has_deadline=has_deadline)
    least = fewest(figures)
    fewer, enough = powers(20, figures, Misses(200.0), [least - 1, least])
    assert set(fewer.figures.values()) == {0.0}
    assert all(share > 0.3 for share in enough.figures.values())


@pytest.mark.parametrize("ratio", [1.0000001, 1.09, 1 / 1.09])
def test_within_the_margin_a_difference_is_found_in_five_percent_at_most(ratio: float) -> None:
    for power in powers(ratio, COMPARED, Misses(50.0), [8, 24]):
        assert all(share <= 0.05 for share in power.figures.values())


def test_a_smaller_side_is_found_as_often_as_a_larger_one() -> None:
    (one,), (other,) = (powers(ratio, COMPARED, None, [12]) for ratio in (2, 0.5))
    for name, share in one.figures.items():
        assert other.figures[name] == pytest.approx(share, abs=0.04)
