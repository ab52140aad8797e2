"""The first question of a verdict: of all releases, which share misses the deadline? docs/verdict.md has the rules
with their reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

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
    theta_of_cpu,
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


@dataclass(frozen=True)
class Trials:
    """The releases that a rate is of: those of one CPU, since a task that misses on its own CPU is not helped by the
    others."""

    cpu: str
    """"" where one alone measured, or nobody says which released how many."""
    releases: int
    misses: int
    clusters: int | None
    """Of its misses; None where that is not known."""
    theta: float | None
    """The extremal index to reckon with."""

    @property
    def share(self) -> float:
        return self.misses / self.releases if self.releases else 0.0


def trials_of(evidence: Evidence) -> list[Trials]:
    """Of each measuring CPU; of all together where one alone measured, or nobody kept them apart."""
    counts = evidence.deadline
    by_cpu = {cpu: count for cpu, count in counts.by_cpu.items() if count.releases}
    if len(by_cpu) < 2 or sum(count.releases for count in by_cpu.values()) != counts.releases:
        return [Trials("", counts.releases, counts.misses, counts.clusters, theta_of(evidence))]
    return [
        Trials(cpu, count.releases, count.misses, count.clusters, theta_of_cpu(evidence, cpu, count))
        for cpu, count in by_cpu.items()
    ]


def rate_of(evidence: Evidence, asked: Question) -> RateVerdict:
    """Clopper and Pearson's bounds on the effective number of samples, where the diagnostics are clean; of several
    CPUs those of the worst."""
    trials = trials_of(evidence)
    forbids = _forbids(evidence)
    above = rate_upper_always if evidence.until_decided else rate_upper
    lowers = lowers_of(evidence, asked, trials, bool(dependent(evidence)))
    uppers = []
    for of in map(partial(_at_most, evidence), trials):
        if of.theta is not None and not forbids:
            uppers.append(above(of.misses, of.theta * of.releases, asked.confidence))
    is_bounded = len(uppers) == len(trials)
    decisive = uppers if is_bounded else lowers
    worst = max(range(len(trials)), key=lambda at: (decisive[at], trials[at].share))
    upper = max(uppers) if is_bounded else None
    needs_s = [_needs_s(evidence, asked, of) for of in trials] if is_bounded else []
    known_s = [seconds for seconds in needs_s if seconds is not None]
    return RateVerdict(
        _outcome(evidence, asked, upper, max(lowers)),
        tuple(forbids),
        max(known_s, default=None),
        upper,
        max(lowers),
        trials[worst].theta,
        trials[worst].cpu,
        trials[worst].releases,
        trials[worst].misses,
    )


def _at_most(evidence: Evidence, of: Trials) -> Trials:
    """Where several CPUs measured and nobody kept them apart, all misses may have been on one of them."""
    cpus = 1 if of.cpu else max(1, len(evidence.cpus))
    return replace(of, releases=of.releases // cpus)


def lowers_of(
    evidence: Evidence, asked: Question, trials: Sequence[Trials], is_dependent: bool
) -> list[float]:
    """The lower bound of each, which hold together with the confidence that is asked for."""
    below = rate_lower_always if evidence.until_decided else rate_lower
    confidence = 1 - (1 - asked.confidence) / len(trials)
    return [below(*_clusters_of(of, is_dependent), confidence) for of in trials]


def _outcome(evidence: Evidence, asked: Question, upper: float | None, lower: float) -> Ruling | None:
    if not asked.miss_rate:
        return Ruling.FAIL if evidence.deadline.misses else None
    if evidence.trials and lower > asked.miss_rate:
        return Ruling.FAIL
    return Ruling.PASS if upper is not None and upper <= asked.miss_rate else Ruling.INCONCLUSIVE


def _needs_s(evidence: Evidence, asked: Question, of: Trials) -> float | None:
    """n_need - n samples more, at the pace of before, if none of them misses."""
    if not asked.miss_rate or not of.theta or not of.releases or evidence.seconds <= 0:
        return None
    if evidence.until_decided:
        needed = trials_without_miss(asked.miss_rate, asked.confidence, of.theta)
    else:
        needed = trials_needed(asked.miss_rate, of.misses, asked.confidence, of.theta)
    return max(0.0, needed - of.releases) * evidence.seconds / of.releases


def _clusters_of(of: Trials, is_dependent: bool) -> tuple[int, float]:
    """So many misses came by themselves, of so many trials. Where it is not known which did, all are one."""
    if not of.misses:
        return 0, float(of.releases)
    if of.theta is None or of.clusters is None or is_dependent:
        return 1, of.releases / of.misses
    return max(1, math.floor(of.misses * of.theta + 1e-9)), of.releases * of.theta


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
