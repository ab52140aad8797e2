"""Hodges-Lehmann ratios against figures worked by hand and against the promise of their intervals."""

import itertools
from statistics import NormalDist

import numpy as np
import pytest

from howlate.sides.paired import ratio_interval, signed_rank_tails


def test_tails_are_those_of_every_sign_pattern() -> None:
    n = 6
    by_hand = [0] * (n * (n + 1) // 2 + 1)
    for signs in itertools.product((0, 1), repeat=n):
        by_hand[sum(rank for rank, sign in enumerate(signs, 1) if sign)] += 1
    assert (signed_rank_tails(n) * 2**n == np.cumsum(by_hand)).all()


def test_ten_pairs_have_the_tabulated_critical_value() -> None:
    # Tables give 8 as the critical value of n = 10 at 5 % two-sided: P(W <= 8) = 25 / 1024.
    assert signed_rank_tails(10)[8] == 25 / 1024
    interval = ratio_interval(np.full(10, 3.0), np.full(10, 2.0))
    assert interval is not None
    assert interval.confidence == pytest.approx(1 - 50 / 1024)


def test_tails_are_as_exact_as_is_said() -> None:
    assert signed_rank_tails(0).tolist() == [1]
    for n in (5, 52, 120):
        counts = [1]
        for rank in range(1, n + 1):
            counts = [
                one + other for one, other in zip(counts + [0] * rank, [0] * rank + counts, strict=True)
            ]
        exact = [tail / 2**n for tail in itertools.accumulate(counts)]
        assert signed_rank_tails(n) == pytest.approx(exact, rel=0 if n <= 52 else 1e-12, abs=0)


def test_no_number_of_pairs_has_an_interval_that_never_misses() -> None:
    for n in (20, 1200):
        assert ratio_interval(np.full(n, 3.0), np.full(n, 2.0), confidence=1.0) is None


def test_the_distribution_of_many_pairs_is_the_normal_one() -> None:
    n = 1500
    tails = signed_rank_tails(n)
    assert tails[-1] == pytest.approx(1, abs=1e-10)
    middle, spread = n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    for sigmas in (-2.5, -1.96, -1.0, 0.0, 1.0):
        at = int(middle + sigmas * spread)
        assert tails[at] == pytest.approx(NormalDist().cdf(sigmas), rel=0.005)


def test_of_more_than_a_thousand_pairs_there_is_an_interval() -> None:
    interval = ratio_interval(1.1 * np.exp(np.linspace(-0.05, 0.05, 1200)), np.ones(1200))
    assert interval is not None
    assert 1.095 < interval.low < 1.1 < interval.high < 1.105
    assert interval.confidence == pytest.approx(0.95, abs=1e-4)


def test_five_pairs_have_no_interval_and_six_have() -> None:
    assert ratio_interval(np.ones(5), np.ones(5)) is None
    assert ratio_interval(np.ones(6), np.ones(6)) is not None


def test_literal_ratio() -> None:
    # Ratios 2^0, 2^1, ... 2^5: Walsh averages of 0..5 have the median 2.5; six pairs use the extremes.
    interval = ratio_interval([2.0**i for i in range(6)], [1.0] * 6)
    assert interval is not None
    assert interval.ratio == pytest.approx(2**2.5)
    assert [interval.low, interval.high] == pytest.approx([1.0, 32.0])


def test_interval_covers_as_promised() -> None:
    random = np.random.default_rng(20)
    hits = 0
    for _ in range(2000):
        noise = random.standard_t(3, 12) * 0.05
        interval = ratio_interval(1.1 * np.exp(noise), np.ones(12))
        assert interval is not None
        hits += interval.low <= 1.1 <= interval.high
    assert 0.935 <= hits / 2000 <= 0.98


def test_swapping_the_two_inverts_the_ratio() -> None:
    random = np.random.default_rng(3)
    a, b = random.uniform(1, 2, 9), random.uniform(1, 2, 9)
    one, other = ratio_interval(a, b), ratio_interval(b, a)
    assert one is not None
    assert other is not None
    assert one.low == pytest.approx(1 / other.high)
    assert one.ratio == pytest.approx(1 / other.ratio)
