"""The first question of a verdict: of all releases, which share misses the deadline? docs/verdict.md has the rules
with their reasons."""

from __future__ import annotations

import math

from howlate.analysis.bounds import rate_lower, rate_upper, trials_needed
from howlate.analysis.evidence import Evidence
from howlate.analysis.forbids import (
    COARSE,
    NO_MAX,
    NO_ORDER,
    between_values,
    beyond_range,
    dependent,
    theta_of,
)
from howlate.analysis.ruling import Question, RateVerdict, Ruling
from howlate.analysis.sequential import rate_lower_always, rate_upper_always, trials_without_miss
from howlate.words.statement import Statement, rule

NO_MISSED = rule("verdict.no-missed", "it is not known how many releases had no activation")
NOT_COUNTED = rule(
    "verdict.not-counted",
    "the file does not have the values of all samples, so more may have missed the deadline",
)
NO_TRIALS = rule(
    "verdict.no-trials", "the test waits for events, so there is nothing that a rate could be of"
)


def rate_of(evidence: Evidence, asked: Question) -> RateVerdict:
    """Clopper and Pearson's bounds on the effective number of samples, where the diagnostics are clean."""
    counts = evidence.deadline
    forbids = _forbids(evidence)
    theta = theta_of(evidence)
    effective = (theta or 1.0) * counts.releases
    above, below = (
        (rate_upper_always, rate_lower_always) if evidence.until_decided else (rate_upper, rate_lower)
    )
    clusters, of_trials = clusters_of(evidence, theta)
    lower = below(clusters, of_trials, asked.confidence)
    upper = None
    if theta is not None and not forbids:
        upper = above(counts.misses, effective, asked.confidence)
    return RateVerdict(
        _outcome(evidence, asked, upper, lower),
        tuple(forbids),
        _needs_s(evidence, asked, theta) if upper is not None else None,
        upper,
        lower,
        theta,
    )


def _outcome(evidence: Evidence, asked: Question, upper: float | None, lower: float) -> Ruling | None:
    if not asked.miss_rate:
        return Ruling.FAIL if evidence.deadline.misses else None
    if evidence.trials and lower > asked.miss_rate:
        return Ruling.FAIL
    return Ruling.PASS if upper is not None and upper <= asked.miss_rate else Ruling.INCONCLUSIVE


def _needs_s(evidence: Evidence, asked: Question, theta: float | None) -> float | None:
    """n_need - n samples more, at the pace of before, if none of them misses."""
    counts = evidence.deadline
    if not asked.miss_rate or not theta or not counts.releases or evidence.seconds <= 0:
        return None
    if evidence.until_decided:
        needed = trials_without_miss(asked.miss_rate, asked.confidence, theta)
    else:
        needed = trials_needed(asked.miss_rate, counts.misses, asked.confidence, theta)
    return max(0.0, needed - counts.releases) * evidence.seconds / counts.releases


def clusters_of(evidence: Evidence, theta: float | None) -> tuple[int, float]:
    """So many misses came by themselves, of so many trials. Where it is not known which did, all are one."""
    counts = evidence.deadline
    if not counts.misses:
        return 0, float(counts.releases)
    if theta is None or counts.clusters is None or dependent(evidence):
        return 1, counts.releases / counts.misses
    return max(1, math.floor(counts.misses * theta + 1e-9)), counts.releases * theta


def _forbids(evidence: Evidence) -> list[Statement]:
    known = evidence.known
    if not evidence.trials:
        return [NO_TRIALS()]
    forbids = [NO_ORDER()] if not known.time_order else []
    if not known.missed_releases:
        forbids.append(NO_MISSED())
    if beyond_range(evidence):
        forbids.append(NOT_COUNTED() if known.exact_max else NO_MAX())
    if between_values(evidence):
        forbids.append(COARSE(resolution_ns=known.resolution_ns))
    return forbids + [why for why in dependent(evidence) if why not in forbids]
