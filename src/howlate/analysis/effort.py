"""How much must be measured before a question can be answered: samples for a rate, time for a horizon, pairs of runs
for a difference. docs/verdict.md has the formulas, docs/compare.md the test of the pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from howlate.analysis.bounds import trials_needed
from howlate.analysis.paired import signed_rank_tails
from howlate.analysis.sequential import trials_without_miss

MISSES = (0, 1, 2, 5)
"""For so many misses among the samples the need is named."""
NOISE = 0.52
"""The standard deviation of the logarithm of a pair's ratio where nothing differs, of normal noise: with it 6, 8 and
12 pairs find a factor of two nearly as often as among recorded runs of one kernel (60, 83 and 94 %)."""
PAIRS = (6, 8, 10, 12, 16, 20, 24)
SIMULATED = 20_000
SEED = 20100601


@dataclass(frozen=True)
class Effort:
    """To show that a rate of misses is tolerable."""

    misses: int
    """Among the samples."""
    activations: int


def rate_efforts(rate: float, confidence: float, theta: float = 1.0) -> list[Effort]:
    """How many activations, by how many of them miss."""
    return [Effort(misses, trials_needed(rate, misses, confidence, theta)) for misses in MISSES]


def until_decided(rate: float, confidence: float, theta: float = 1.0) -> int:
    """How many activations without a miss decide it while it is measured (analysis/sequential.py)."""
    return trials_without_miss(rate, confidence, theta)


def horizon_effort_s(horizon_s: float, confidence: float) -> float:
    """How long to measure so that the maximum bounds the next stretch: H c / (1 - c)."""
    return horizon_s * confidence / (1 - confidence)


@dataclass(frozen=True)
class Power:
    """How often so many pairs of runs find a difference."""

    pairs: int
    share: float


def powers(
    ratio: float, confidence: float = 0.95, noise: float = NOISE, pairs: Sequence[int] = PAIRS
) -> list[Power]:
    """Simulated with a fixed seed: normal logarithms of ratios about the true one, the exact signed-rank test. The
    error of a share is 0.4 points."""
    random = np.random.default_rng(SEED)
    return [Power(n, _power(abs(math.log(ratio)), n, confidence, noise, random)) for n in pairs]


def _power(shift: float, pairs: int, confidence: float, noise: float, random: np.random.Generator) -> float:
    logs = random.normal(shift, noise, (SIMULATED, pairs))
    ranks = np.argsort(np.argsort(np.abs(logs), axis=1), axis=1) + 1
    statistic = (ranks * (logs < 0)).sum(axis=1)
    return float((statistic <= _critical(pairs, confidence)).mean())


def _critical(pairs: int, confidence: float) -> int:
    """The largest signed-rank sum that rejects on one side of a two-sided test; -1 where none does."""
    return int(np.searchsorted(2 * signed_rank_tails(pairs), 1 - confidence, side="right")) - 1
