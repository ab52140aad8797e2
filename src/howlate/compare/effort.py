"""How much must be measured before a question can be answered: samples for a rate, time for a horizon, pairs of runs
for a difference. docs/verdict.md has the formulas, docs/compare.md the test of the pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from howlate.model.summary import MISSES
from howlate.sides.paired import Reals
from howlate.sides.sides import COMPARED, HALF_A_MISS, P999, fewest_pairs, holm_rows, margin_ps
from howlate.statistics.bounds import trials_needed, with_reserve
from howlate.statistics.special import chi2_sf
from howlate.statistics.tail import FEWEST
from howlate.verdict.sequential import trials_without_miss

CHANCE = 0.95
"""With which the suggested number of activations passes."""
WITHHELD = 0.04
"""Each of four diagnostics withholds the bound of one clean run in a hundred."""
SPARE = 1.9
"""How late samples cluster is estimated from one in a thousand, N of them: in all but 4 % of the attempts that costs
less than SPARE / sqrt(N) of the activations (of independent ones, by simulation)."""
TAIL = 1_000
TRUE_SHARES = (0.0, 0.1, 1 / 3)
"""True rates, as shares of the tolerated one, for which the need is named."""
MOST_GROUPS = 10_000
FEWEST_SAMPLES = 2 * FEWEST
"""Below it there is no tail whose clusters could be seen."""
STEPS = 6

NOISE: Mapping[str, float] = {"0.5": 0.18, P999: 0.86, "max": 1.32, "stddev": 1.01}
"""The standard deviation of the logarithm of a pair's ratio where nothing differs: of neighbouring cells of 12 s of
two recorded series of a virtual machine (1e7 releases at 200 us, 2e6 at 1 ms), the larger of the two."""
PAIRS = (6, 8, 10, 12, 16, 24, 48)
SIMULATED = 2_000
SEED = 20100601


class Effort(Struct, frozen=True):
    """The activations that show a rate of misses to be tolerable."""

    true_rate: float
    misses: int
    """The largest number of misses with which it passes."""
    activations: int


def rate_efforts(
    rate: float,
    confidence: float,
    period_s: float,
    theta: float = 1.0,
    true_rates: Sequence[float] | None = None,
) -> list[Effort]:
    """How many activations pass with CHANCE, by the true rate. Where it is not below the tolerated one, none do."""
    named = [share * rate for share in TRUE_SHARES] if true_rates is None else true_rates
    efforts = [_rate_effort(rate, confidence, period_s, theta, true) for true in named]
    return [effort for effort in efforts if effort is not None]


def _rate_effort(
    rate: float, confidence: float, period_s: float, theta: float, true_rate: float
) -> Effort | None:
    """With the fewest groups of misses that are more than the true rate brings in all but 1 - CHANCE of the attempts.
    Misses come in groups of 1 / theta, whose number is Poisson's."""

    def activations(groups: int) -> int:
        needed = _needed(rate, groups, confidence, period_s, theta)
        return max(FEWEST_SAMPLES, math.ceil(needed * (1 + min(0.5, SPARE * math.sqrt(TAIL / needed)))))

    def passes(groups: int) -> bool:
        expected = true_rate * theta * activations(groups)
        return not expected or chi2_sf(2 * expected, 2 * groups + 2) * (1 - WITHHELD) >= CHANCE

    low, high = -1, 0
    while not passes(high):
        low, high = high, 2 * high + 1
        if high > MOST_GROUPS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return Effort(true_rate, math.floor(high / theta + 1e-9), activations(high))


def _needed(rate: float, groups: int, confidence: float, period_s: float, theta: float) -> int:
    """How many activations show the rate, given the number of groups that miss. The longer they take, the
    less is added for a turn that was not seen: the steps end near the number that suffices for itself."""
    needed = trials_needed(rate, 2 * groups, confidence, theta)
    again = needed
    for _ in range(STEPS if groups else 0):
        needed = (needed + again) // 2
        again = trials_needed(rate, with_reserve(groups, needed * period_s), confidence, theta)
    return max(needed, again)


def horizon_effort_s(horizon_s: float, confidence: float) -> float:
    """How long to measure so that the maximum bounds the horizon: H c / (1 - c)."""
    return horizon_s * confidence / (1 - confidence)


class Misses(Struct, frozen=True):
    """What a repetition misses where nothing differs."""

    expected: float
    group: float = 1.0
    """How many come together."""


