"""Deciding while measuring: whether a rate is above or below what is tolerated, looked at as often as one likes.

A bound for a fixed number of samples does not survive that one looks until it holds. A bet does: a player who stakes
on the misses of the next round, at odds that are fair if the rate is the one that is to be rejected, multiplies the
stake by 20 with a probability of a twentieth at most, whenever one looks (J. Ville 1939; I. Waudby-Smith, A. Ramdas:
Estimating means of bounded random variables by betting, Journal of the Royal Statistical Society B 86, 2024). It
needs nothing but the mean of a round, given the rounds before: within a round misses may depend on each other as they
like. docs/verdict.md has the stakes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct

CUT_OFF = 0.01
"""This part of a round's misses lies beyond its cap, at the rate that is to be rejected."""
STAKES_BELOW = np.array([1.0, 0.97, 0.92, 0.85, 0.7, 0.5, 0.3, 0.15, 0.07, 0.03])
"""In parts of the largest stake, which a round at its cap would lose. Half of the money is on the first, so that
rounds without a miss need little more than one look would; the rest is spread evenly."""
STAKES_ABOVE = np.geomspace(1e-3, 100.0, 24)
"""For each miss; spread evenly."""
MOST_ABOVE = 0.98
"""Of the stake, the most that a round without a miss loses."""
MANY_GROUPS = 500
STEP = 1.1
"""Rates are tried from 1 downwards in such steps before the last one is halved."""

Floats = npt.NDArray[np.float64]


class Rounds(Struct, frozen=True):
    """The rounds of one CPU, in the order in which they were measured."""

    releases: tuple[int, ...]
    misses: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]]) -> Rounds:
        """(releases, misses) of each; those without a release are left out."""
        held = [pair for pair in pairs if pair[0]]
        return cls(tuple(pair[0] for pair in held), tuple(pair[1] for pair in held))


def cap(mean: float, cluster: float) -> float:
    """The most misses that are counted in a round with `mean` of them: a multiple of `cluster`, so that CUT_OFF of
    them at most lie beyond if they come in groups of that size, each by itself."""
    groups, held = mean / cluster, 1.0
    if groups > MANY_GROUPS:
        return (groups + math.sqrt(groups) / 2) * cluster  # of a normal distribution less is beyond
    beyond = groups - 1 + math.exp(-groups) if groups > 1e-4 else groups**2 / 2
    term = math.exp(-groups)  # of exactly `held - 1` groups
    below = term
    while beyond > CUT_OFF * groups and held < 10 * groups + 100:
        term *= groups / held
        below += term
        beyond -= 1 - below
        held += 1
    return held * cluster


def shown_below(rounds: Rounds, rate: float, cluster: float = 1.0) -> float:
    """How strongly the rounds speak against a rate of misses of `rate` or more (an e-value; 20 is 95 % confidence),
    where at most `cluster` misses come together."""
    means = {count: count * rate for count in set(rounds.releases)}
    caps = {count: cap(mean, cluster) for count, mean in means.items()}
    mean = np.array([(1 - CUT_OFF) * means[count] for count in rounds.releases])
    most = np.array([caps[count] for count in rounds.releases])
    counted = np.minimum(np.array(rounds.misses, np.float64), most)
    gains = np.log1p(np.outer(STAKES_BELOW, (mean - counted) / (most - mean)).clip(min=-1 + 1e-12))
    rest = 0.5 / (len(STAKES_BELOW) - 1)
    return _mixture(gains.sum(axis=1), np.array([0.5, *[rest] * (len(STAKES_BELOW) - 1)]))


def shown_above(rounds: Rounds, rate: float) -> float:
    """How strongly they speak against a rate of `rate` or less, however many come together."""
    mean = np.array(rounds.releases, np.float64) * rate
    stakes = np.minimum(STAKES_ABOVE[:, None], MOST_ABOVE / mean[None, :])
    gains = np.log1p(stakes * (np.array(rounds.misses) - mean))
    return _mixture(gains.sum(axis=1), np.full(len(STAKES_ABOVE), 1 / len(STAKES_ABOVE)))


def beyond_cap(rounds: Rounds, rate: float, cluster: float) -> int:
    """The most misses of a round that had more than its cap at this rate; 0 of none: then nothing contradicts that so
    few come together."""
    pairs = zip(rounds.releases, rounds.misses, strict=True)
    return max((k for n, k in pairs if k > cap(n * rate, cluster)), default=0)


def _mixture(logs: Floats, weights: Floats) -> float:
    most = float(logs.max(initial=0.0))
    log_value = most + math.log(float(weights @ np.exp(logs - most)) or 1e-300)
    return math.exp(log_value) if log_value < 700 else math.inf


def rate_upper_always(rounds: Rounds, confidence: float, cluster: float = 1.0) -> float:
    """The upper end of the confidence sequence: all rates above are rejected. It holds at all looks. Never below the
    lower end: rounds so unlike that they leave no rate at all bound nothing."""
    needed = 1 / (1 - confidence)

    def rejected(rate: float) -> bool:
        return shown_below(rounds, rate, cluster) >= needed

    high = 1.0
    while high > 1e-15 and rejected(high / STEP):
        high /= STEP
    upper = _edge(rejected, high / STEP, high) if rejected(high) else 1.0
    return max(upper, rate_lower_always(rounds, confidence))


def rate_lower_always(rounds: Rounds, confidence: float) -> float:
    """Its lower end: all rates below are rejected."""
    if not sum(rounds.misses):
        return 0.0
    share = sum(rounds.misses) / sum(rounds.releases)
    return _edge(lambda rate: shown_above(rounds, rate) < 1 / (1 - confidence), share * 1e-6, share)


def _edge(beyond: Callable[[float], bool], low: float, high: float) -> float:
    """Where a condition begins to hold, by bisection of the logarithm."""
    low, high = math.log(max(low, 1e-15)), math.log(min(high, 1 - 1e-12))
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(math.exp(middle)) else (middle, high)
    return math.exp(high)


@lru_cache(maxsize=256)
def trials_without_miss(
    rate: float, confidence: float = 0.95, theta: float = 1.0, round_trials: float = 0.0
) -> int:
    """How many releases without a miss show that a rate is below `rate` in spite of repeated looks, in rounds of
    `round_trials` (0: as short as one likes): at 95 % about 3.4 / rate for misses that come singly, where one look
    needs 3.0, and as many times more as come together (1 / theta)."""
    per_round = round_trials or 0.01 / rate / theta
    mean = (1 - CUT_OFF) * per_round * rate
    gain = mean / (cap(per_round * rate, 1 / theta) - mean)
    logs = np.log1p(STAKES_BELOW * gain)
    weights = np.array([0.5, *[0.5 / (len(logs) - 1)] * (len(logs) - 1)])
    low, high = 0, 1
    while _mixture(high * logs, weights) < 1 / (1 - confidence):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high) if _mixture(middle * logs, weights) < 1 / (1 - confidence) else (low, middle)
        )
    return math.ceil(high * per_round)
