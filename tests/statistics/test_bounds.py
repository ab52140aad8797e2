"""The bounds against published tables, and their functions against scipy's."""

import math

import pytest
import scipy.special
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from howlate.statistics import bounds
from howlate.statistics.bounds import (
    lower_is_at_most,
    quantile_bound_rank,
    rate_lower,
    rate_upper,
    trials_needed,
    upper_is_at_most,
)
from howlate.statistics.special import beta_cdf, beta_quantile, chi2_quantile, chi2_sf, student_quantile

shapes = st.floats(0.5, 5_000)
large = st.floats(1e4, 1e9)


@given(st.floats(1e-9, 1 - 1e-9), shapes, shapes | large)
def test_the_beta_function_is_scipys(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(scipy.special.betainc(a, b, x), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("misses", [0, 1, 7, 1_000, 100_000])
@pytest.mark.parametrize("trials", [100_001, 10**8, 486_000_000])
def test_its_inverse_is_scipys(misses: int, trials: int) -> None:
    expected = scipy.special.betaincinv(misses + 1, trials - misses, 0.95)
    assert beta_quantile(0.95, misses + 1, trials - misses) == pytest.approx(expected, rel=1e-6)


@given(st.floats(0.001, 400), st.integers(1, 300))
def test_chi_squared_is_scipys(x: float, degrees: int) -> None:
    assert chi2_sf(x, degrees) == pytest.approx(scipy.stats.chi2.sf(x, degrees), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize(
    ("degrees", "share", "value"),
    [(1, 0.95, 3.841), (2, 0.95, 5.991), (4, 0.95, 9.488), (10, 0.95, 18.307), (100, 0.95, 124.342)],
)
def test_chi_squareds_quantiles_are_those_of_the_tables(degrees: int, share: float, value: float) -> None:
    """NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4, upper critical values."""
    assert round(chi2_quantile(share, degrees), 3) == value


@given(st.floats(1e-9, 0.49), st.floats(1, 200))
def test_students_quantile_is_scipys(above: float, degrees: float) -> None:
    assert student_quantile(above, degrees) == pytest.approx(scipy.stats.t.isf(above, degrees), rel=1e-6)


@given(st.just(0.0) | st.floats(0.05, 1e5), st.floats(1, 1e9), st.floats(0.5, 1 - 1e-6), st.floats(0.01, 100))
def test_a_bound_is_at_most_what_its_inverse_says(
    misses: float, trials: float, confidence: float, factor: float
) -> None:
    assume(abs(factor - 1) > 1e-6)
    for bound, is_at_most in ((rate_upper, upper_is_at_most), (rate_lower, lower_is_at_most)):
        exact = bound(misses, trials, confidence)
        assert is_at_most(exact * factor, misses, trials, confidence) == (exact <= exact * factor)


@pytest.mark.parametrize("trials", [50, 100, 1_000, 10**6, 10**9])
def test_rule_of_three(trials: int) -> None:
    """J. A. Hanley, A. Lippman-Hand: If nothing goes wrong, is everything all right? JAMA 249 (1983): 3 / n is the
    95 % bound where none of n went wrong, for n above 30."""
    assert rate_upper(0, trials, 0.95) == pytest.approx(3 / trials, rel=0.04)
    assert rate_upper(0, trials, 0.95) <= -math.log(0.05) / trials


@pytest.mark.parametrize(
    ("misses", "trials", "lower", "upper"),
    [
        (0, 10, 0.0000, 0.3085),
        (1, 10, 0.0025, 0.4450),
        (2, 10, 0.0252, 0.5561),
        (3, 10, 0.0667, 0.6525),
        (5, 10, 0.1871, 0.8129),
        (10, 10, 0.6915, 1.0000),
        (0, 20, 0.0000, 0.1684),
        (1, 20, 0.0013, 0.2487),
        (10, 20, 0.2720, 0.7280),
    ],
)
def test_clopper_and_pearson(misses: int, trials: int, lower: float, upper: float) -> None:
    """Two-sided 95 % limits, as the tables have them that follow C. J. Clopper, E. S. Pearson: The use of confidence
    or fiducial limits illustrated in the case of the binomial. Biometrika 26 (1934). Each side: 97.5 %."""
    assert rate_lower(misses, trials, 0.975) == pytest.approx(lower, abs=6e-5)
    assert rate_upper(misses, trials, 0.975) == pytest.approx(upper, abs=6e-5)


@pytest.mark.parametrize(("order", "trials"), [(1, 59), (2, 93), (3, 124), (4, 153), (5, 181), (6, 208)])
def test_wilks_for_95_and_95(order: int, trials: int) -> None:
    """The numbers of runs for a one-sided 95 %/95 % limit: A. Guba, M. Makai, L. Pal, Statistical aspects of best
    estimate method I, Reliability Engineering and System Safety 80 (2003); after S. S. Wilks 1941."""
    assert quantile_bound_rank(0.95, trials, 0.95) == trials - order + 1
    fewer = quantile_bound_rank(0.95, trials - 1, 0.95)
    assert fewer is None if order == 1 else fewer == trials - 1 - (order - 2)


@pytest.mark.parametrize(
    ("share", "confidence", "trials"), [(0.9, 0.9, 22), (0.9, 0.95, 29), (0.99, 0.95, 299), (0.99, 0.99, 459)]
)
def test_wilks_elsewhere(share: float, confidence: float, trials: int) -> None:
    """H. A. David, H. N. Nagaraja: Order Statistics, 3rd edition (2003), section 7.2; n = ln(1 - c) / ln(q)."""
    assert quantile_bound_rank(share, trials, confidence) == trials
    assert quantile_bound_rank(share, trials - 1, confidence) is None


@pytest.mark.parametrize(
    ("misses", "trials"), [(0, 2_995_733), (1, 4_743_865), (2, 6_295_794), (3, 7_753_657)]
)
def test_trials_needed(misses: int, trials: int) -> None:
    """The 95 % upper limits of a Poisson count: 2.9957, 4.7439, 6.2958, 7.7537 (F. Garwood, Biometrika 28, 1936)."""
    assert trials_needed(1e-6, misses) == pytest.approx(trials, abs=3)
    assert rate_upper(misses, trials_needed(1e-6, misses), 0.95) <= 1.00001e-6
    assert trials_needed(1e-6, misses, theta=0.5) == pytest.approx(2 * trials, abs=6)


def test_a_bound_of_nothing_says_nothing() -> None:
    assert rate_upper(0, 0, 0.95) == 1.0
    assert rate_lower(0, 100, 0.95) == 0.0
    assert quantile_bound_rank(0.99, 10, 0.95) is None


@pytest.mark.parametrize("trials", [1, 2, 9, 299, 12_345, 100_000_000])
@pytest.mark.parametrize("share", [1e-6, 0.01, 0.5, 0.9, 0.999, 0.999999])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.975, 0.999])
def test_a_rank_is_the_smallest_that_is_enough_and_soon_found(
    share: float, confidence: float, trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def counted(x: float, a: float, b: float) -> float:
        asked.append(a)
        return beta_cdf(x, a, b)

    monkeypatch.setattr(bounds, "beta_cdf", counted)
    rank = quantile_bound_rank(share, trials, confidence)
    if rank is None:
        assert 1 - share**trials < confidence
        return
    assert len(asked) <= 12
    assert rank == trials or 1 - beta_cdf(share, rank, trials - rank + 1) >= confidence
    assert rank == 1 or 1 - beta_cdf(share, rank - 1, trials - rank + 2) < confidence
