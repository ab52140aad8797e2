"""What forbids that a bound is stated: the diagnostics of a row's samples, and what is not known of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from howlate.model.summary import DeadlineSummary, OfCpu
from howlate.model.tail import BLOCKS
from howlate.statistics.change_points import change_points
from howlate.statistics.describe import Int64s
from howlate.statistics.diagnose import (
    DRAWS,
    Dispersion,
    clustering,
    dispersion,
    kendall_trend,
    same_distribution,
)
from howlate.verdict.evidence import Evidence
from howlate.words.statement import Message, Statement, message

FEWEST_CLUSTERS = 10
"""With fewer clusters of late samples nothing is reckoned with their mean size."""
ENOUGH_CLUSTERS = 20
"""With this number of clusters of misses their own spread over time says whether the rate is one. With fewer, tail
and maxima must stand for them."""

FEWEST_MAXIMA, FEWEST_ROUNDS = 20, 6
"""Intervals with a sample, of 50; rounds far apart. With fewer than 20, hardly any trend reaches LEVEL; below six
none can."""
LEVEL = 0.01
"""A diagnostic forbids where chance alone gives such a number less often than this, over all repetitions."""
DRAWS_A_TEST = 400
"""Draws for the p of the CPU with the fewest chances, by the number of tests: p is multiplied by it."""
TOO_FEW = message(
    "verdict.too-few", "there are too few different samples to see whether late ones come together"
)
TOO_SHORT = message("verdict.too-short", "there are too few samples to see whether they rise or fall")
NOT_LOOKED = message(
    "verdict.not-looked",
    "an older howlate measured it and did not check the order of late samples (`howlate verdict` does)",
)
NO_ORDER = message("verdict.no-order", "the order of the samples is not known, so no diagnostic is possible")
NO_TIME = message("verdict.no-time", "it is not known how long it was measured")
NO_MAX = message("verdict.no-max", "the largest value is not known: the tool's histogram ended below it")
COARSE = message(
    "verdict.coarse",
    "the file rounds values down to steps of {resolution_ns:time}, so that some at the deadline may have missed it",
)
BURSTS = message(
    "verdict.bursts",
    "late samples come in bursts (variance over mean of their counts in {blocks} intervals is "
    "{index:significant}, where chance makes 1; p = {p:probability})",
)
MISS_BURSTS = message(
    "verdict.miss-bursts",
    "misses come in bursts: {misses:count}, in {hit:count} of {blocks:count} intervals (variance over mean "
    "{index:significant}, where chance makes 1; p = {p:probability})",
)
RISING = message(
    "verdict.rising",
    "the maxima of {blocks} intervals rise (Kendall's tau {tau:significant}, p = {p:probability})",
)
FALLING = message(
    "verdict.falling",
    "the maxima of {blocks} intervals fall (Kendall's tau {tau:significant}, p = {p:probability})",
)
STEP_UP = message(
    "verdict.step-up",
    "the maxima of {blocks} intervals rise at interval {at}, from {before_ns:time} to {after_ns:time} "
    "(medians; p = {p:probability})",
)
RUNS_DIFFER = message(
    "verdict.runs-differ",
    "the repetitions differ more than chance has it (Kruskal-Wallis test of their maxima: p = {p:probability})",
)
FEW = {TOO_FEW.id, TOO_SHORT.id}
DIAGNOSTICS = {BURSTS.id, MISS_BURSTS.id, RISING.id, STEP_UP.id, RUNS_DIFFER.id}
BELOW_THRESHOLD = message(
    "verdict.below-threshold",
    "gaps up to {threshold_ns:time} were not looked for",
)
NO_THRESHOLD = message("verdict.no-threshold", "the file does not say from which length on it counts a gap")


def theta_of(evidence: Evidence, cpu: str = "") -> float | None:
    """The extremal index of the tail; of one CPU's, where it has enough samples there. None where one of the
    repetitions does not have it."""
    thetas = [
        None if tail is None else tail.theta_by_cpu.get(cpu, tail.theta) if cpu else tail.theta
        for tail in evidence.tails
    ]
    known = [theta for theta in thetas if theta is not None]
    if not known or len(known) < len(thetas):
        return None
    total = sum(evidence.samples)
    return sum(t * n for t, n in zip(known, evidence.samples, strict=True)) / total if total else min(known)


def dependent(evidence: Evidence) -> list[Statement]:
    """What keeps the samples from counting as independent ones."""
    if not evidence.known.time_order:
        return [NO_ORDER()]
    if None in evidence.tails:
        return [NOT_LOOKED()]
    few = theta_of(evidence) is None or _fewest_clusters(evidence) < FEWEST_CLUSTERS
    if not few and dispersion_of_misses(evidence) and (evidence.deadline.clusters or 0) >= ENOUGH_CLUSTERS:
        return bursts_of_misses(evidence)
    return [
        *([TOO_FEW()] if few else []),
        *bursts_of_misses(evidence),
        *bursts(evidence),
        *trends(evidence),
        *runs_differ(evidence),
    ]


def between_values(evidence: Evidence) -> bool:
    """Whether the deadline lies within the resolution of a value that occurred: that value may have missed it."""
    largest_ns = evidence.most_ns
    return (
        evidence.known.resolution_ns > 1
        and largest_ns is not None
        and largest_ns > evidence.deadline.deadline_ns
    )


def _fewest_clusters(evidence: Evidence) -> int:
    return min((sum(tail.clusters) for tail in evidence.tails if tail is not None), default=0)


def beyond_range(evidence: Evidence) -> bool:
    """Whether samples of unknown value may have missed the deadline, or not."""
    known = evidence.known
    largest_kept = evidence.max_ns is not None and evidence.max_ns <= evidence.deadline.deadline_ns
    if known.overflow == 0 or (known.exact_max and largest_kept):
        return False
    return known.overflow_from_ns is None or evidence.deadline.deadline_ns >= known.overflow_from_ns


def bursts(evidence: Evidence) -> list[Statement]:
    """Where the clusters of late samples are not spread over time as chance would have it."""
    tails = [tail for tail in evidence.tails if tail is not None]
    tested = [(found, tail) for tail in tails if (found := dispersion(tail.clusters)) is not None]
    if not tested:
        return []
    least, tail = min(tested, key=lambda pair: pair[0].p)
    p = min(1.0, least.p * len(tested))
    return [BURSTS(blocks=len(tail.clusters), index=least.index, p=p)] if p < LEVEL else []


def dispersion_of_misses(evidence: Evidence, cpu: str = "", draws: int = DRAWS) -> Dispersion | None:
    """How the clusters of what missed the deadline are spread over time: of all CPUs together, or of one. None of
    fewer than two, or where an older howlate did not look."""
    rounds = _rounds_of(evidence, cpu)
    if evidence.virtual or not rounds or not all(of.by_stretch or not of.misses for of in rounds):
        return None
    return clustering(_by_stretch(rounds), np.repeat([of.releases for of in rounds], BLOCKS), draws)


def _rounds_of(evidence: Evidence, cpu: str) -> Sequence[DeadlineSummary | OfCpu]:
    if not cpu:
        return evidence.rounds
    return [of.by_cpu[cpu] for of in evidence.rounds if cpu in of.by_cpu]


def _by_stretch(rounds: Sequence[DeadlineSummary | OfCpu]) -> Int64s:
    return np.concatenate([of.by_stretch or (0,) * BLOCKS for of in rounds])


def bursts_of_misses(evidence: Evidence) -> list[Statement]:
    """Where these are not spread as chance would have it, be it on one CPU alone."""
    if (evidence.deadline.clusters or 0) < 2:
        return []
    if not evidence.rounds or not all(of.by_stretch or not of.misses for of in evidence.rounds):
        return [NOT_LOOKED()]
    tested = ["", *evidence.deadline.by_cpu]
    spread = [(found, cpu) for cpu in tested if (found := dispersion_of_misses(evidence, cpu)) is not None]
    if not spread:
        return []
    least, cpu = min(spread, key=lambda pair: (pair[0].p, -pair[0].index))
    draws = DRAWS_A_TEST * len(spread)
    if least.p < LEVEL and draws > DRAWS:
        least = dispersion_of_misses(evidence, cpu, draws) or least
    p = min(1.0, least.p * len(spread))
    rounds = _rounds_of(evidence, cpu)
    counts = _by_stretch(rounds)
    values = {"hit": int((counts > 0).sum()), "blocks": len(counts), "index": least.index, "p": p}
    return [MISS_BURSTS(misses=sum(of.misses for of in rounds), **values)] if p < LEVEL else []


def rises(evidence: Evidence) -> list[Statement]:
    """Where the maxima of a repetition's intervals rise, slowly or by a step, so that the largest value seen
    bounds nothing. A fall cannot make it too small."""
    maxima = _maxima(evidence)
    return _steady(maxima, RISING) or _step_up(maxima) or _records_at_end(maxima)


def _maxima(evidence: Evidence) -> list[tuple[int, ...]]:
    """Of the intervals of each repetition, and where repetitions may be the blocks, the largest value of each of
    them."""
    every = [tail.block_max_ns for tail in evidence.tails if tail is not None]
    of_repetitions = tuple(max(own) for own in every if own)
    if evidence.apart:
        return [of_repetitions]
    are_blocks = evidence.boots > 1 or bool(runs_differ(evidence))
    return [*every, of_repetitions] if are_blocks else every


def drifts(evidence: Evidence) -> list[Statement]:
    """The same, and where they fall: a model of the tail holds for neither."""
    return rises(evidence) or _steady(_maxima(evidence), FALLING)


def trends(evidence: Evidence) -> list[Statement]:
    """A rise that would reach the deadline if it went on for the same time."""
    maxima = [value for tail in evidence.tails if tail is not None for value in tail.block_max_ns]
    risen_ns = max(maxima, default=0) - min(maxima, default=0)
    is_far = (evidence.max_ns or 0) + risen_ns <= evidence.deadline.deadline_ns
    return [] if is_far else rises(evidence)


def _steady(maxima: Sequence[Sequence[int]], states: Message) -> list[Statement]:
    """A rise or a fall all along, one-sided."""
    sign = 1 if states is RISING else -1
    found = [(trend, own) for own in maxima if (trend := kendall_trend(own)) is not None]
    tested = [(trend, own) for trend, own in found if trend.tau * sign > 0]
    if not tested:
        return []
    steepest, own = min(tested, key=lambda pair: pair[0].p)
    p = min(1.0, steepest.p / 2 * len(maxima))
    return [states(blocks=len(own), tau=steepest.tau, p=p)] if p < LEVEL else []


def _step_up(maxima: Sequence[Sequence[int]]) -> list[Statement]:
    for own in maxima:
        for division in change_points(own, LEVEL / len(maxima)):
            before, after = np.median(own[: division.at]), np.median(own[division.at :])
            if after > before:
                values = {"before_ns": int(before), "after_ns": int(after), "p": division.p}
                return [STEP_UP(blocks=len(own), at=division.at + 1, **values)]
    return []


def _records_at_end(maxima: Sequence[Sequence[int]]) -> list[Statement]:
    """Where the last m of n maxima are its largest: by chance in 1 of C(n, m) cases, which no rank sum can see of two
    or three."""
    for own in maxima:
        before = np.maximum.accumulate(own)[:-1]
        after = np.minimum.accumulate(own[::-1])[::-1][1:]
        last = [len(own) - at for at in np.flatnonzero(after > before) + 1]  # of the longest to the shortest
        found = [count for count in last if 2 * count <= len(own)]
        p = sum(1 / math.comb(len(own), count) for count in range(max(found, default=1), len(own) // 2 + 1))
        p = min(1.0, p * len(maxima))
        if found and p < LEVEL:
            at = len(own) - int(max(found))
            before_ns, after_ns = int(np.median(np.array(own[:at]))), int(np.median(np.array(own[at:])))
            values = {"before_ns": before_ns, "after_ns": after_ns, "p": p}
            return [STEP_UP(blocks=len(own), at=at + 1, **values)]
    return []


def runs_differ(evidence: Evidence) -> list[Statement]:
    """Where the maxima of one repetition's intervals do not look like another's."""
    p = same_distribution([tail.block_max_ns for tail in evidence.tails if tail is not None])
    return [RUNS_DIFFER(p=p)] if p is not None and p < LEVEL else []


def below_threshold(evidence: Evidence) -> list[Statement]:
    """Where a gap as long as the deadline would not have been seen."""
    if evidence.threshold_ns is None:
        return [NO_THRESHOLD()]
    if evidence.deadline.deadline_ns < evidence.threshold_ns and not evidence.deadline.misses:
        return [BELOW_THRESHOLD(threshold_ns=evidence.threshold_ns)]
    return []


def too_short(evidence: Evidence) -> list[Statement]:
    """Where no test could have seen a trend. Of a test that waits for events, no event is a good sign."""
    maxima = [len(tail.block_max_ns) for tail in evidence.tails if tail is not None]
    is_tested = evidence.apart and len(maxima) >= FEWEST_ROUNDS
    is_enough = is_tested or max(maxima, default=FEWEST_MAXIMA) >= FEWEST_MAXIMA
    if not evidence.trials or not evidence.known.time_order or is_enough:
        return []
    return [TOO_SHORT()]
