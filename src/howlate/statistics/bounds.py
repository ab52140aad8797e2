"""Bounds of a rate and of a quantile from independent samples, and how many samples they need. One-sided; formulas
and sources: docs/verdict.md."""

from __future__ import annotations

import math
from statistics import NormalDist

from howlate.statistics.special import beta_cdf, beta_quantile, chi2_quantile


def rate_upper(misses: float, trials: float, confidence: float) -> float:
    """Clopper and Pearson's upper bound of a rate: BetaInv(c; k + 1, n - k). `trials` may be an effective number."""
    if trials <= misses:
        return 1.0
    if misses == 0:
        return -math.expm1(math.log1p(-confidence) / trials)
    return beta_quantile(confidence, misses + 1, trials - misses)


def upper_is_at_most(limit: float, misses: float, trials: float, confidence: float) -> bool:
    """Whether rate_upper is at most `limit`: a comparison of probabilities, without the inversion."""
    if trials <= misses or misses == 0:
        return rate_upper(misses, trials, confidence) <= limit
    return beta_cdf(limit, misses + 1, trials - misses) >= confidence


RESERVE_S = 250.0
"""A run may have seen none of a machine's busy turns, or those alone. So the upper bounds of a rate are reckoned with
the misses of this many seconds more, and the lower ones with their releases (docs/verdict.md, "A turn that was not
seen")."""


def with_reserve(counted: float, seconds: float) -> float:
    """What was counted in this time (0: unknown), and what RESERVE_S would add, at most the same again."""
    return counted * (1 + (min(1.0, RESERVE_S / seconds) if seconds > 0 else 1.0))


def rate_lower(misses: float, trials: float, confidence: float) -> float:
    """Their lower bound: BetaInv(1 - c; k, n - k + 1)."""
    if misses <= 0 or trials <= 0:
        return 0.0
    return beta_quantile(1 - confidence, min(misses, trials), max(trials - misses, 0) + 1)


def lower_is_at_most(limit: float, misses: float, trials: float, confidence: float) -> bool:
    """Whether rate_lower is."""
    if misses <= 0 or trials <= 0:
        return True
    return beta_cdf(limit, min(misses, trials), max(trials - misses, 0) + 1) >= 1 - confidence


def events_upper(events: float, confidence: float) -> float:
    """The upper bound of how many events are expected after this number: chi2(c, 2k + 2) / 2 (F. Garwood 1936)."""
    return chi2_quantile(confidence, 2 * events + 2) / 2


def trials_needed(rate: float, misses: float = 0, confidence: float = 0.95, theta: float = 1.0) -> int:
    """How many samples show that a rate is at most `rate`, if `misses` miss: chi2(c, 2k + 2) / (2 p theta)."""
    return math.ceil(chi2_quantile(confidence, 2 * misses + 2) / (2 * rate * theta))


def quantile_bound_rank(share: float, trials: int, confidence: float) -> int | None:
    """The smallest rank r whose order statistic is at least the quantile `share` with this confidence: P(Bin(n, q) <
    r) >= c, that is 1 - I_q(r, n - r + 1) >= c. None where even the maximum (the share 1 - q^n) does not do."""
    if trials < 1 or -math.expm1(trials * math.log(share)) < confidence:
        return None
    spread = math.sqrt(trials * share * (1 - share))
    rank, step = round(trials * share + NormalDist().inv_cdf(confidence) * spread), 1
    low, high = 0, trials
    while high - low > 1:  # from the normal distribution's rank in doubled steps beyond it, then halved
        rank = min(max(rank, low + 1), high - 1)
        if 1 - beta_cdf(share, rank, trials - rank + 1) >= confidence:
            high, rank = rank, rank - step
        else:
            low, rank = rank, rank + step
        step *= 2
        if low > 0 and high < trials:
            rank = (low + high) // 2
    return high
