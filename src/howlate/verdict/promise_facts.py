"""The facts under a verdict: what was measured, exactly."""

from __future__ import annotations

from howlate.statistics.bounds import rate_upper
from howlate.statistics.starts import halves
from howlate.verdict.evidence import Evidence
from howlate.verdict.promise_sentence import has_releases, things_of, uncounted
from howlate.verdict.ruling import Verdict
from howlate.words.statement import Statement, rule

FACT_COUNT = rule(
    "verdict.fact-count",
    "{misses:count} of {releases:count} {things} missed {deadline_ns:asked}: {late:count} late, {unserved:count} "
    "never served.",
)
FACT_AT_LEAST_COUNT = rule(
    "verdict.fact-count-at-least",
    "At least {misses:count} of {releases:count} {things} missed {deadline_ns:asked}: the file does not have the "
    "values of all samples, and more of them may have missed it.",
)
FACT_GAPS = rule(
    "verdict.fact-gaps",
    "{misses:count} gap was longer than {deadline_ns:asked}, in {seconds:seconds} of watching.",
    "{misses:count} gaps were longer than {deadline_ns:asked}, in {seconds:seconds} of watching.",
    by="misses",
)
FACT_GAPS_AT_LEAST = rule(
    "verdict.fact-gaps-at-least",
    "At least {misses:count} gap was longer than {deadline_ns:asked}, in {seconds:seconds} of watching: the file "
    "does not have the lengths of all gaps, and more of them may have been longer.",
    "At least {misses:count} gaps were longer than {deadline_ns:asked}, in {seconds:seconds} of watching: the file "
    "does not have the lengths of all gaps, and more of them may have been longer.",
    by="misses",
)
FACT_THRESHOLD = rule("verdict.fact-threshold", "Gaps up to {threshold_ns:time} were not looked for.")
FACT_SKIPPED = rule(
    "verdict.fact-skipped",
    "{count:count} release was skipped, because the task was still late for an earlier one (late policy skip). The "
    "deadline is above the period, so it counts as answered when the activation that skipped it began.",
    "{count:count} releases were skipped, because the task was still late for an earlier one (late policy skip). The "
    "deadline is above the period, so they count as answered when the activation that skipped them began.",
    by="count",
)
FACT_CPU = rule("verdict.fact-cpu", "The largest value was on CPU {cpu}.")
FACT_CPU_MISSES = rule(
    "verdict.fact-cpu-misses",
    "CPU {cpu} missed it most often: {misses:count} of {releases:count} {things}.",
)
FACT_RATE_CPU = rule(
    "verdict.fact-rate-cpu",
    "The rate is that of CPU {cpu}, the worst: {misses:count} of its {releases:count} {things} missed the deadline.",
)
EACH_CPU = rule(
    "verdict.each-cpu",
    "CPU {cpu}: {misses:count} of {releases:count} {things} missed it; the largest value was {max_ns:time}.",
)
EACH_CPU_AT_LEAST = rule(
    "verdict.each-cpu-at-least",
    "CPU {cpu}: at least {misses:count} of {releases:count} {things} missed it; the largest value was {max_ns:time}.",
)
EACH_CPU_NONE = rule(
    "verdict.each-cpu-none",
    "CPU {cpu}: {misses:count} of {releases:count} {things} missed it; none was answered.",
)
EACH_CPU_SILENT = rule("verdict.each-cpu-silent", "CPU {cpu}: no answer.")
EACH_CPU_MAX = rule("verdict.each-cpu-max", "CPU {cpu}: the largest value was {max_ns:time}.")
FACT_LATE_ALONE = rule(
    "verdict.fact-late-alone", "Later than {deadline_ns:asked}: {late:count} of {releases:count} {things}."
)
FACT_LATE = rule(
    "verdict.fact-late",
    "Later than {deadline_ns:asked}: {late:count} of {releases:count} activations. How many releases had none is not "
    "known.",
)
FACT_MAX = rule("verdict.fact-max", "The largest value was {max_ns:time}, in {seconds:seconds} of measuring.")
FACT_AT_LEAST = rule(
    "verdict.fact-at-least",
    "The largest value was at least {max_ns:time-at-least}, in {seconds:seconds} of measuring.",
)
FACT_MAX_ALONE = rule("verdict.fact-max-alone", "The largest value was {max_ns:time}.")
FACT_AT_LEAST_ALONE = rule(
    "verdict.fact-at-least-alone", "The largest value was at least {max_ns:time-at-least}."
)
FACT_START = rule(
    "verdict.fact-start",
    "It lies in the first 4 % of its repetition, where chance puts 1 in 25: the start may have made it. Afterwards "
    "the largest was {rest_ns:time}.",
)
FACT_THETA = rule(
    "verdict.fact-theta",
    "Late samples come in clusters of {size:significant} on average (extremal index {theta:significant}), so "
    "{releases:count} {things} tell as much as {effective:count} independent ones.",
)
FACT_GROUPS = rule(
    "verdict.fact-groups",
    "The misses came in {events:count} group, so {releases:count} {things} tell as much as {effective:count} "
    "independent ones.",
    "The misses came in {events:count} groups, so {releases:count} {things} tell as much as {effective:count} "
    "independent ones.",
    by="events",
)
FACT_QUANTILE = rule(
    "verdict.fact-quantile",
    "With {confidence:level} confidence all but a share of {left:at-most} are answered within that.",
)
FACT_SPREAD = rule(
    "verdict.fact-spread",
    "The p99.9 was between {low_ns:time} and {high_ns:time} over {repetitions} repetitions.",
)
FACT_STEAL = rule(
    "verdict.fact-steal",
    "A hypervisor took {share:percent} of the measuring CPUs' time: the verdict is on this machine with it.",
)
FACT_OTHERS = rule(
    "verdict.fact-others", "Other tasks used the CPUs meanwhile: the verdict is on this machine with them."
)


