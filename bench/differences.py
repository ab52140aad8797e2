"""Whether `compare`, `plan` and `history` find as much, and as little, as they say, on noise whose truth is known.

    ./dev bench differences [--repetitions 400] [--seed 1] [--only TEXT]

`compare`: of several kinds of noise how often two equal sides are told apart in any of five figures (at most 5 %),
how often sides that differ by more than the margin are called equal in a figure (at most 2.5 %), and for each figure
how far the share of factors found is from what `plan` says (at most 5 points). `history`: of several kinds of runs
without a change how often anything is called one by somebody who looks after every second of 60 runs (at most 5 %),
and how often a step of 1.5 is found within four runs. Limits are what is promised and twice the binomial error of the
repetitions; kinds without one are published as they are. Fixed seeds, so equal figures each time (of one numpy).
"""

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from figures import Figure, Measure, Part, asked_of, simulated  # noqa: E402

from howlate.compare.effort import NOISE, Misses, powers  # noqa: E402
from howlate.model.summary import MISSES  # noqa: E402
from howlate.sides.sides import COMPARED, HALF_A_MISS, MARGIN, decided_together  # noqa: E402
from made_noise import PAIRED, RUNS_WITHOUT_A_CHANGE, SPREAD, ar, history_of, is_called  # noqa: E402

PARTS = (
    Part(
        "differences",
        "how often compare and history call a difference where there is none, and find one where there is",
        deterministic=True,
    ),
)
PAIRS = 12
MISSED = Misses(12.0)
RATIO = 2.0
LEVEL = 0.05

Reals = npt.NDArray[np.float64]


def most(promised: float, repetitions: int) -> float:
    """The largest share, in percent, that `promised` is compatible with."""
    return round(100 * (promised + 2 * math.sqrt(promised * (1 - promised) / max(1, repetitions))), 1)


def values_of(
    noise: Callable[[np.random.Generator, float, int], Reals],
    factors: Mapping[str, float],
    random: np.random.Generator,
    pairs: int = PAIRS,
) -> dict[str, tuple[list[float], list[float]]]:
    """Both sides' values of each figure; the first is so many times as large."""
    values = {}
    for figure in COMPARED:
        factor = factors.get(figure, 1.0)
        if figure == MISSES:
            first, second = (random.poisson(MISSED.expected * f, pairs) + HALF_A_MISS for f in (factor, 1.0))
        else:
            first = factor * np.exp(noise(random, NOISE[figure], pairs))
            second = np.ones(pairs)
        values[figure] = (list(map(float, first)), list(map(float, second)))
    return values


def equal_sides(name: str, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """How often some figure is called different where none is, and equal where it is just not."""
    wrong, equal = 0, dict.fromkeys(COMPARED, 0)
    outside = dict.fromkeys(COMPARED, MARGIN * 1.01)
    for _ in range(repetitions):
        told = decided_together(values_of(PAIRED[name], {}, random)).values()
        wrong += any(each.direction in ("smaller", "larger") for each in told)
        for figure, each in decided_together(values_of(PAIRED[name], outside, random)).items():
            equal[figure] += each.direction == "equal"
    worst = max(equal.values())
    return [
        Figure(
            f"compare, {name}: a false difference",
            round(100 * wrong / repetitions, 1),
            "%",
            at_most=most(LEVEL, repetitions),
        ),
        Figure(
            f"compare, {name}: a ratio of {MARGIN * 1.01:.3g} called equal, the worst figure",
            round(100 * worst / repetitions, 1),
            "%",
            at_most=most(LEVEL / 2, repetitions),
        ),
    ]


def power(pairs: int, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """Of each figure, if it alone differs: found by compare, and by how much plan says otherwise."""
    (planned,) = powers(RATIO, COMPARED, MISSED, [pairs])
    found = []
    for figure in COMPARED:
        hits = sum(
            decided_together(values_of(PAIRED["normal"], {figure: RATIO}, random, pairs))[figure].direction
            == "larger"
            for _ in range(repetitions)
        )
        share, said = 100 * hits / repetitions, 100 * planned.figures[figure]
        label = f"{pairs} pairs, a factor of {RATIO:g} in {figure}"
        error = 200 * math.sqrt(max(share, 1) / 100 * (1 - min(share, 99) / 100) / repetitions)
        found += [
            Figure(f"{label}: found", round(share, 1), "%"),
            Figure(
                f"{label}: plan says otherwise by", round(abs(share - said), 1), "points",
                at_most=round(5 + error, 1),
            ),
        ]  # fmt: skip
    return found


def without_a_change(name: str, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """How often somebody who looks after every second of 60 runs is told of a change."""
    kind = RUNS_WITHOUT_A_CHANGE[name]
    called = sum(is_called(kind.made(random), kind.boots(random)) for _ in range(repetitions))
    limit = most(LEVEL, repetitions) if kind.is_promised else None
    return [
        Figure(
            f"history, {name}: a false change in 60 runs",
            round(100 * called / repetitions, 1),
            "%",
            at_most=limit,
        )
    ]


def step(
    factor: float, noise: float, before: int, r: float, repetitions: int, random: np.random.Generator
) -> list[Figure]:
    """How often a step is called for the worse within four runs, and how often at its place or one beside it. `r`:
    the correlation of neighbours."""
    found = placed = 0
    for _ in range(repetitions):
        values = 1e5 * np.exp(noise * ar(random, r, before + 4))
        values[before:] *= factor
        (course,) = history_of(values[np.newaxis], ["max"])
        worse = [change for change in course.changes if change.is_worse and change.at >= before - 2]
        found += bool(worse)
        placed += any(abs(change.at - before) <= 1 for change in worse)
    label = f"history, a step of {factor:g} after {before} runs, noise of {noise:g}"
    label += f", correlation of neighbours {r:g}" if r else ""
    promised = 90.0 if (factor, noise, before, r) == (1.5, 0.13, 30, 0) else None
    return [
        Figure(f"{label}: found within 4", round(100 * found / repetitions, 1), "%", at_least=promised),
        Figure(f"{label}: at its place or one beside it", round(100 * placed / max(1, found), 1), "%"),
    ]


def measures(repetitions: int) -> list[tuple[str, Measure]]:
    """What is measured, by name. New ones go to the end, so that the others keep their generators."""
    found: list[tuple[str, Measure]] = []

    def add(name: str, measure: Callable[..., list[Figure]], *given: object) -> None:
        found.append((name, lambda random: measure(*given, random)))

    for name in PAIRED:
        add(f"compare, {name}", equal_sides, name, repetitions)
    for pairs in (8, 12, 24):
        add("power", power, pairs, repetitions)
    for name in RUNS_WITHOUT_A_CHANGE:
        add(f"history, {name}", without_a_change, name, repetitions)
    for factor, noise, before in ((1.5, 0.13, 30), (1.5, 0.13, 12), (2.0, 0.3, 30), (1.2, 0.13, 30)):
        add("step", step, factor, noise, before, 0.0, repetitions)
    for r in (0.3, 0.5):
        add("step", step, 1.5, SPREAD, 30, r, repetitions)
    return found


if __name__ == "__main__":
    asked = asked_of(__doc__, repetitions=400)
    sys.exit(simulated(measures(asked.repetitions), asked))
