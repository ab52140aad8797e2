"""Two settings compared by interleaved pairs of runs: the Hodges-Lehmann ratio and its exact interval.

The logarithms of the pairs' ratios are taken to be symmetric about the true one. The estimate is the median
of their Walsh averages; the interval inverts Wilcoxon's signed-rank test with its exact distribution
(Hollander & Wolfe, Nonparametric Statistical Methods, section 3.2). Interleaved pairs keep 94.5-97 % where
tests on samples find a difference always (docs/statistics.md).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from numpy.typing import ArrayLike

Reals = npt.NDArray[np.float64]
Steps = tuple[float | Reals, float | Reals]
NO_STEPS: Steps = (0.0, 0.0)
"""By how much the true values of each side may be larger than those that are given, which are rounded down: of all
pairs, or of each."""


class RatioInterval(Struct, frozen=True):
    """first / second, with an interval that covers the true ratio with probability `confidence`."""

    ratio: float
    low: float
    high: float
    """Infinite where the second may be none at all."""
    confidence: float
    """The exact confidence: at least what was requested."""
    pairs: int

    def turned(self) -> RatioInterval:
        high = 1 / self.low if self.low else math.inf
        return RatioInterval(1 / self.ratio, 1 / self.high, high, self.confidence, self.pairs)


def signed_rank_tails(n: int) -> Reals:
    """P(W <= w) of the signed-rank statistic for w = 0 .. n(n+1)/2, each of the 2^n sign patterns as likely.

    Up to 52 pairs the probabilities are exact, beyond to 1e-12 of themselves; those below 1e-300 are less so, or 0.
    """
    chances = np.zeros(n * (n + 1) // 2 + 1)
    chances[0] = 1
    known = 1
    for rank in range(1, n + 1):
        chances[:known] /= 2
        chances[rank : known + rank] += chances[:known].copy()
        known += rank
    return np.cumsum(chances)


def log_ratios(first: ArrayLike, second: ArrayLike, steps: Steps = NO_STEPS) -> tuple[Reals, Reals]:
    """The logarithms of first / second: the smallest and the largest that rounded values allow."""
    firsts, seconds = np.asarray(first, float), np.asarray(second, float)
    if firsts.shape != seconds.shape or firsts.ndim != 1:
        raise ValueError("pairs need two series of the same length")
    if not (np.all(firsts > 0) and np.all(seconds > 0)):
        raise ValueError("a ratio needs positive numbers")
    lows: Reals = np.log(firsts / (seconds + steps[1]))
    highs: Reals = np.log((firsts + steps[0]) / seconds)
    return lows, highs


def walsh_averages(logs: Reals) -> Reals:
    """The means of all pairs of values, each with itself too; of each row, where there are rows."""
    i, j = np.triu_indices(logs.shape[-1])
    averages: Reals = (logs[..., i] + logs[..., j]) / 2
    return averages


def hodges_lehmann(first: ArrayLike, second: ArrayLike) -> float:
    """The estimate of first / second alone."""
    return float(np.exp(np.median(walsh_averages(log_ratios(first, second)[0]))))


def ratio_interval(
    first: ArrayLike, second: ArrayLike, confidence: float = 0.95, steps: Steps = NO_STEPS
) -> RatioInterval | None:
    """The Hodges-Lehmann ratio of two series of positive numbers that were measured in pairs. Of rounded values the
    interval holds whatever was rounded off.

    None if the pairs are too few for an interval of that confidence (five lack one of 95 %).
    """
    lows, highs = log_ratios(first, second, steps)
    n = len(lows)
    missed = 2 * signed_rank_tails(n)
    # The largest k whose lower tail P(W < k) stays within half of what may be missed.
    k = int(np.searchsorted(missed, 1 - confidence, side="right"))
    if k == 0 or not missed[k - 1]:
        return None
    return RatioInterval(
        ratio=hodges_lehmann(first, second),
        low=float(np.exp(np.sort(walsh_averages(lows))[k - 1])),
        high=float(np.exp(np.sort(walsh_averages(highs))[-k])),
        confidence=1 - float(missed[k - 1]),
        pairs=n,
    )
