"""Deciding while measuring: whether a rate is above or below what is tolerated, looked at as often as one likes.

A bound for a fixed number of samples does not survive that one looks until it holds. The mixture of likelihood
ratios does: under the hypothesis that is to be rejected it is a supermartingale that begins at 1, so it ever reaches
1 / alpha with a probability of alpha at most (J. Ville 1939; H. Robbins: Statistical methods related to the law of
the iterated logarithm, Annals of Mathematical Statistics 41, 1970). docs/verdict.md has the mixtures.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

HIGHEST = 100
"""The mixture above a rate goes up to so many times that rate."""


_LEAST, _MOST = 1e-300, 1 - 2.0**-53
_NOTHING = 60.0
"""What is less likely by so many powers of e adds nothing to a mean."""
_PLACES, _SHARES = np.polynomial.legendre.leggauss(80)
_NODES, _WEIGHTS = (_PLACES + 1) / 2, _SHARES / 2
"""Of the integral from 0 to 1."""


def shown_below(misses: float, trials: float, rate: float) -> float:
    """How strongly the samples speak against a rate of misses of `rate` or more (an e-value; 20 is 95 % confidence).
    Half of the mixture is the rate 0, so that samples without a miss need little more than without repeated looks;
    half is uniform on (0, rate)."""
    log_null = _log_likelihood(misses, trials, rate)
    never = math.exp(-log_null) if not misses and -log_null < 700 else math.inf if not misses else 0.0
    return 0.5 * never + 0.5 * _mixture(misses, trials, 0.0, rate, log_null)


def shown_above(misses: float, trials: float, rate: float) -> float:
    """How strongly they speak against a rate of `rate` or less: a mixture that is uniform on (rate, 100 rate)."""
    log_null = _log_likelihood(misses, trials, rate)
    return _mixture(misses, trials, rate, min(_MOST, HIGHEST * rate), log_null)


def _log_likelihood(misses: float, trials: float, rate: float) -> float:
    return misses * math.log(rate) + (trials - misses) * math.log1p(-rate)


def _mixture(misses: float, trials: float, low: float, high: float, log_null: float) -> float:
    """The mean over the rates from low to high of the likelihood, over that of the null. In logarithms throughout:
    where all of that stretch is unlikely, the null may be more so by far."""

    def log_likelihood(rate: float) -> float:
        return _log_likelihood(misses, trials, rate)

    top = min(max(misses / trials if trials else 0.0, low, _LEAST), high)
    most = log_likelihood(top)

    def edge(outer: float) -> float:
        """Between the top and an end of the stretch: where the likelihood, which falls all the way, is nothing."""
        inner = top
        if log_likelihood(outer) > most - _NOTHING:
            return outer
        for _ in range(60):
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if log_likelihood(middle) > most - _NOTHING else (inner, middle)
        return outer

    total = 0.0
    for begin, end in ((edge(max(low, _LEAST)), top), (top, edge(high))):
        rates = begin + (end - begin) * _NODES
        logs = misses * np.log(rates) + (trials - misses) * np.log1p(-rates)
        total += (end - begin) * float(_WEIGHTS @ np.exp(logs - most))
    if total <= 0:
        return 0.0
    log_value = most + math.log(total) - math.log(high - low) - log_null
    return math.exp(log_value) if log_value < 700 else math.inf


def rate_upper_always(misses: float, trials: float, confidence: float) -> float:
    """The upper end of the confidence sequence: the smallest rate that is rejected. It holds at all looks."""
    if trials <= misses:
        return 1.0
    return _edge(lambda rate: shown_below(misses, trials, rate) >= 1 / (1 - confidence), misses / trials, 1.0)


def rate_lower_always(misses: float, trials: float, confidence: float) -> float:
    """Its lower end: the largest rate that is rejected."""
    if misses <= 0 or trials <= 0:
        return 0.0
    share = min(misses / trials, 1 - 1e-12)
    return _edge(lambda rate: shown_above(misses, trials, rate) < 1 / (1 - confidence), share * 1e-6, share)


def _edge(beyond: Callable[[float], bool], low: float, high: float) -> float:
    """Where a condition begins to hold, by bisection of the logarithm."""
    low, high = math.log(max(low, 1e-15)), math.log(min(high, 1 - 1e-12))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(math.exp(middle)) else (middle, high)
    return math.exp(high)


def trials_without_miss(rate: float, confidence: float = 0.95, theta: float = 1.0) -> int:
    """How many samples without a miss show that a rate is below `rate` in spite of repeated looks: at 95 % about
    3.4 / rate, where one look needs 3.0."""
    low, high = 0.0, 1.0
    while shown_below(0, high / rate, rate) < 1 / (1 - confidence):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if shown_below(0, middle / rate, rate) < 1 / (1 - confidence):
            low = middle
        else:
            high = middle
    return math.ceil(high / rate / theta)
