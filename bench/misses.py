"""How often a verdict on a rate of misses is wrong, or withheld, through the whole of `verdict()`, on misses of every
kind whose true rate is known.

    ./dev bench misses [--repetitions 1000] [--seed 1] [--only TEXT]

Fixed seeds, so equal figures each time (of one numpy), and of a part as of the whole. At the tolerated rate itself,
where a wrong verdict is likeliest: false PASS and false FAIL; beside them what was withheld. A share is held to 5 %
by its 95 % interval (E. B. Wilson 1927): the lower end at most 5 %, the upper end at most 7 % (at 1,000 repetitions).
Where a process changes its rate over the run, and of those of our own invention, the figures have no limit. Exit code
1 if a limit is not kept.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from figures import Figure, Measure, Part, asked_of, simulated  # noqa: E402

from howlate.model.summary import DeadlineSummary  # noqa: E402
from howlate.statistics.describe import Int64s  # noqa: E402
from howlate.verdict.ruling import Question, Ruling, Verdict, together  # noqa: E402
from howlate.verdict.sequential import Rounds, shown_above, shown_below  # noqa: E402
from howlate.verdict.verdict import verdict  # noqa: E402
from made_misses import (  # noqa: E402
    DEADLINE_NS,
    OTHERS,
    PROCESSES,
    Process,
    Round,
    counted,
    evidence_of,
    misses_of,
    of_cpus,
)

SHOWS = "how often a verdict on a rate of misses is wrong or withheld, by how misses come"
PARTS = (
    Part("misses, one look", SHOWS, ("--only", "one look", "--repetitions", "200"), deterministic=True),
    Part(
        "misses, good and bad machines",
        "whether they pass and fail",
        ("--only", "machine"),
        deterministic=True,
    ),
    Part("misses, few of them", SHOWS, ("--only", "few misses", "--repetitions", "200"), deterministic=True),
    Part(
        "misses, until decided",
        SHOWS,
        ("--only", "until decided", "--repetitions", "400"),
        deterministic=True,
    ),
)
EXPECTED = 100
"""Misses at the tolerated rate."""
FEW_EXPECTED = (15, 30)
"""Misses at a tolerated rate of ROUNDS_RATE of which a quiet run may see a few, or none."""
RATE = 1e-4
ROUND, ROUNDS_RATE, LOOKS, LONGEST = 10_000, 1e-3, 20, 80
"""--until-decided: releases of a round, the tolerated rate, looks; the most rounds of a machine far from the rate."""
CLUSTER = 40
"""More than ever come together in a burst of ten."""
SEVERAL = 4
ALIKE, ONE_BAD = f"{SEVERAL} CPUs at the rate", f"one of {SEVERAL} CPUs at the rate, the others far below"
REPEATED, ROWS = f"{SEVERAL} repetitions", f"{SEVERAL} rows"
GOOD = 1 / 3
FAR = 10
HELD_TOGETHER = (
    "single",
    "periodic",
    "stalls of 4",
    "stalls of 30",
    "geometric stalls, mean 5",
    "bursts of 4 in 100 releases",
    "bursts of 10 in 1,000 releases",
)
"""Where never, or hardly ever, more come together than is stated."""
TOGETHER = {
    "single": 1,
    "stalls of 4": 4,
    "bursts of 10 in 1,000 releases": CLUSTER,
    "geometric stalls, mean 5": CLUSTER,
}
"""Where a machine far from the tolerated rate must be decided: how many come together, as stated."""


def wilson(count: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z, share = 1.96, count / of
    middle, wide = share + z * z / 2 / of, z * math.sqrt(share * (1 - share) / of + z * z / 4 / of / of)
    return (middle - wide) / (1 + z * z / of), (middle + wide) / (1 + z * z / of)


def share(name: str, count: int, of: int, *, is_held: bool) -> list[Figure]:
    """In per cent, with the ends of its interval where it is held to 5 %."""
    found = [Figure(name, round(100 * count / of, 1), "%")]
    if is_held:
        low, high = wilson(count, of)
        found += [
            Figure(f"{name}: lower end", round(100 * low, 1), "%", at_most=5),
            Figure(f"{name}: upper end", round(100 * high, 1), "%", at_most=7 if of >= 1_000 else None),
        ]
    return found


def once(
    process: Process, random: np.random.Generator, n: int, rate: float, tolerated: float, rows: int = 1
) -> Verdict:
    measured = Round.of(random, misses_of(process, random, n, rate), n)
    return verdict(evidence_of([measured]), Question(DEADLINE_NS, tolerated, rows=rows))


def one_look(name: str, process: Process, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """At the tolerated rate."""
    found = [once(process, random, round(EXPECTED / RATE), RATE, RATE) for _ in range(repetitions)]
    outcomes = Counter(each.outcome for each in found)
    withheld = sum(each.rate.upper is None for each in found)
    is_held = name in PROCESSES and process.kind != "changing"
    label, most = f"one look, {name}", 10 if process.kind in ("single", "stalls") else None
    return [
        *share(f"{label}: false PASS", outcomes[Ruling.PASS], repetitions, is_held=is_held),
        *share(f"{label}: false FAIL", outcomes[Ruling.FAIL], repetitions, is_held=is_held),
        Figure(f"{label}: withheld", round(100 * withheld / repetitions, 1), "%", at_most=most),
    ]


def few_misses(name: str, process: Process, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """At the tolerated rate, where few are expected: how often a run passes that saw some, and one that saw none.
    With so few groups nobody knows their size, so the sentence says "if misses come singly", or at most so many
    together: what does not is published as it is."""
    figures = []
    for expected in FEW_EXPECTED:
        n = round(expected / ROUNDS_RATE)
        found = [once(process, random, n, ROUNDS_RATE, ROUNDS_RATE) for _ in range(repetitions)]
        passed = [each.rate.misses > 0 for each in found if each.outcome is Ruling.PASS]
        label = f"few misses, {expected} expected, {name}: false PASS"
        figures += share(
            f"{label} of runs with misses", sum(passed), repetitions, is_held=process.kind == "single"
        )
        none = 100 * (len(passed) - sum(passed)) / repetitions
        figures.append(Figure(f"{label} of runs without", round(none, 1), "%"))
    return figures


def of_several(kind: str, name: str, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """At the tolerated rate: CPUs, rows or repetitions, of which the verdict names the worst."""
    process, n = PROCESSES[name], round(EXPECTED / RATE)
    outcomes: Counter[Ruling] = Counter()
    for _ in range(repetitions):
        if kind == ROWS:
            found = together([once(process, random, n, RATE, RATE, SEVERAL).outcome for _ in range(SEVERAL)])
        else:
            rounds = rounds_of(kind, process, random, n)
            found = verdict(evidence_of(rounds), Question(DEADLINE_NS, RATE)).outcome
        outcomes[found or Ruling.INCONCLUSIVE] += 1
    label = f"one look, {kind}, {name}"
    return [
        *share(f"{label}: false PASS", outcomes[Ruling.PASS], repetitions, is_held=True),
        *share(f"{label}: false FAIL", outcomes[Ruling.FAIL], repetitions, is_held=True),
    ]


def rounds_of(kind: str, process: Process, random: np.random.Generator, n: int) -> list[Round]:
    if kind == REPEATED:
        each = n // SEVERAL
        return [Round.of(random, misses_of(process, random, each, RATE), each) for _ in range(SEVERAL)]
    rates = [RATE] + [RATE * (1 if kind == ALIKE else GOOD / FAR)] * (SEVERAL - 1)
    return [of_cpus(random, [misses_of(process, random, n, rate) for rate in rates], n)]


def good_machine(repetitions: int, random: np.random.Generator) -> list[Figure]:
    """Misses in fours, at a third of what is tolerated."""
    found = []
    for n, least in ((300_000, 80), (3_000_000, 99)):
        process = PROCESSES["stalls of 4"]
        passed = sum(
            once(process, random, n, GOOD * 1e-3, 1e-3).outcome is Ruling.PASS for _ in range(repetitions)
        )
        name = f"a third of the tolerated rate, in fours, {n} releases: PASS"
        found.append(Figure(name, round(100 * passed / repetitions, 1), "%", at_least=least))
    return found


def bad_machine(repetitions: int, random: np.random.Generator) -> list[Figure]:
    """Far above what is tolerated: the more misses, the more surely it fails."""
    found = []
    for times in (10, 1_000, 20_000):
        n = 60_000
        failed = sum(
            once(PROCESSES["single"], random, n, 1e-6 * times, 1e-6).outcome is Ruling.FAIL
            for _ in range(repetitions)
        )
        least = 99 if times > 10 else None
        name = f"{times} times of the tolerated rate of 1e-06, {n} releases: FAIL"
        found.append(Figure(name, round(100 * failed / repetitions, 1), "%", at_least=least))
    return found


def decided(
    process: Process, random: np.random.Generator, rate: float, cluster: float, most: int
) -> tuple[Ruling, int]:
    """The first verdict of --until-decided that is not open, and after how many rounds."""
    asked = Question(DEADLINE_NS, ROUNDS_RATE, cluster=cluster)
    misses: list[Int64s] = []
    counts: list[DeadlineSummary] = []
    for number in range(1, most + 1):
        misses.append(misses_of(process, random, ROUND, rate))
        counts.append(counted(misses[-1], ROUND))
        if may_be_decided(counts, asked):
            rounds = [Round.of(random, own, ROUND) for own in misses]
            outcome = verdict(evidence_of(rounds, until_decided=True), asked).outcome
            if outcome is not Ruling.INCONCLUSIVE:
                return outcome, number
    return Ruling.INCONCLUSIVE, most


def may_be_decided(counts: Sequence[DeadlineSummary], asked: Question) -> bool:
    """Whether the bets at the tolerated rate have won enough, without which the verdict is open: most looks end here,
    and the bounds need a hundred times as many bets."""
    rounds = Rounds.of([(of.releases, of.misses) for of in counts])
    cluster = max(asked.cluster, *(of.largest or 1 for of in counts))
    best = max(shown_below(rounds, asked.miss_rate, cluster), shown_above(rounds, asked.miss_rate))
    return best * (1 - asked.confidence) > 0.999


def at_the_rate(name: str, process: Process, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """Until decided, looked at LOOKS times."""
    cluster = TOGETHER.get(name, CLUSTER)
    found = [decided(process, random, ROUNDS_RATE, cluster, LOOKS)[0] for _ in range(repetitions)]
    outcomes = Counter(found)
    is_held = name in HELD_TOGETHER
    label = f"until decided, --cluster {cluster}, {name}"
    return [
        *share(f"{label}: false PASS", outcomes[Ruling.PASS], repetitions, is_held=is_held),
        *share(f"{label}: false FAIL", outcomes[Ruling.FAIL], repetitions, is_held=is_held),
    ]


def far_from_the_rate(name: str, times: float, repetitions: int, random: np.random.Generator) -> list[Figure]:
    """How many of a quarter of the repetitions are decided rightly, and the median number of rounds to it."""
    repetitions = max(1, repetitions // 4)
    wanted = Ruling.FAIL if times > 1 else Ruling.PASS
    runs = [
        decided(PROCESSES[name], random, ROUNDS_RATE * times, TOGETHER[name], LONGEST)
        for _ in range(repetitions)
    ]
    right = sum(outcome is wanted for outcome, _ in runs)
    label = f"until decided, --cluster {TOGETHER[name]}, {name}, {times:g} times of the tolerated rate"
    return [
        Figure(f"{label}: {wanted}", round(100 * right / repetitions, 1), "%", at_least=90),
        Figure(f"{label}: median", float(np.median([number for _, number in runs])), "rounds"),
    ]


def measures(repetitions: int) -> list[tuple[str, Measure]]:
    """What is measured, by name. New ones go to the end, so that the others keep their generators."""
    found: list[tuple[str, Measure]] = []

    def add(name: str, measure: Callable[..., list[Figure]], *given: object) -> None:
        found.append((name, partial(measure, *given, repetitions)))

    for name, process in {**PROCESSES, **OTHERS}.items():
        add(f"one look, {name}", one_look, name, process)
    add("good machine", good_machine)
    add("bad machine", bad_machine)
    for name, process in {**PROCESSES, **OTHERS}.items():
        add(f"until decided, {name}", at_the_rate, name, process)
    for name in TOGETHER:
        for times in (1 / FAR, FAR):
            add(f"until decided, {name}, far", far_from_the_rate, name, times)
    for kind in (ALIKE, ONE_BAD, REPEATED, ROWS):
        for name in ("single", "stalls of 4", "bursts of 10 in 1,000 releases"):
            add(f"one look, {kind}, {name}", of_several, kind, name)
    for name, process in PROCESSES.items():
        if process.kind != "changing":
            add(f"few misses, {name}", few_misses, name, process)
    return found


if __name__ == "__main__":
    asked = asked_of(__doc__, repetitions=1_000)
    sys.exit(simulated(measures(asked.repetitions), asked))
