"""A small part of bench/coverage.py: bounds hold or are withheld, on series whose truth is known."""

import numpy as np
import pytest

from howlate.verdict.rate import rate_of
from howlate.verdict.ruling import Question
from howlate.verdict.stretch import horizon_verdict
from made_evidence import made_evidence
from made_series import AUTOCORRELATED, INDEPENDENT, MIXTURES, drifting

REPETITIONS, SAMPLES = 60, 5_000
SERIES = {**INDEPENDENT, **AUTOCORRELATED}


@pytest.mark.parametrize("name", SERIES)
def test_a_rate_is_bounded_or_the_bound_is_withheld(name: str) -> None:
    """At most 8 of 60 too small: at 95 % that is less likely than 1 in 100."""
    random, series, rate = np.random.default_rng(11), SERIES[name], 1e-3
    deadline = int(series.deadline(rate))
    bounds = [
        rate_of(made_evidence(deadline, series.samples(random, SAMPLES)), Question(deadline, rate)).upper
        for _ in range(REPETITIONS)
    ]
    assert sum(bound is not None and bound < rate for bound in bounds) <= 8


@pytest.mark.parametrize("share", MIXTURES)
def test_rare_outliers_do_not_break_the_bound(share: float) -> None:
    random, series = np.random.default_rng(12), MIXTURES[share]
    for _ in range(20):
        evidence = made_evidence(1_000_000, series.samples(random, SAMPLES))
        upper = rate_of(evidence, Question(1_000_000, share)).upper
        assert upper is None or upper >= share


def test_a_drift_withholds_the_next_stretch() -> None:
    random = np.random.default_rng(13)
    for _ in range(20):
        evidence = made_evidence(1 << 40, drifting(random, 20_000, 2.0))
        assert not horizon_verdict(evidence, Question(1 << 40)).bound
