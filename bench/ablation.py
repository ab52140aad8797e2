"""Whether each part of the rule for a rate of misses is needed: the verdict with one part left out, on misses for
which that part was made.

    ./dev bench ablation [--repetitions 300] [--seed 1] [--only TEXT]

The rate is the tolerated one. Of each part: how often the verdict is wrong (PASS or FAIL) with the whole rule, and
without the part, where it must be wrong in more than 5 %, and more often than with the whole rule. Exit code 1 if
not. Fixed seeds, so equal figures each time (of one numpy); both see the same series.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from figures import Figure, Measure, Part, asked_of, simulated  # noqa: E402
from misses import EXPECTED, RATE, wilson  # noqa: E402

from howlate.verdict import forbids, rate  # noqa: E402
from howlate.verdict.evidence import Evidence  # noqa: E402
from howlate.verdict.ruling import Question, Ruling  # noqa: E402
from howlate.verdict.verdict import verdict  # noqa: E402
from made_misses import (  # noqa: E402
    DEADLINE_NS,
    OTHERS,
    PROCESSES,
    Process,
    Round,
    evidence_of,
    misses_of,
    of_cpus,
)

PARTS = (
    Part(
        "ablation",
        "how often a verdict on a rate of misses is wrong where one part of its rule is left out",
        ("--repetitions", "200"),
        deterministic=True,
    ),
)
CPUS = 16
"""On four the reserve for a turn that was not seen hides what the share of the level is for."""
EVERY = {**PROCESSES, **OTHERS}
Made = Callable[[Process, np.random.Generator], Evidence]


def at_once(process: Process, random: np.random.Generator) -> Evidence:
    """One look at the whole of it."""
    n = round(EXPECTED / RATE)
    return evidence_of([Round.of(random, misses_of(process, random, n, RATE), n)])


def on_cpus(process: Process, random: np.random.Generator) -> Evidence:
    n = round(EXPECTED / RATE)
    return evidence_of([of_cpus(random, [misses_of(process, random, n, RATE) for _ in range(CPUS)], n)])


class Left(Struct, frozen=True):
    """A part of the rule, and what stands for it where it is left out."""

    process: str
    replaced: Mapping[tuple[Any, str], Any]
    """By object and name of its member."""
    made: Made = at_once


def _without_sizes(of: rate.Trials, cluster: float = 1.0) -> float:
    return 1.0 / of.index


def _lowers_apart(evidence: Evidence, asked: Question, trials: Any, *, is_dependent: bool) -> list[float]:
    return [rate._lower(of, asked, asked.confidence, is_dependent=is_dependent) for of in trials]


LEFT: Mapping[str, Left] = {
    "the test whether misses come in bursts": Left(
        "bursts of 10 in 1,000 releases",
        {(forbids, "bursts_of_misses"): lambda _: [], (rate, "dispersion_of_misses"): lambda *_: None},
    ),
    "the sizes of the groups of misses": Left("stalls of 30", {(rate.Trials, "independent"): _without_sizes}),
    "one larger group than was seen": Left("Pareto stalls, 1.2 up to 1,000", {(rate, "LONGER"): 0}),
    "the share of the level for each CPU": Left("single", {(rate, "lowers_of"): _lowers_apart}, on_cpus),
}


@contextmanager
def without(part: Left) -> Iterator[None]:
    """The rule without it."""
    kept = {(of, name): vars(of)[name] for of, name in part.replaced}
    try:
        for (of, name), other in part.replaced.items():
            setattr(of, name, other)
        yield
    finally:
        for (of, name), was in kept.items():
            setattr(of, name, was)


def ruled(evidence: Evidence) -> Ruling:
    return verdict(evidence, Question(DEADLINE_NS, RATE)).outcome


def is_needed(name: str, part: Left, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """Wrong with the whole rule, and without the part."""
    whole: Counter[Ruling] = Counter()
    left: Counter[Ruling] = Counter()
    for _ in range(repetitions):
        evidence = part.made(EVERY[part.process], random)
        whole[ruled(evidence)] += 1
        with without(part):
            left[ruled(evidence)] += 1
    found = []
    for ruling in (Ruling.PASS, Ruling.FAIL):
        label = f"{part.process}, without {name}: false {ruling}"
        found += [
            Figure(label, round(100 * left[ruling] / repetitions, 1), "%"),
            Figure(f"{label} by the whole rule", round(100 * whole[ruling] / repetitions, 1), "%"),
        ]
    worst = max((Ruling.PASS, Ruling.FAIL), key=lambda ruling: left[ruling] - whole[ruling])
    low, _ = wilson(left[worst], repetitions)
    least = max(5.0, round(100 * whole[worst] / repetitions, 1))
    label = f"{part.process}, without {name}: false {worst}: lower end"
    return [*found, Figure(label, round(100 * low, 1), "%", at_least=least)]


def measures(repetitions: int) -> list[tuple[str, Measure]]:
    """What is measured, by name. New ones go to the end, so that the others keep their generators."""
    return [(f"without {name}", partial(is_needed, name, part, repetitions)) for name, part in LEFT.items()]


if __name__ == "__main__":
    asked = asked_of(__doc__, repetitions=300)
    sys.exit(simulated(measures(asked.repetitions), asked))
