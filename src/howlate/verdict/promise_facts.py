"""The facts under a verdict: what was measured, exactly."""

from __future__ import annotations

from howlate.statistics.bounds import rate_upper
from howlate.statistics.phrases import TIME
from howlate.statistics.starts import halves
from howlate.verdict.evidence import Evidence
from howlate.verdict.promise_sentence import LARGEST, has_releases, missed, things_of, uncounted
from howlate.verdict.rate import NOT_COUNTED
from howlate.verdict.ruling import Verdict
from howlate.words.statement import Statement, message

FACT_COUNT = message(
    "verdict.fact-count",
    "{misses:count} of {releases:count} {things} missed {deadline_ns:given}: {late:count} late, {unserved:count} "
    "never served.",
)
FACT_LATE = message("verdict.fact-late", "The number of releases without an activation is not known.")
FACT_SKIPPED = message(
    "verdict.fact-skipped",
    "{count:count} release was skipped, because the task was still late for an earlier one (late policy skip). The "
    "deadline is above the period, so it counts as answered when the activation that skipped it began.",
    "{count:count} releases were skipped, because the task was still late for an earlier one (late policy skip). The "
    "deadline is above the period, so they count as answered when the activation that skipped them began.",
    by="count",
)
EACH_CPU = message("verdict.each-cpu", "CPU {cpu}: {clauses:items}.")
NO_ANSWER = message("verdict.no-answer", "no answer")
FACT_MAX = message("verdict.fact-max", "The largest value was {max}, in {seconds:seconds} of measuring.")
FACT_MAX_ALONE = message("verdict.fact-max-alone", "The largest value was {max}.")
AT_LEAST = message("time.at-least", "at least {time_ns:time-at-least}")
FACT_START = message(
    "verdict.fact-start",
    "It lies in the first 4 % of its repetition, where chance puts 1 in 25: the start may have made it. Afterwards "
    "the largest was {rest_ns:time}.",
)
FACT_CLUSTERS = message(
    "verdict.fact-clusters",
    "Late {things} come in clusters of {size:significant} on average, so {releases:count} {things} tell as much as "
    "{effective:count} independent ones.",
)
FACT_QUANTILE = message(
    "verdict.fact-quantile",
    "With {confidence:level} confidence all but a share of {left:at-most} are answered within that.",
)
FACT_STEAL = message(
    "verdict.fact-steal",
    "A hypervisor took {share:percent} of the measuring CPUs' time: the verdict is on this machine with it.",
)
FACT_OTHERS = message(
    "verdict.fact-others", "Other tasks used the CPUs meanwhile: the verdict is on this machine with them."
)


def facts(verdict: Verdict) -> list[Statement]:
    """Facts that the sentence does not have."""
    evidence, told = verdict.evidence, _of_deadline(verdict)
    if evidence.deadline.skipped:
        told.append(FACT_SKIPPED(count=evidence.deadline.skipped))
    if worst := _worst_cpu(evidence):
        told.append(_of_cpu(evidence, worst))
    if evidence.max_ns is not None:
        told += [_largest(evidence), *_at_start(evidence), *_quantile(verdict)]
    told += _clustered(verdict)
    if evidence.steal:
        told.append(FACT_STEAL(share=evidence.steal))
    if evidence.disturbed:
        told.append(FACT_OTHERS())
    return told


def _of_deadline(verdict: Verdict) -> list[Statement]:
    evidence, counts = verdict.evidence, verdict.evidence.deadline
    if not evidence.trials or uncounted(evidence):
        return []
    if not evidence.known.missed_releases:
        return [FACT_LATE()]
    if counts.at_least or not (has_releases(evidence) or counts.unserved):
        return []
    values = {"misses": counts.misses, "releases": counts.releases, "late": counts.late}
    about = {"deadline_ns": verdict.question.deadline_ns, "things": things_of(evidence)}
    return [FACT_COUNT(**values, **about, unserved=counts.unserved)]


def _clustered(verdict: Verdict) -> list[Statement]:
    """How many independent releases the bounds of the rate rest on."""
    rate = verdict.rate
    size = rate.cluster if rate.events and rate.cluster > 1 else 0.0
    if rate.theta is not None and not rate.misses and verdict.question.cluster == 1:
        size = size or 1 / rate.theta
    if rate.theta is None or rate.theta >= 0.995 or not size:
        return []
    releases = rate.releases or verdict.evidence.deadline.releases
    values = {"releases": releases, "effective": int(rate.theta * releases)}
    return [FACT_CLUSTERS(**values, size=size, things=things_of(verdict.evidence))]


def _worst_cpu(evidence: Evidence) -> str:
    """Of several CPUs the one that missed most, else the one with the largest value."""
    counts, largest = evidence.deadline, evidence.max_by_cpu
    if (worst := counts.worst_cpu) and counts.by_cpu[worst].releases and not counts.at_least:
        return worst
    return max(largest, key=lambda cpu: largest[cpu]) if len(largest) > 1 else ""


def each_cpu(verdict: Verdict) -> list[Statement]:
    """A line for each CPU, where several measured."""
    return [_of_cpu(verdict.evidence, cpu) for cpu in verdict.evidence.cpus]


def _of_cpu(evidence: Evidence, cpu: str) -> Statement:
    counts, max_ns = evidence.deadline.by_cpu.get(cpu), evidence.max_of(cpu)
    clauses = [NO_ANSWER() if max_ns is None else LARGEST(max_ns=max_ns)]
    if counts is not None and counts.releases:
        more = [NOT_COUNTED()] if evidence.deadline.at_least and max_ns is not None else []
        clauses = [missed(evidence, counts.misses, counts.releases), *more, *clauses]
    return EACH_CPU(cpu=cpu, clauses=clauses)


def _largest(evidence: Evidence) -> Statement:
    largest = (TIME if evidence.known.exact_max else AT_LEAST)(time_ns=evidence.max_ns)
    if evidence.seconds <= 0:
        return FACT_MAX_ALONE(max=largest)
    return FACT_MAX(max=largest, seconds=evidence.seconds)


def _at_start(evidence: Evidence) -> list[Statement]:
    """Where the largest value of all is in the first 4 % of its repetition."""
    split = [None if tail is None else halves(tail) for tail in evidence.tails]
    known = [pair for pair in split if pair is not None]
    if not known or len(known) < len(split):
        return []
    rest_ns = max(rest for _first, rest in known)
    return [FACT_START(rest_ns=rest_ns)] if max(first for first, _rest in known) > rest_ns else []


def _quantile(verdict: Verdict) -> list[Statement]:
    """Of which quantile the largest value is a bound (Wilks): 1 - (1 - c)^(1 / n)."""
    rate, counts = verdict.rate, verdict.evidence.deadline
    evidence = verdict.evidence
    if rate.theta is None or rate.forbids or counts.unserved or evidence.virtual or evidence.by_rounds:
        return []
    releases = rate.releases or counts.releases
    left = rate_upper(0, rate.theta * releases, verdict.question.confidence)
    return [FACT_QUANTILE(confidence=verdict.question.confidence, left=left)]
