"""Where a series of single values, one a run, changes its level: from which of them on."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

LEVEL = 0.05
FEWEST = 6
"""With fewer values no division can be told from chance at LEVEL."""
_SHORTEST = 2
"""Fewest values of a segment: one alone is an outlier."""
_LEAST_PERMUTATIONS = 399
_ROUNDS = 10
_BATCH = 1 << 18
"""Values that are permuted at once."""

Reals = npt.NDArray[np.float64]


class Division(Struct, frozen=True):
    """A place between two segments."""

    at: int
    """The first value of the later segment."""
    p: float
    """The p of the permutation test that showed it."""


def change_points(values: npt.ArrayLike, level: float = LEVEL, seed: int = 1) -> tuple[Division, ...]:
    """The places at which the level changes, in order.

    The series is divided repeatedly (Matteson and James 2014, section 3): of all divisions of all segments
    the one whose statistic is largest is tested, and counts if its p is at most `level`; the first that does not ends
    the search. After each, all are placed anew between their neighbours (Bai 1997).

    The statistic of a division after t of n values is the Wilcoxon rank sum, standardised: |sum of the first t
    midranks - t (n + 1) / 2| / sqrt(t (n - t) / (n - 1) * variance of the midranks) (Pettitt 1979; Hawkins and Deng
    2010 for the standardised form, which also finds changes near the ends). p = (1 + number of permutations with as
    large a statistic) / (1 + permutations), the values of each segment permuted within it.

    Where the values of a segment are exchangeable, a division too many is found with a probability of about `level`,
    however many true ones there are: the first test after the last true one has to reject. The same series and seed
    give the same places.
    """
    series = np.asarray(values, np.float64)
    random = np.random.default_rng(seed)
    found: list[Division] = []
    while True:
        edges = [0, *sorted(division.at for division in found), len(series)]
        segments = [_Segment.of(series, edges[i], edges[i + 1]) for i in range(len(edges) - 1)]
        open_ones = [segment for segment in segments if segment.divisible]
        if not open_ones or len(series) < FEWEST:
            break
        best = max(open_ones, key=lambda segment: segment.statistic)
        p = _p_value(open_ones, best.statistic, level, random)
        if p > level:
            break
        found = _repartitioned(series, [*found, Division(best.at, p)])
    return tuple(found)


def _repartitioned(series: Reals, found: list[Division]) -> list[Division]:
    """Each division moved to the best place between its neighbours, until none moves: the first division was
    placed while others were not known."""
    divisions = sorted(found, key=lambda division: division.at)
    for _ in range(_ROUNDS):
        before = [division.at for division in divisions]
        for i, division in enumerate(divisions):
            start = divisions[i - 1].at if i else 0
            end = divisions[i + 1].at if i + 1 < len(divisions) else len(series)
            between = _Segment.of(series, start, end)
            divisions[i] = replace(division, at=between.at) if between.divisible else division
        if before == [division.at for division in divisions]:
            break
    return divisions


class _Segment(Struct, frozen=True):
    """Consecutive values: their midranks less the mean, and their best division."""

    ranks: Reals
    at: int
    statistic: float

    @property
    def divisible(self) -> bool:
        return self.statistic > 0

    @classmethod
    def of(cls, series: Reals, start: int, end: int) -> _Segment:
        ranks = midranks(series[start:end])
        ranks -= ranks.mean() if len(ranks) else 0.0
        if len(ranks) < 2 * _SHORTEST or not ranks.any():
            return cls(ranks, start, 0.0)
        along = _statistics(ranks[np.newaxis, :])[0]
        place = int(along.argmax())
        return cls(ranks, start + place + _SHORTEST, float(along[place]))


def midranks(values: Reals) -> Reals:
    """From 1; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Reals = (last - (counts - 1) / 2.0)[inverse]
    return ranks


def _statistics(ranks: Reals) -> Reals:
    """Of each row of ranks (whose mean is 0) the statistic of each division, none of them too near to an end."""
    n = ranks.shape[1]
    first = np.arange(_SHORTEST, n - _SHORTEST + 1)
    scale = np.sqrt(first * (n - first) / (n - 1) * np.mean(ranks[0] ** 2))
    sums: Reals = np.abs(np.cumsum(ranks, axis=1)[:, first - 1]) / scale
    return sums


def _p_value(segments: list[_Segment], statistic: float, level: float, random: np.random.Generator) -> float:
    """The p of the largest statistic of all segments. Permuting ends as soon as p must be above the level (Besag and
    Clifford 1991): the decision is that of all permutations."""
    permutations = max(_LEAST_PERMUTATIONS, math.ceil(4 / level) - 1)
    length = sum(len(segment.ranks) for segment in segments)
    as_large = done = 0
    while done < permutations and 1 + as_large <= level * (1 + permutations):
        rows = min(permutations - done, max(1, _BATCH // length), max(20, done))
        largest = np.zeros(rows)
        for segment in segments:
            shuffled = random.permuted(np.tile(segment.ranks, (rows, 1)), axis=1)
            np.maximum(largest, _statistics(shuffled).max(axis=1), out=largest)
        as_large += int((largest >= statistic * (1 - 1e-12)).sum())
        done += rows
    return (1 + as_large) / (1 + done)
