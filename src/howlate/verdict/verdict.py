"""PASS, FAIL or INCONCLUSIVE: whether a machine keeps a deadline, and with what confidence. Two questions, answered
apart: the rate of misses, and the horizon. Pure; docs/verdict.md has the rules with their reasons."""

from __future__ import annotations

import math

from msgspec.structs import replace

from howlate.model.summary import DeadlineSummary
from howlate.statistics.diagnose import confidence_ahead
from howlate.statistics.peaks import Peaks
from howlate.verdict.evidence import Evidence
from howlate.verdict.extrapolate import extrapolated, share_in_reach
from howlate.verdict.forbids import below_threshold
from howlate.verdict.rate import NOT_COUNTED, lowers_of, rate_of, trials_of
from howlate.verdict.ruling import Question, RateVerdict, Ruling, StretchVerdict, Verdict, together
from howlate.verdict.sequential import trials_without_miss
from howlate.verdict.stretch import SEEN, horizon_of, horizon_verdict, unserved
from howlate.words.statement import Statement, message

MOST_STEAL = 0.01
"""A hypervisor that took more of the measuring CPUs' time leaves no verdict: from there on the p99 is its own."""
STOLEN = message(
    "verdict.stolen",
    "The hypervisor took {share:percent} of the measuring CPUs' time; above {most:percent} there is no verdict.",
)
BELOW_RESOLUTION = message(
    "verdict.below-resolution",
    "the deadline is below the lab's resolution of {least_ns:time}: this guest's CPUs execute in turns, which can "
    "make a miss or hide one (a shorter --turn is finer)",
)
NOTHING_LEFT = message("verdict.nothing-measured", "Nothing was measured.")


def verdict(evidence: Evidence, asked: Question) -> Verdict:
    checks = _failed_checks(evidence)
    if checks:
        return _in_spite_of(checks, evidence, asked)
    if evidence.virtual:
        return _exact(evidence, asked)
    rate, stretch = rate_of(evidence, asked), horizon_verdict(evidence, asked)
    return Verdict(together([rate.outcome, stretch.outcome]), asked, evidence, rate, stretch)


def _in_spite_of(checks: tuple[Statement, ...], evidence: Evidence, asked: Question) -> Verdict:
    """What is certain although a validity check failed: a miss that was seen is a miss. No bound is stated, and
    nothing passes."""
    seen = evidence.deadline
    if evidence.failed_checks:
        seen = evidence.seen or DeadlineSummary(asked.deadline_ns)
    evidence = replace(evidence, deadline=seen)
    too_many = seen.misses > 0
    trials = trials_of(evidence)
    once = replace(evidence, until_decided=False, apart=False)
    lowers = lowers_of(once, asked, trials, is_dependent=True)
    worst = trials[lowers.index(max(lowers))]
    if asked.miss_rate:
        too_many = evidence.trials and max(lowers) > asked.miss_rate
    if evidence.virtual and _too_fine(evidence, asked):
        too_many = False
    outcome = Ruling.FAIL if too_many else Ruling.INCONCLUSIVE
    nothing = StretchVerdict(Ruling.INCONCLUSIVE, checks, None, horizon_of(evidence, asked), bound=False)
    counts = worst.counts
    rate = RateVerdict(outcome, checks, cpu=worst.cpu, releases=counts.releases, misses=counts.misses)
    return Verdict(outcome, asked, evidence, rate, nothing, valid=False)


def with_extrapolation(verdict: Verdict, peaks: Peaks) -> Verdict:
    """The same verdict, with what a model says beyond the samples, or why it is refused."""
    evidence, asked = verdict.evidence, verdict.question
    share = share_in_reach(asked.miss_rate, peaks.samples)
    return replace(
        verdict,
        extrapolation=extrapolated(
            evidence, verdict.rate.forbids, peaks, share, asked.confidence, asked.horizon_s or 0.0
        ),
    )


