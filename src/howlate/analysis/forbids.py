"""What forbids that a bound is stated: the diagnostics of a row's samples, and what is not known of them."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.analysis.diagnose import dispersion, kendall_trend, same_distribution
from howlate.analysis.evidence import Evidence
from howlate.analysis.tail import MANY_MISSES
from howlate.model.summary import OfCpu
from howlate.words.statement import Statement, rule

FEWEST_CLUSTERS = 10
"""With fewer clusters of late samples nothing is reckoned with their mean size."""
FEWEST_MAXIMA = 20
"""Stretches with a sample, of 50. With fewer, hardly any trend reaches LEVEL; below six none can."""
LEVEL = 0.01
"""A diagnostic forbids where chance alone gives such a number less often than this, over all repetitions."""
TOO_FEW = rule(
    "verdict.too-few", "there are too few samples, or too equal ones, to see whether late ones come together"
)
TOO_SHORT = rule("verdict.too-short", "there are too few samples to see whether they rise or fall")
NOT_LOOKED = rule(
    "verdict.not-looked",
    "an older howlate measured it and did not look in which order late samples came (`howlate verdict` does)",
)
NO_ORDER = rule(
    "verdict.no-order", "it is not known in which order the samples came, so no diagnostic can be made"
)
NO_TIME = rule("verdict.no-time", "it is not known how long it was measured")
NO_MAX = rule("verdict.no-max", "the largest value is not known: the tool's histogram ended below it")
COARSE = rule(
    "verdict.coarse",
    "the file rounds values down to steps of {resolution_ns:time}, so that some at the deadline may have missed it",
)
BURSTS = rule(
    "verdict.bursts",
    "late samples come in bursts (variance over mean of their counts in {blocks} stretches of time is "
    "{index:significant}, where chance makes 1; p = {p:probability})",
)
RISING = rule(
    "verdict.rising",
    "the maxima of {blocks} stretches of time rise (Kendall's tau {tau:significant}, p = {p:probability})",
)
FALLING = rule(
    "verdict.falling",
    "the maxima of {blocks} stretches of time fall (Kendall's tau {tau:significant}, p = {p:probability})",
)
RUNS_DIFFER = rule(
    "verdict.runs-differ",
    "the repetitions differ more than chance has it (Kruskal-Wallis test of their maxima: p = {p:probability})",
)
BELOW_THRESHOLD = rule(
    "verdict.below-threshold",
    "gaps up to {threshold_ns:time} were not looked for, and the deadline is below",
)
NO_THRESHOLD = rule("verdict.no-threshold", "the file does not say from which length on it counts a gap")


def theta_of(evidence: Evidence) -> float | None:
    """The extremal index to reckon with: the smaller one of the tail's and, where something missed, of the misses'
    clusters. None where one of the repetitions does not have it."""
    counts = evidence.deadline
    thetas = [tail.theta if tail is not None else None for tail in evidence.tails]
    return _reckoned(evidence, thetas, OfCpu(counts.releases, counts.late, counts.unserved, counts.clusters))


def theta_of_cpu(evidence: Evidence, cpu: str, count: OfCpu) -> float | None:
    """The same of one CPU: that of all where it has too few samples in the tail."""
    thetas = [tail.theta_by_cpu.get(cpu, tail.theta) if tail is not None else None for tail in evidence.tails]
    return _reckoned(evidence, thetas, count)


def _reckoned(evidence: Evidence, thetas: Sequence[float | None], count: OfCpu) -> float | None:
    """Few misses of which an older howlate does not say how they lie are one cluster; many were never looked at."""
    known = [theta for theta in thetas if theta is not None]
    if not known or len(known) < len(thetas):
        return None
    total = sum(evidence.samples)
    theta = sum(t * n for t, n in zip(known, evidence.samples, strict=True)) / total if total else min(known)
    few = count.misses <= max(MANY_MISSES, count.releases // 100)
    clusters = 1 if count.clusters is None and few else count.clusters
    return min(theta, clusters / count.misses) if count.misses and clusters else theta


def dependent(evidence: Evidence) -> list[Statement]:
    """What keeps the samples from counting as so many independent ones."""
    if not evidence.known.time_order:
        return [NO_ORDER()]
    if None in evidence.tails:
        return [NOT_LOOKED()]
    few = theta_of(evidence) is None or _fewest_clusters(evidence) < FEWEST_CLUSTERS
    return [*([TOO_FEW()] if few else []), *bursts(evidence), *trends(evidence), *runs_differ(evidence)]


def between_values(evidence: Evidence) -> bool:
    """Whether the deadline lies within the resolution of a value that occurred: that value may have missed it."""
    largest_ns = evidence.most_ns
    return (
        evidence.known.resolution_ns > 1
        and largest_ns is not None
        and largest_ns > evidence.deadline.deadline_ns
    )


def _fewest_clusters(evidence: Evidence) -> int:
    """Of the tails, that of the repetition with the fewest."""
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


def trends(evidence: Evidence) -> list[Statement]:
    """Where the maxima of a repetition's stretches of time rise or fall."""
    tails = [tail for tail in evidence.tails if tail is not None]
    tested = [(found, tail) for tail in tails if (found := kendall_trend(tail.block_max_ns)) is not None]
    if not tested:
        return []
    least, tail = min(tested, key=lambda pair: pair[0].p)
    p = min(1.0, least.p * len(tested))
    states = RISING if least.tau > 0 else FALLING
    return [states(blocks=len(tail.block_max_ns), tau=least.tau, p=p)] if p < LEVEL else []


def runs_differ(evidence: Evidence) -> list[Statement]:
    """Where the maxima of one repetition's stretches do not look like another's."""
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
    if not evidence.trials or not evidence.known.time_order or not maxima or max(maxima) >= FEWEST_MAXIMA:
        return []
    return [TOO_SHORT()]
