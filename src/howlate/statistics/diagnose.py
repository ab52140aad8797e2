"""Diagnostics of a series of latencies: do its largest values come in clusters, does it drift, and what does
the largest of the past say of the horizon. Formulas and sources: docs/statistics.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.statistics.describe import Int64s
from howlate.statistics.special import chi2_sf

DRAWS = 2_000
"""Draws for the p of few events."""
COARSE = 5
"""Intervals that are taken together at the second scale."""


def extremal_index(positions: npt.ArrayLike) -> float | None:
    """The extremal index by the intervals estimator: about 1 / (mean size of a cluster) of the exceedances, 1
    where they come singly. `positions` are the strictly increasing indices of the samples beyond a threshold.

    With the N - 1 distances T between them: if max T <= 2,  2 (sum T)^2 / ((N - 1) sum T^2),
    else  2 (sum (T - 1))^2 / ((N - 1) sum (T - 1)(T - 2)); at most 1. (Ferro and Segers 2003, eq. 3 and 5.)
    None below two exceedances.
    """
    at = np.asarray(positions, np.int64)
    if len(at) < 2:
        return None
    gaps = np.diff(at).astype(np.float64)
    if gaps.max() <= 2:
        theta = 2 * gaps.sum() ** 2 / (len(gaps) * (gaps**2).sum())
    else:
        theta = 2 * (gaps - 1).sum() ** 2 / (len(gaps) * ((gaps - 1) * (gaps - 2)).sum())
    return float(min(theta, 1.0))


def declustered(positions: npt.ArrayLike, theta: float, longest: float = math.inf) -> Int64s:
    """The first position of each cluster: the floor(theta N) - 1 largest gaps between N exceedances separate them; of
    equal gaps at the edge all or none, whichever is nearer to that number. (Ferro and Segers 2003, section 4: the run
    length is estimated, not chosen.) A gap above `longest` always does; neighbours, as a stall makes them, never."""
    at = np.asarray(positions, np.int64)
    gaps = np.diff(at)
    wanted = min(int(theta * len(at)) - 1, len(gaps))
    if wanted < 1:
        return np.concatenate((at[:1], at[1:][gaps > longest]))
    edge = np.sort(gaps)[::-1][wanted - 1]
    beyond, with_edge = gaps > edge, gaps >= edge
    apart = beyond if wanted - beyond.sum() < with_edge.sum() - wanted else with_edge
    return np.concatenate((at[:1], at[1:][(apart & (gaps > 1)) | (gaps > longest)]))


class Dispersion(Struct, frozen=True):
    """The dispersion of counts that would be Poisson's if events came by themselves."""

    index: float
    """Variance / mean: about 1 of Poisson counts, larger where events come in bursts."""
    p: float
    """The probability of so large a one from Poisson counts."""


def dispersion(counts: npt.ArrayLike) -> Dispersion | None:
    """Whether counts of equal stretches vary more than chance has it: sum (c - mean)^2 / mean against chi-squared
    with one degree of freedom less than there are counts (Cox and Lewis 1966, section 6.3). None of fewer than two,
    or of nothing counted."""
    numbers = np.asarray(counts, np.float64)
    if len(numbers) < 2 or numbers.sum() == 0:
        return None
    squares = float(((numbers - numbers.mean()) ** 2).sum() / numbers.mean())
    return Dispersion(squares / (len(numbers) - 1), chi2_sf(squares, len(numbers) - 1))


def clustering(
    counts: npt.ArrayLike, expected: npt.ArrayLike | None = None, draws: int = DRAWS
) -> Dispersion | None:
    """The same of events that may be few, counted in intervals that may differ in length (`expected`: in
    proportion to it; one of no time does not count), at two scales: the counts as they are, and five neighbours taken
    together, since what comes and goes slowly hides from short intervals. Below two events an interval the p is
    simulated (`draws` draws of as many events, with a fixed seed); twice the smaller of both. None of fewer than two
    events."""
    fine = np.asarray(counts, np.float64)
    weights = np.ones_like(fine) if expected is None else np.asarray(expected, np.float64)
    fine, weights = fine[weights > 0], weights[weights > 0]
    if len(fine) < 2 or fine.sum() < 2:
        return None
    coarse = np.arange(0, len(fine), COARSE)
    both = [(fine, weights), (np.add.reduceat(fine, coarse), np.add.reduceat(weights, coarse))]
    found = [
        _against_chance(numbers, share / share.sum(), draws) for numbers, share in both if len(numbers) > 1
    ]
    return Dispersion(max(one.index for one in found), min(1.0, len(found) * min(one.p for one in found)))


def _against_chance(
    counts: npt.NDArray[np.float64], shares: npt.NDArray[np.float64], draws: int
) -> Dispersion:
    """sum (c - e)^2 / e, where e are as many events in proportion to the shares."""
    total, free = int(counts.sum()), len(counts) - 1
    squares = float((counts**2 / shares).sum() / total - total)
    if total >= 2 * len(counts):
        return Dispersion(squares / free, chi2_sf(squares, free))
    drawn = _drawn(total, shares.tobytes(), draws)
    reached = len(drawn) - int(np.searchsorted(drawn, squares - 1e-9))
    return Dispersion(squares / free, (reached + 1) / (len(drawn) + 1))