def facts(verdict: Verdict) -> list[Statement]:
    """What was measured, exactly."""
    evidence, counts = verdict.evidence, verdict.evidence.deadline
    things = things_of(evidence)
    about = {"releases": counts.releases, "deadline_ns": verdict.asked.deadline_ns}
    values = about | {"late": counts.late}
    told: list[Statement] = []
    if not evidence.trials:
        told = _gaps(verdict)
    elif uncounted(evidence):
        pass  # the largest value is all that the file states
    elif counts.at_least:
        told = [FACT_AT_LEAST_COUNT(**about, things=things, misses=counts.misses)]
    elif not has_releases(evidence) and not counts.unserved:
        told = [FACT_LATE_ALONE(**values, things=things)]
    elif evidence.known.missed_releases:
        told = [FACT_COUNT(**values, things=things, misses=counts.misses, unserved=counts.unserved)]
    else:
        told = [FACT_LATE(**values)]
    if counts.skipped:
        told.append(FACT_SKIPPED(count=counts.skipped))
    told += _worst_cpu(evidence)
    if evidence.max_ns is not None:
        told.append(_largest(evidence))
        told += _at_start(evidence)
        told += _quantile(verdict)
    told += _of_rate(verdict)
    if len(evidence.p999_ns) > 1:
        low, high = min(evidence.p999_ns), max(evidence.p999_ns)
        told.append(FACT_SPREAD(low_ns=low, high_ns=high, repetitions=len(evidence.p999_ns)))
    if evidence.steal:
        told.append(FACT_STEAL(share=evidence.steal))
    if evidence.disturbed:
        told.append(FACT_OTHERS())
    return told


def _gaps(verdict: Verdict) -> list[Statement]:
    evidence, counts = verdict.evidence, verdict.evidence.deadline
    states = FACT_GAPS_AT_LEAST if counts.at_least else FACT_GAPS
    told = [states(misses=counts.misses, deadline_ns=verdict.asked.deadline_ns, seconds=evidence.seconds)]
    return told + ([FACT_THRESHOLD(threshold_ns=evidence.threshold_ns)] if evidence.threshold_ns else [])


def _of_rate(verdict: Verdict) -> list[Statement]:
    """What the bounds of the rate are about: of several CPUs the worst, and how many independent releases it had."""
    rate = verdict.rate
    told = []
    if rate.cpu and rate.upper is not None:
        counted = {"misses": rate.misses, "releases": rate.releases, "things": things_of(verdict.evidence)}
        told.append(FACT_RATE_CPU(cpu=rate.cpu, **counted))
    if rate.theta is not None and rate.theta < 0.995:
        releases = rate.releases or verdict.evidence.deadline.releases
        values = {"effective": int(rate.theta * releases), "releases": releases}
        things = things_of(verdict.evidence)
        if rate.events and rate.cluster > 1:
            told.append(FACT_GROUPS(**values, events=rate.events, things=things))
        elif not rate.misses and verdict.asked.cluster == 1:
            told.append(FACT_THETA(**values, size=1 / rate.theta, theta=rate.theta, things=things))
    return told


def _worst_cpu(evidence: Evidence) -> list[Statement]:
    """Of several CPUs the one that missed most, else the one with the largest value."""
    counts, largest = evidence.deadline, evidence.max_by_cpu
    if (worst := counts.worst_cpu) and counts.by_cpu[worst].releases and not counts.at_least:
        of_cpu = counts.by_cpu[worst]
        counted = {"misses": of_cpu.misses, "releases": of_cpu.releases, "things": things_of(evidence)}
        return [FACT_CPU_MISSES(cpu=worst, **counted)]
    return [FACT_CPU(cpu=max(largest, key=lambda cpu: largest[cpu]))] if len(largest) > 1 else []


def each_cpu(verdict: Verdict) -> list[Statement]:
    """A line for each CPU, where several measured."""
    return [_of_cpu(verdict.evidence, cpu) for cpu in verdict.evidence.cpus]


def _of_cpu(evidence: Evidence, cpu: str) -> Statement:
    of_cpu, max_ns = evidence.deadline.by_cpu.get(cpu), evidence.max_of(cpu)
    if of_cpu is None or not of_cpu.releases:
        return EACH_CPU_SILENT(cpu=cpu) if max_ns is None else EACH_CPU_MAX(cpu=cpu, max_ns=max_ns)
    values = {"misses": of_cpu.misses, "releases": of_cpu.releases, "things": things_of(evidence)}
    if max_ns is None:
        return EACH_CPU_NONE(cpu=cpu, **values)
    states = EACH_CPU_AT_LEAST if evidence.deadline.at_least else EACH_CPU
    return states(cpu=cpu, max_ns=max_ns, **values)


def _largest(evidence: Evidence) -> Statement:
    """The largest value, and in which time, where that is known."""
    states = FACT_MAX if evidence.known.exact_max else FACT_AT_LEAST
    if evidence.seconds <= 0:
        return (FACT_MAX_ALONE if evidence.known.exact_max else FACT_AT_LEAST_ALONE)(max_ns=evidence.max_ns)
    return states(max_ns=evidence.max_ns, seconds=evidence.seconds)


def _at_start(evidence: Evidence) -> list[Statement]:
    """Where the largest value of all is of the first stretches of its repetition."""
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
    left = rate_upper(0, rate.theta * releases, verdict.asked.confidence)
    return [FACT_QUANTILE(confidence=verdict.asked.confidence, left=left)]