def reach_s(asked: Question, period_s: float, round_s: float) -> float:
    """How long a row must be measured at least, until it is decided while it is measured in rounds."""
    horizon_s = (asked.horizon_s or 0.0) * asked.confidence / (1 - asked.confidence)
    if not asked.miss_rate:
        return horizon_s
    trials = trials_without_miss(asked.miss_rate, asked.confidence, 1 / asked.cluster, round_s / period_s)
    return max(horizon_s, trials * period_s)


def _failed_checks(evidence: Evidence) -> tuple[Statement, ...]:
    checks = list(evidence.failed_checks)
    if evidence.steal > MOST_STEAL:
        checks.append(STOLEN(share=evidence.steal, most=MOST_STEAL))
    if not checks and evidence.seconds <= 0 and not evidence.deadline.releases:
        checks.append(NOTHING_LEFT())
    return tuple(checks)


def _exact(evidence: Evidence, asked: Question) -> Verdict:
    """Of seeds that come out the same each time: what they did is exact. Of other seeds it says only as much as seeds
    that could as well have come in another order: B / (B + M)."""
    counts = evidence.deadline
    worst = max(trials_of(evidence), key=lambda of: of.share)
    share = worst.share
    kept = not counts.misses if not asked.miss_rate else share <= asked.miss_rate
    outcome_of_rate = Ruling.PASS if kept else Ruling.FAIL
    of = worst.counts
    rate = RateVerdict(outcome_of_rate, (), None, share, share, None, worst.cpu, of.releases, of.misses)
    ahead = 1
    if asked.horizon_s and evidence.seconds > 0:
        ahead = max(1, math.ceil(asked.horizon_s * evidence.repetitions / evidence.seconds - 1e-9))
    confidence = confidence_ahead(evidence.repetitions, ahead)
    horizon_s = ahead * evidence.seconds / max(1, evidence.repetitions)
    outcome: Ruling | None = None
    needed_s: float | None = None
    if asked.horizon_s:
        enough = confidence >= asked.confidence - 1e-9 and not counts.misses
        outcome = Ruling.PASS if enough else Ruling.INCONCLUSIVE
        if not enough and not counts.misses:
            seeds = math.ceil(ahead * asked.confidence / (1 - asked.confidence) - 1e-9)
            needed_s = (seeds - evidence.repetitions) * evidence.seconds / evidence.repetitions
    forbids = (SEEN(), *unserved(evidence)) if counts.misses else ()
    bound = not counts.unserved
    stretch = StretchVerdict(outcome, forbids, needed_s, horizon_s, confidence, "seeds", bound)
    uncounted = [NOT_COUNTED()] if counts.at_least and not counts.misses else []
    if unseen := [*below_threshold(evidence), *uncounted]:
        why = tuple(unseen)
        blind = replace(stretch, outcome=Ruling.INCONCLUSIVE, forbids=why, needed_s=None, bound=False)
        return Verdict(Ruling.INCONCLUSIVE, asked, evidence, RateVerdict(Ruling.INCONCLUSIVE, why), blind)
    if _too_fine(evidence, asked):
        open_, why = Ruling.INCONCLUSIVE, (BELOW_RESOLUTION(least_ns=evidence.lab_resolution_ns),)
        turns = replace(stretch, outcome=open_, forbids=why, needed_s=None, bound=False)
        return Verdict(open_, asked, evidence, RateVerdict(open_, why), turns)
    return Verdict(together([rate.outcome, outcome]), asked, evidence, rate, stretch)


def _too_fine(evidence: Evidence, asked: Question) -> bool:
    """Whether turns may decide. What is later than the resolution is the kernel's, and misses any deadline below."""
    least_ns, counts = evidence.lab_resolution_ns, evidence.deadline
    is_missed = counts.unserved > 0 or (counts.misses > 0 and (evidence.max_ns or 0) >= least_ns)
    return counts.deadline_ns < least_ns and not (is_missed and not asked.miss_rate)
