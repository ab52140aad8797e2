"""The generalised Pareto distribution: its fit against scipy's, its test against the published table, its interval
against the truth."""

import numpy as np
import pytest
import scipy.stats

from howlate.statistics.pareto import SIMULATED, _simulated, anderson_darling, fits, fitted, highest_level

genpareto = scipy.stats.genpareto


@pytest.mark.parametrize("shape", [-0.4, -0.1, 0.0, 0.2, 0.9])
def test_the_fit_is_at_least_as_likely_as_scipys(shape: float) -> None:
    excesses = genpareto.rvs(shape, scale=1_000, size=1_000, random_state=np.random.default_rng(1))
    fit = fitted(excesses)
    theirs, _, scale = genpareto.fit(excesses, floc=0)
    assert (fit.shape, fit.scale) == pytest.approx((theirs, scale), rel=1e-3, abs=1e-4)
    assert fit.log_likelihood == pytest.approx(genpareto.logpdf(excesses, fit.shape, 0, fit.scale).sum())
    assert fit.log_likelihood >= genpareto.logpdf(excesses, theirs, 0, scale).sum() - 1e-6
    assert fit.level(500) == pytest.approx(genpareto.isf(1 / 500, fit.shape, 0, fit.scale))
    assert fit.survival([500.0])[0] == pytest.approx(genpareto.sf(500.0, fit.shape, 0, fit.scale))


def test_equal_and_few_excesses_have_a_fit() -> None:
    assert np.isfinite(fitted([1.0, 1.0, 1.0]).scale)
    assert np.isfinite(fitted([1.0, 2.0]).log_likelihood)


def test_the_test_statistic_by_its_formula() -> None:
    excesses = genpareto.rvs(0.1, scale=3.0, size=50, random_state=np.random.default_rng(2))
    fit = fitted(excesses)
    below = np.sort(genpareto.cdf(excesses, fit.shape, 0, fit.scale))
    n = len(below)
    total = sum((2 * i - 1) * (np.log(below[i - 1]) + np.log(1 - below[n - i])) for i in range(1, n + 1))
    assert anderson_darling(excesses, fit) == pytest.approx(-n - total / n)


def test_exponential_samples_give_the_published_points() -> None:
    """V. Choulakian, M. A. Stephens: Goodness-of-Fit Tests for the Generalized Pareto Distribution, Technometrics 43
    (2001), table 2, shape 0, both parameters estimated: A^2 of 0.397, 0.569, 0.796 and 0.974 has the p of 0.5, 0.25,
    0.1 and 0.05."""
    simulated = _simulated(0.0)
    for squares, p in ((0.397, 0.5), (0.569, 0.25), (0.796, 0.1), (0.974, 0.05)):
        error = np.sqrt(p * (1 - p) / SIMULATED)
        assert (simulated >= squares).mean() == pytest.approx(p, abs=3 * error)


def test_another_shape_does_not_fit() -> None:
    random = np.random.default_rng(3)
    two = np.concatenate((random.exponential(1.0, 500), 3 + random.exponential(1.0, 500)))
    assert fits(two, fitted(two)) < 0.01


def test_the_family_itself_is_rejected_as_often_as_it_should_be() -> None:
    """5 % of 200, and thrice the binomial error."""
    random = np.random.default_rng(5)
    samples = [genpareto.rvs(0.2, size=1_000, random_state=random) for _ in range(200)]
    rejected = sum(fits(sample, fitted(sample)) < 0.05 for sample in samples)
    assert rejected / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_the_profile_limit_is_above_the_true_level_as_often_as_it_says() -> None:
    """95 % of 200, less thrice the binomial error."""
    random = np.random.default_rng(4)
    held = 0
    for _ in range(200):
        excesses = genpareto.rvs(0.1, size=300, random_state=random)
        held += highest_level(excesses, fitted(excesses), 3_000, 0.95) >= genpareto.isf(1 / 3_000, 0.1)
    assert held / 200 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)