@lru_cache(maxsize=64)
def _drawn(total: int, shares: bytes, draws: int) -> npt.NDArray[np.float64]:
    """That figure of `total` events that fall by chance, sorted."""
    share, random = np.frombuffer(shares), np.random.default_rng(DRAWS)
    sums = np.empty(draws)
    for start in range(0, draws, DRAWS):  # a part at a time: a row of counts for each draw
        part = sums[start : start + DRAWS]
        part[:] = random.multinomial(total, share, len(part)).astype(np.float64) ** 2 @ (1 / share)
    return np.sort(sums / total - total)


def same_distribution(groups: Sequence[npt.ArrayLike]) -> float | None:
    """The p of Kruskal and Wallis's rank test (1952) that groups of values come from one distribution: H = 12 /
    N(N + 1) sum R^2 / n - 3(N + 1), over 1 - sum (t^3 - t) / (N^3 - N) for ties, against chi-squared. None of fewer
    than two groups, or where all values are equal."""
    values = [np.asarray(group, np.float64) for group in groups]
    values = [group for group in values if len(group)]
    if len(values) < 2:
        return None
    every = np.concatenate(values)
    n = len(every)
    _, inverse, tied = np.unique(every, return_inverse=True, return_counts=True)
    correction = 1 - float((tied.astype(np.float64) ** 3 - tied).sum()) / (float(n) ** 3 - n)
    if correction <= 0:
        return None
    ranks = (np.cumsum(tied) - (tied - 1) / 2)[inverse]
    sums = [part.sum() ** 2 / len(part) for part in np.split(ranks, np.cumsum([len(v) for v in values])[:-1])]
    h = (12 / (n * (n + 1)) * float(sum(sums)) - 3 * (n + 1)) / correction
    return chi2_sf(h, len(values) - 1)


class Trend(Struct, frozen=True):
    """Kendall's rank correlation of a series with its order."""

    tau: float
    """-1 (always falling) to 1 (always rising); tau-b, ties corrected."""
    p: float
    """Two-sided, by the normal approximation; 1 where the series is constant."""


def kendall_trend(series: npt.ArrayLike, at: npt.ArrayLike | None = None) -> Trend | None:
    """Whether a series (the maxima of blocks) rises or falls, with its order or with the numbers `at`: Mann's test.
    S = number of rising less number of falling pairs; a pair of equal values, or at equal numbers, is neither. With
    groups of t equal values and u equal numbers var S = (n(n-1)(2n+5) - sum t(t-1)(2t+5) - sum u(u-1)(2u+5)) / 18
    + sum t(t-1) sum u(u-1) / 2n(n-1) + sum t(t-1)(t-2) sum u(u-1)(u-2) / 9n(n-1)(n-2); z = (|S| - 1) / sqrt(var S).
    (Mann 1945; Kendall 1975, ch. 4.) None below three values; meant for some hundred blocks: every pair is compared.
    """
    values = np.asarray(series)
    n = len(values)
    if n < 3:
        return None
    numbers = np.arange(n) if at is None else np.asarray(at)
    score = int(
        sum(float(_signs(values, i) @ _signs(numbers, i)) for i in range(n - 1))  # products of -1, 0 and 1
    )
    t, u = _tied(values), _tied(numbers)
    pairs = n * (n - 1) / 2
    untied = (pairs - _sum(t, 2) / 2) * (pairs - _sum(u, 2) / 2)
    if untied == 0:
        return Trend(0.0, 1.0)
    variance = (n * (n - 1) * (2 * n + 5) - _weighed(t) - _weighed(u)) / 18
    variance += _sum(t, 2) * _sum(u, 2) / (2 * n * (n - 1))
    variance += _sum(t, 3) * _sum(u, 3) / (9 * n * (n - 1) * (n - 2))
    z = max(abs(score) - 1, 0) / math.sqrt(variance)
    return Trend(score / math.sqrt(untied), math.erfc(z / math.sqrt(2)))


def _signs(values: npt.NDArray[Any], i: int) -> npt.NDArray[np.float64]:
    differences: npt.NDArray[np.float64] = np.subtract(values[i + 1 :], values[i], dtype=np.float64)
    signs: npt.NDArray[np.float64] = np.sign(differences)
    return signs


def _tied(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.unique(values, return_counts=True)[1].astype(np.float64)


def _sum(ties: npt.NDArray[np.float64], factors: int) -> float:
    """sum t(t-1), or t(t-1)(t-2)."""
    return float((ties * (ties - 1) * (ties - 2 if factors == 3 else 1)).sum())


def _weighed(ties: npt.NDArray[np.float64]) -> float:
    return float((ties * (ties - 1) * (2 * ties + 5)).sum())


def confidence_ahead(past_blocks: int, next_blocks: int) -> float:
    """With what confidence the maximum of B past blocks is not exceeded in the next M: B / (B + M).

    Among B + M exchangeable blocks each is equally likely to hold the largest value (ties count for the
    past); it assumes that the future's blocks are like the past's, nothing more. "As long again as was
    measured" is 0.5.
    """
    if past_blocks < 0 or next_blocks < 0 or past_blocks + next_blocks == 0:
        raise ValueError("there must be blocks")
    return past_blocks / (past_blocks + next_blocks)