class Power(Struct, frozen=True):
    """How often `compare` finds the ratio in one figure among others that do not differ, by the number of pairs."""

    pairs: int
    figures: Mapping[str, float]


def figures_compared(*, has_deadline: bool) -> tuple[str, ...]:
    """The figures that Holm covers, in cells with enough samples for each."""
    return tuple(name for name in COMPARED if name != MISSES or has_deadline)


def powers(
    ratio: float,
    figures: Sequence[str] = figures_compared(has_deadline=False),
    misses: Misses | None = None,
    pairs: Sequence[int] = PAIRS,
    noise: Mapping[str, float] = NOISE,
) -> list[Power]:
    """Simulated with a fixed seed: normal logarithms of ratios about the true one, Poisson's counts of groups of
    misses, and the test of `compare` itself, with its margin and Holm. The error of a share is 1.1 points. Of misses
    the answer leaves them out if their number is unknown; they take part all the same."""
    random = np.random.default_rng(SEED)
    return [_power(math.log(ratio), figures, misses, n, noise, random) for n in pairs]


def _power(
    shift: float,
    figures: Sequence[str],
    misses: Misses | None,
    pairs: int,
    noise: Mapping[str, float],
    random: np.random.Generator,
) -> Power:
    simulated = [name for name in figures if name != MISSES or misses is not None]
    alike = np.ones((SIMULATED, len(figures)))
    apart = alike.copy()
    for name in simulated:
        at = figures.index(name)
        for ps, of_shift in ((alike, 0.0), (apart, shift)):
            if misses is not None and name == MISSES:
                logs = _ratios_of_misses(of_shift, misses, pairs, random)
            else:
                logs = random.normal(of_shift, noise[name], (SIMULATED, pairs))
            found, sides = margin_ps(logs, logs)
            ps[:, at] = np.where(sides * of_shift < 0, 1.0, found)
    return Power(pairs, {name: _found(alike, apart, figures.index(name)) for name in simulated})


def _found(alike: Reals, apart: Reals, at: int) -> float:
    """How often the figure at that place is found, if it alone differs."""
    one_apart = alike.copy()
    one_apart[:, at] = apart[:, at]
    return float(holm_rows(one_apart)[:, at].mean())


def _ratios_of_misses(shift: float, misses: Misses, pairs: int, random: np.random.Generator) -> Reals:
    shape, groups = (SIMULATED, pairs), misses.expected / misses.group
    first = misses.group * random.poisson(groups * math.exp(shift), shape) + HALF_A_MISS
    second = misses.group * random.poisson(groups, shape) + HALF_A_MISS
    ratios: Reals = np.log(first / second)
    return ratios


def fewest(figures: Sequence[str]) -> int:
    """The least number of pairs that can show a difference."""
    return fewest_pairs(len(figures))


def rate_json(
    miss_rate: float, true_rate: float | None, period_s: float, cluster: float, confidence: float
) -> dict[str, Any]:
    """How many activations show a rate, by the true one: none where no number is enough."""
    theta = 1 / cluster
    efforts = rate_efforts(miss_rate, confidence, period_s, theta, None if true_rate is None else [true_rate])
    decided = trials_without_miss(miss_rate, confidence, theta)
    return {
        "miss_rate": miss_rate,
        "theta": theta,
        "chance": CHANCE,
        "by_misses": [{**asdict(effort), "seconds": effort.activations * period_s} for effort in efforts],
        "until_decided": {"activations": decided, "seconds": decided * period_s},
    }


def horizon_json(horizon_s: float, confidence: float) -> dict[str, Any]:
    return {"horizon_s": horizon_s, "seconds": horizon_effort_s(horizon_s, confidence)}


def pairs_json(ratio: float, *, has_deadline: bool, misses: tuple[float, float] | None) -> dict[str, Any]:
    """How often `compare` finds a ratio. `misses`: how many a run has, and how many come together."""
    figures = figures_compared(has_deadline=has_deadline)
    found = powers(ratio, figures, None if misses is None else Misses(*misses))
    return {
        "ratio": ratio,
        "figures": list(figures),
        "fewest": fewest(figures),
        "noise": dict(NOISE),
        "misses": None if misses is None else {"expected": misses[0], "cluster": misses[1]},
        "power": [{"pairs": power.pairs, "found": dict(power.figures)} for power in found],
    }
