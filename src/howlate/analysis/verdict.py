"""PASS, FAIL or INCONCLUSIVE: whether a machine keeps a deadline, and with what confidence. Two questions, answered
apart: the rate of misses, and the next stretch of time. Pure; docs/verdict.md has the rules with their reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from howlate.analysis.bounds import rate_lower, rate_upper, trials_needed
from howlate.analysis.diagnose import dispersion, kendall_trend, next_stretch_confidence, same_distribution
from howlate.analysis.evidence import Evidence
from howlate.analysis.extrapolate import Extrapolation, Peaks, asked_share, extrapolated
from howlate.analysis.sequential import rate_lower_always, rate_upper_always, trials_without_miss
from howlate.model.summary import DeadlineSummary
from howlate.words.statement import Statement, rule

CONFIDENCE = 0.95
FEWEST_CLUSTERS = 10
"""With fewer clusters of late samples nothing is reckoned with their mean size."""
FEWEST_MAXIMA = 20
"""Stretches with a sample, of 50. With fewer, hardly any trend reaches LEVEL; below six none can."""
LEVEL = 0.01
"""A diagnostic forbids where chance alone gives such a number less often than this, over all repetitions."""
MOST_STEAL = 0.01
"""A hypervisor that took more of the measuring CPUs' time leaves no verdict: from there on the p99 is its own."""

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
NO_MISSED = rule("verdict.no-missed", "it is not known how many releases had no activation")
NO_MAX = rule("verdict.no-max", "the largest value is not known: the tool's histogram ended below it")
NOT_COUNTED = rule(
    "verdict.not-counted",
    "the file does not have the values of all samples, so more may have missed the deadline",
)
COARSE = rule(
    "verdict.coarse",
    "the file rounds values down to steps of {resolution_ns:time}, so that some at the deadline may have missed it",
)
NO_TRIALS = rule(
    "verdict.no-trials", "the test waits for events, so there is nothing that a rate could be of"
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
STOLEN = rule(
    "verdict.stolen",
    "The hypervisor took {share:percent} of the measuring CPUs' time; above {most:percent} there is no verdict.",
)
SEEN = rule("verdict.seen", "the deadline was missed already, so what was seen bounds nothing below it")
BELOW_RESOLUTION = rule(
    "verdict.below-resolution",
    "the deadline is below the lab's resolution of {least_ns:time}: this guest's CPUs execute in turns, which can "
    "make a miss or hide one (a shorter --turn is finer)",
)
BELOW_THRESHOLD = rule(
    "verdict.below-threshold",
    "gaps up to {threshold_ns:time} were not looked for, and the deadline is below",
)
NO_THRESHOLD = rule("verdict.no-threshold", "the file does not say from which length on it counts a gap")
NOTHING_LEFT = rule("verdict.nothing-measured", "Nothing was measured.")


class Ruling(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Question:
    """What a verdict is about."""

    deadline_ns: int
    miss_rate: float = 0.0
    """What is tolerated; 0: no miss at all."""
    horizon_s: float | None = None
    """How long the next stretch is; None: as long as what was measured can bound; 0: it is not asked for."""
    confidence: float = CONFIDENCE


@dataclass(frozen=True)
class PartVerdict:
    """To one of the two questions."""

    outcome: Ruling | None
    """None where it is not asked for, and stated only."""
    forbids: tuple[Statement, ...] = ()
    """What keeps the bound from being stated; phrases."""
    needed_s: float | None = None
    """How much longer to measure, if it goes on as before; None where no time would help, or none is needed."""


@dataclass(frozen=True)
class RateVerdict(PartVerdict):
    """The rate of misses."""

    upper: float | None = None
    lower: float = 0.0
    theta: float | None = None
    """The extremal index that is reckoned with; None where it is not known."""


@dataclass(frozen=True)
class StretchVerdict(PartVerdict):
    """The next stretch of time."""

    horizon_s: float = 0.0
    confidence: float = 0.0
    """With which the largest value seen is not exceeded in that time."""
    blocks: str = "time"
    """What is taken to be exchangeable: stretches of "time", "runs", or "boots"; in virtual time "seeds"."""
    bound: bool = True
    """Whether it may be stated: False where something forbids it."""


@dataclass(frozen=True)
class Verdict:
    """Of one row."""

    outcome: Ruling
    asked: Question
    evidence: Evidence
    rate: RateVerdict
    stretch: StretchVerdict
    valid: bool = True
    """False where a validity check failed, so that neither question was looked at."""
    extrapolation: Extrapolation | None = None
    """A model's answer, which decides nothing; None where it was not asked for."""

    @property
    def needed_s(self) -> float | None:
        """How much longer to measure until both questions can be answered; None where no time would help."""
        open_ = [answer for answer in (self.rate, self.stretch) if answer.outcome is Ruling.INCONCLUSIVE]
        times = [answer.needed_s for answer in open_]
        known = [seconds for seconds in times if seconds is not None]
        return max(known) if known and len(known) == len(times) else None

    @property
    def forbids(self) -> tuple[Statement, ...]:
        return tuple(dict.fromkeys((*self.rate.forbids, *self.stretch.forbids)))


def verdict(evidence: Evidence, asked: Question) -> Verdict:
    """Of one row against what is asked."""
    checks = _failed_checks(evidence)
    if checks:
        return _in_spite_of(checks, evidence, asked)
    if evidence.virtual:
        return _exact(evidence, asked)
    rate, stretch = rate_of(evidence, asked), stretch_of(evidence, asked)
    return Verdict(_together([rate.outcome, stretch.outcome]), asked, evidence, rate, stretch)


def _in_spite_of(checks: tuple[Statement, ...], evidence: Evidence, asked: Question) -> Verdict:
    """What is certain although a validity check failed: a miss that was seen is a miss. No bound is stated, and
    nothing passes."""
    seen = evidence.deadline
    if evidence.failed_checks:
        seen = evidence.seen or DeadlineSummary(asked.deadline_ns)
    evidence = replace(evidence, deadline=seen)
    too_many = seen.misses > 0
    if asked.miss_rate:
        clusters, of_trials = _clusters(evidence, None)
        too_many = evidence.trials and rate_lower(clusters, of_trials, asked.confidence) > asked.miss_rate
    if evidence.virtual and _too_fine(evidence, asked):
        too_many = False
    outcome = Ruling.FAIL if too_many else Ruling.INCONCLUSIVE
    nothing = StretchVerdict(Ruling.INCONCLUSIVE, checks, None, _horizon_s(evidence, asked), bound=False)
    return Verdict(outcome, asked, evidence, RateVerdict(outcome, checks), nothing, valid=False)


def with_extrapolation(verdict: Verdict, peaks: Peaks) -> Verdict:
    """The same verdict, and beside it what a model says beyond the samples, or why it is refused."""
    evidence, asked = verdict.evidence, verdict.asked
    share = asked_share(asked.miss_rate, peaks.samples)
    return replace(
        verdict,
        extrapolation=extrapolated(
            evidence, verdict.rate.forbids, peaks, share, asked.confidence, asked.horizon_s or 0.0
        ),
    )


def too_few(verdict: Verdict) -> bool:
    """Whether an open verdict is so for the number of its samples alone."""
    open_ = [answer for answer in (verdict.rate, verdict.stretch) if answer.outcome is Ruling.INCONCLUSIVE]
    why = {statement.rule for answer in open_ for statement in answer.forbids}
    return bool(why) and why <= {TOO_FEW.id, TOO_SHORT.id}


def reach_s(asked: Question, period_s: float) -> float:
    """How long a row must be measured at least, until it is decided while it is measured."""
    horizon_s = (asked.horizon_s or 0.0) * asked.confidence / (1 - asked.confidence)
    if not asked.miss_rate:
        return horizon_s
    return max(horizon_s, trials_without_miss(asked.miss_rate, asked.confidence) * period_s)


def worst(outcomes: Sequence[Ruling]) -> Ruling:
    """Of several rows: one that fails fails them all."""
    return _together(outcomes)


def severity(outcome: Ruling) -> int:
    return (Ruling.PASS, Ruling.INCONCLUSIVE, Ruling.FAIL).index(outcome)


def _together(outcomes: Sequence[Ruling | None]) -> Ruling:
    for outcome in (Ruling.FAIL, Ruling.INCONCLUSIVE):
        if outcome in outcomes:
            return outcome
    return Ruling.PASS


def _failed_checks(evidence: Evidence) -> tuple[Statement, ...]:
    """What makes a row one without a verdict."""
    checks = list(evidence.failed_checks)
    if evidence.steal > MOST_STEAL:
        checks.append(STOLEN(share=evidence.steal, most=MOST_STEAL))
    if not checks and evidence.seconds <= 0 and not evidence.deadline.releases:
        checks.append(NOTHING_LEFT())
    return tuple(checks)


# The rate.


def rate_of(evidence: Evidence, asked: Question) -> RateVerdict:
    """Clopper and Pearson's bounds on the effective number of samples, where the diagnostics are clean."""
    counts = evidence.deadline
    forbids = _forbids_rate(evidence)
    theta = theta_of(evidence)
    effective = (theta or 1.0) * counts.releases
    above, below = (
        (rate_upper_always, rate_lower_always) if evidence.until_decided else (rate_upper, rate_lower)
    )
    clusters, of_trials = _clusters(evidence, theta)
    lower = below(clusters, of_trials, asked.confidence)
    upper = None
    if theta is not None and not forbids:
        upper = above(counts.misses, effective, asked.confidence)
    return RateVerdict(
        _rate_outcome(evidence, asked, upper, lower),
        tuple(forbids),
        _rate_needs_s(evidence, asked, theta) if upper is not None else None,
        upper,
        lower,
        theta,
    )


def _rate_outcome(evidence: Evidence, asked: Question, upper: float | None, lower: float) -> Ruling | None:
    if not asked.miss_rate:
        return Ruling.FAIL if evidence.deadline.misses else None
    if evidence.trials and lower > asked.miss_rate:
        return Ruling.FAIL
    return Ruling.PASS if upper is not None and upper <= asked.miss_rate else Ruling.INCONCLUSIVE


def _rate_needs_s(evidence: Evidence, asked: Question, theta: float | None) -> float | None:
    """n_need - n samples more, at the pace of before, if none of them misses."""
    counts = evidence.deadline
    if not asked.miss_rate or not theta or not counts.releases or evidence.seconds <= 0:
        return None
    if evidence.until_decided:
        needed = trials_without_miss(asked.miss_rate, asked.confidence, theta)
    else:
        needed = trials_needed(asked.miss_rate, counts.misses, asked.confidence, theta)
    return max(0.0, needed - counts.releases) * evidence.seconds / counts.releases


def theta_of(evidence: Evidence) -> float | None:
    """The extremal index to reckon with: the smaller one of the tail's and, where something missed, of the misses'
    clusters. None where one of the repetitions does not have it."""
    thetas = [tail.theta if tail is not None else None for tail in evidence.tails]
    known = [theta for theta in thetas if theta is not None]
    if not known or len(known) < len(thetas):
        return None
    total = sum(evidence.samples)
    theta = sum(t * n for t, n in zip(known, evidence.samples, strict=True)) / total if total else min(known)
    counts = evidence.deadline
    return min(theta, counts.clusters / counts.misses) if counts.misses and counts.clusters else theta


def _clusters(evidence: Evidence, theta: float | None) -> tuple[int, float]:
    """So many misses came by themselves, of so many trials. Where it is not known which did, all are one."""
    counts = evidence.deadline
    if not counts.misses:
        return 0, float(counts.releases)
    if theta is None or counts.clusters is None or _dependent(evidence):
        return 1, counts.releases / counts.misses
    return max(1, math.floor(counts.misses * theta + 1e-9)), counts.releases * theta


def _forbids_rate(evidence: Evidence) -> list[Statement]:
    known = evidence.known
    if not evidence.trials:
        return [NO_TRIALS()]
    forbids = [NO_ORDER()] if not known.time_order else []
    if not known.missed_releases:
        forbids.append(NO_MISSED())
    if _beyond_range(evidence):
        forbids.append(NOT_COUNTED() if known.exact_max else NO_MAX())
    if _between_values(evidence):
        forbids.append(COARSE(resolution_ns=known.resolution_ns))
    return forbids + [why for why in _dependent(evidence) if why not in forbids]


def _dependent(evidence: Evidence) -> list[Statement]:
    """What keeps the samples from counting as so many independent ones."""
    if not evidence.known.time_order:
        return [NO_ORDER()]
    if None in evidence.tails:
        return [NOT_LOOKED()]
    few = theta_of(evidence) is None or _fewest_clusters(evidence) < FEWEST_CLUSTERS
    return [*([TOO_FEW()] if few else []), *bursts(evidence), *trends(evidence), *runs_differ(evidence)]


def _between_values(evidence: Evidence) -> bool:
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


def _beyond_range(evidence: Evidence) -> bool:
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


# The next stretch.


def _horizon_s(evidence: Evidence, asked: Question) -> float:
    """What was asked for, else what the time that was measured can bound: T (1 - c) / c, at 95 % a nineteenth."""
    if asked.horizon_s is not None:
        return asked.horizon_s
    return evidence.seconds * (1 - asked.confidence) / asked.confidence


def stretch_of(evidence: Evidence, asked: Question) -> StretchVerdict:
    """The largest value of B past blocks bounds the next M with confidence B / (B + M)."""
    horizon_s = _horizon_s(evidence, asked)
    blocks, confidence = _confidence(evidence, asked, horizon_s)
    forbids = trends(evidence)
    if evidence.seconds <= 0:
        forbids.append(NO_TIME())
    if not evidence.known.time_order:
        forbids.append(NO_ORDER())
    elif None in evidence.tails:
        forbids.append(NOT_LOOKED())
    if _beyond_range(evidence) and not evidence.known.exact_max:
        forbids.append(NO_MAX())
    if _between_values(evidence) and not evidence.deadline.misses:
        forbids.append(COARSE(resolution_ns=evidence.known.resolution_ns))
    forbids += [*_below_threshold(evidence), *_too_short(evidence)]
    enough = confidence >= asked.confidence - 1e-9
    outcome: Ruling | None = Ruling.PASS if enough and not forbids else Ruling.INCONCLUSIVE
    needed_s: float | None = None
    if outcome is Ruling.INCONCLUSIVE and not forbids:
        needed_s = _stretch_needs_s(evidence, asked, blocks, horizon_s)
    if evidence.deadline.misses:
        outcome, needed_s = Ruling.INCONCLUSIVE if asked.miss_rate else Ruling.FAIL, None
        forbids = [SEEN(), *forbids]
    if asked.horizon_s == 0:
        outcome, needed_s = None, None
    stated = not forbids or forbids == [SEEN()]
    return StretchVerdict(outcome, tuple(forbids), needed_s, horizon_s, confidence, blocks, stated)


def _below_threshold(evidence: Evidence) -> list[Statement]:
    """Where a gap as long as the deadline would not have been seen."""
    if evidence.threshold_ns is None:
        return [NO_THRESHOLD()]
    if evidence.deadline.deadline_ns < evidence.threshold_ns and not evidence.deadline.misses:
        return [BELOW_THRESHOLD(threshold_ns=evidence.threshold_ns)]
    return []


def _too_short(evidence: Evidence) -> list[Statement]:
    """Where no test could have seen a trend. Of a test that waits for events, no event is a good sign."""
    maxima = [len(tail.block_max_ns) for tail in evidence.tails if tail is not None]
    if not evidence.trials or not evidence.known.time_order or not maxima or max(maxima) >= FEWEST_MAXIMA:
        return []
    return [TOO_SHORT()]


def _stretch_needs_s(evidence: Evidence, asked: Question, blocks: str, horizon_s: float) -> float:
    """H c / (1 - c) - T; where runs are the blocks, as long as the runs that are missing."""
    times = asked.confidence / (1 - asked.confidence)
    if blocks == "time":
        return horizon_s * times - evidence.seconds
    run_s = evidence.seconds / evidence.repetitions
    ahead = max(1, math.ceil(horizon_s / run_s - 1e-9)) if asked.horizon_s is not None else 1
    return (math.ceil(ahead * times - 1e-9) - evidence.repetitions) * run_s


def _confidence(evidence: Evidence, asked: Question, horizon_s: float) -> tuple[str, float]:
    """What is exchangeable, and with what confidence its past bounds the horizon."""
    if horizon_s <= 0 or evidence.seconds <= 0:
        return "time", 1.0 if evidence.seconds > 0 else 0.0
    boots, runs = (_over(number, evidence, horizon_s) for number in (evidence.boots, evidence.repetitions))
    if evidence.boots > 1 and boots >= asked.confidence - 1e-9:
        return "boots", boots
    if runs_differ(evidence):
        return "runs", runs
    return "time", evidence.seconds / (evidence.seconds + horizon_s)


def _over(past_blocks: int, evidence: Evidence, horizon_s: float) -> float:
    """With what confidence so many equally long blocks bound the horizon."""
    ahead = math.ceil(horizon_s / (evidence.seconds / past_blocks) - 1e-9)
    return next_stretch_confidence(past_blocks, max(1, ahead))


# Virtual time.


def _exact(evidence: Evidence, asked: Question) -> Verdict:
    """Of seeds that come out the same each time: what they did is exact. Of other seeds it says only as much as so
    many that could as well have come in another order: B / (B + M)."""
    counts = evidence.deadline
    share = counts.misses / counts.releases if counts.releases else 0.0
    kept = not counts.misses if not asked.miss_rate else share <= asked.miss_rate
    rate = RateVerdict(Ruling.PASS if kept else Ruling.FAIL, (), None, share, share, None)
    ahead = 1
    if asked.horizon_s and evidence.seconds > 0:
        ahead = max(1, math.ceil(asked.horizon_s * evidence.repetitions / evidence.seconds - 1e-9))
    confidence = next_stretch_confidence(evidence.repetitions, ahead)
    horizon_s = ahead * evidence.seconds / max(1, evidence.repetitions)
    outcome: Ruling | None = None
    needed_s: float | None = None
    if asked.horizon_s:
        enough = confidence >= asked.confidence - 1e-9 and not counts.misses
        outcome = Ruling.PASS if enough else Ruling.INCONCLUSIVE
        if not enough and not counts.misses:
            seeds = math.ceil(ahead * asked.confidence / (1 - asked.confidence) - 1e-9)
            needed_s = (seeds - evidence.repetitions) * evidence.seconds / evidence.repetitions
    forbids = (SEEN(),) if counts.misses else ()
    stretch = StretchVerdict(outcome, forbids, needed_s, horizon_s, confidence, "seeds")
    if unseen := _below_threshold(evidence):
        why = tuple(unseen)
        blind = replace(stretch, outcome=Ruling.INCONCLUSIVE, forbids=why, needed_s=None, bound=False)
        return Verdict(Ruling.INCONCLUSIVE, asked, evidence, RateVerdict(Ruling.INCONCLUSIVE, why), blind)
    if _too_fine(evidence, asked):
        open_, why = Ruling.INCONCLUSIVE, (BELOW_RESOLUTION(least_ns=evidence.lab_resolution_ns),)
        turns = replace(stretch, outcome=open_, forbids=why, needed_s=None, bound=False)
        return Verdict(open_, asked, evidence, RateVerdict(open_, why), turns)
    return Verdict(_together([rate.outcome, outcome]), asked, evidence, rate, stretch)


def _too_fine(evidence: Evidence, asked: Question) -> bool:
    """Whether turns may decide. What is later than the resolution is the kernel's, and misses any deadline below."""
    least_ns, counts = evidence.lab_resolution_ns, evidence.deadline
    is_missed = counts.unserved > 0 or (counts.misses > 0 and (evidence.max_ns or 0) >= least_ns)
    return counts.deadline_ns < least_ns and not (is_missed and not asked.miss_rate)
