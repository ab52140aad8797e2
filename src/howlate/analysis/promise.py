"""What a verdict says: the sentence for a report, the facts under it, what is assumed, what forbids what, and how
much longer to measure. Every number that is called a bound has its confidence, horizon and assumptions with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.analysis.bounds import rate_upper
from howlate.analysis.evidence import Evidence
from howlate.analysis.extrapolate import as_statements
from howlate.analysis.phrases import column_heading
from howlate.analysis.sequential import rate_upper_always
from howlate.analysis.verdict import SEEN, Ruling, Verdict, too_few, worst
from howlate.model.columns import LATENCY
from howlate.words.statement import Statement, rule

THIS = rule("verdict.this", "the measurement")
ROW = rule("verdict.row", "the row {row}")
OF_COLUMN = rule("verdict.of-column", "{subject} ({column})")

PASS_STRETCH = rule(
    "verdict.pass-stretch",
    "PASS: {subject} keeps the deadline of {deadline_ns:asked}. None of {releases:count} releases missed it in "
    "{seconds:seconds}, and with {confidence:level} confidence none will in the next {horizon_s:seconds}.",
)
PASS_BOTH = rule(
    "verdict.pass-both",
    "PASS: {subject} keeps the deadline of {deadline_ns:asked}. None of {releases:count} releases missed it in "
    "{seconds:seconds}; with {confidence:level} confidence at most a share of {upper:at-most} does "
    "({tolerated:number} is tolerated), and none in the next {horizon_s:seconds}.",
)
PASS_RATE = rule(
    "verdict.pass-rate",
    "PASS: of {subject} at most a share of {upper:at-most} misses the deadline of {deadline_ns:asked}, with "
    "{confidence:level} confidence; {tolerated:number} is tolerated. {misses:count} of {releases:count} "
    "releases missed it.",
)
PASS_EXACT = rule(
    "verdict.pass-exact",
    "PASS: none of {releases:count} releases missed the deadline of {deadline_ns:asked} in {seeds} seeds of virtual "
    "time. That is exact for these seeds of {subject}: they come out the same each time.",
)
PASS_EXACT_RATE = rule(
    "verdict.pass-exact-rate",
    "PASS: exactly {misses:count} of {releases:count} releases missed the deadline of {deadline_ns:asked} in {seeds} "
    "seeds of virtual time, a share of {share:probability}; {tolerated:number} is tolerated. That holds for "
    "these seeds of {subject}: they come out the same each time.",
)
PASS_GAP = rule(
    "verdict.pass-gap",
    "PASS: {subject} keeps the deadline of {deadline_ns:asked}. No gap was longer in {seconds:seconds} of watching, "
    "and with {confidence:level} confidence none will be in the next {horizon_s:seconds}.",
)
PASS_GAP_EXACT = rule(
    "verdict.pass-gap-exact",
    "PASS: no gap was longer than the deadline of {deadline_ns:asked} in {seeds} seeds of virtual time. That is "
    "exact for these seeds of {subject}: they come out the same each time.",
)
FAIL_GAP = rule(
    "verdict.fail-gap",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. {misses:count} gap was longer, in "
    "{seconds:seconds} of watching.",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. {misses:count} gaps were longer, in "
    "{seconds:seconds} of watching.",
    by="misses",
)
FAIL_GAP_AT_LEAST = rule(
    "verdict.fail-gap-at-least",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. At least {misses:count} gap was longer, in "
    "{seconds:seconds} of watching.",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. At least {misses:count} gaps were longer, in "
    "{seconds:seconds} of watching.",
    by="misses",
)
FAIL_AT_LEAST = rule(
    "verdict.fail-at-least",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. At least {misses:count} of {releases:count} "
    "releases missed it, and none may.",
)
FAIL_UNCOUNTED = rule(
    "verdict.fail-uncounted",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. The largest value was {max_ns:time}; how "
    "many there were is not known.",
)
FAIL_SHARE = rule(
    "verdict.fail-share",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. {misses:count} of {releases:count} releases "
    "missed it, and {tolerated:number} is tolerated.",
)
FAIL_MISS = rule(
    "verdict.fail-miss",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. {misses:count} of {releases:count} releases "
    "missed it, and none may.",
)
FAIL_RATE = rule(
    "verdict.fail-rate",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. {misses:count} of {releases:count} releases "
    "missed it; with {confidence:level} confidence at least a share of {lower:at-least} does, and "
    "{tolerated:number} is tolerated.",
)
FAIL_EXACT = rule(
    "verdict.fail-exact",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. Exactly {misses:count} of {releases:count} "
    "releases miss it in {seeds} seeds of virtual time, each time that these are run.",
)
INCONCLUSIVE = rule(
    "verdict.inconclusive",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. {misses:count} of "
    "{releases:count} releases missed it in {seconds:seconds}.",
)
INCONCLUSIVE_ALONE = rule(
    "verdict.inconclusive-alone",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. {misses:count} of "
    "{releases:count} releases missed it.",
)
INCONCLUSIVE_AT_LEAST = rule(
    "verdict.inconclusive-at-least",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. At least "
    "{misses:count} of {releases:count} releases missed it.",
)
INCONCLUSIVE_UNCOUNTED = rule(
    "verdict.inconclusive-uncounted",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. The largest value was "
    "{max_ns:time}; how many there were is not known.",
)
INCONCLUSIVE_GAP = rule(
    "verdict.inconclusive-gap",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. {misses:count} gap "
    "was longer, in {seconds:seconds} of watching.",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. {misses:count} gaps "
    "were longer, in {seconds:seconds} of watching.",
    by="misses",
)
INVALID = rule(
    "verdict.invalid",
    "INCONCLUSIVE: {subject} is not valid, so there is no verdict on the deadline of {deadline_ns:asked}.",
)
RUN = {
    Ruling.PASS: rule(
        "verdict.run-pass", "PASS: each of {rows} rows keeps the deadline of {deadline_ns:asked}."
    ),
    Ruling.FAIL: rule(
        "verdict.run-fail",
        "FAIL: {count} of {rows} rows does not keep the deadline of {deadline_ns:asked}: {names:items}.",
        "FAIL: {count} of {rows} rows do not keep the deadline of {deadline_ns:asked}: {names:items}.",
        by="count",
    ),
    Ruling.INCONCLUSIVE: rule(
        "verdict.run-inconclusive",
        "INCONCLUSIVE: {count} of {rows} rows is open at the deadline of {deadline_ns:asked}: {names:items}.",
        "INCONCLUSIVE: {count} of {rows} rows are open at the deadline of {deadline_ns:asked}: {names:items}.",
        by="count",
    ),
}
RUN_OWN = {
    Ruling.PASS: rule("verdict.run-own-pass", "PASS: each of {rows} rows keeps its deadline."),
    Ruling.FAIL: rule(
        "verdict.run-own-fail",
        "FAIL: {count} of {rows} rows does not keep its deadline: {names:items}.",
        "FAIL: {count} of {rows} rows do not keep their deadlines: {names:items}.",
        by="count",
    ),
    Ruling.INCONCLUSIVE: rule(
        "verdict.run-own-inconclusive",
        "INCONCLUSIVE: {count} of {rows} rows is open at its deadline: {names:items}.",
        "INCONCLUSIVE: {count} of {rows} rows are open at their deadlines: {names:items}.",
        by="count",
    ),
}
"""Where the rows do not share a deadline."""
RUN_OPEN = rule(
    "verdict.run-open",
    "Of {count} other row it cannot be said: {names:items}.",
    "Of {count} other rows it cannot be said: {names:items}.",
    by="count",
)
RUN_EACH = rule(
    "verdict.run-each",
    "The bounds of each row hold with {confidence:level} confidence; those of all {rows} rows together hold with at "
    "least {all:level}.",
)

RATE_STATED = rule(
    "verdict.rate-stated",
    "Rate of misses: at most {upper:at-most} with {confidence:level} confidence. That no release ever misses can "
    "never be shown.",
)
RATE_JUDGED = {
    Ruling.PASS: rule(
        "verdict.rate-pass",
        "Rate of misses: PASS. At most {upper:at-most} with {confidence:level} confidence; "
        "{tolerated:number} is tolerated.",
    ),
    Ruling.INCONCLUSIVE: rule(
        "verdict.rate-inconclusive",
        "Rate of misses: INCONCLUSIVE. At most {upper:at-most} with {confidence:level} confidence; "
        "{tolerated:number} is tolerated.",
    ),
    Ruling.FAIL: rule(
        "verdict.rate-fail",
        "Rate of misses: FAIL. At least {lower:at-least} with {confidence:level} confidence; "
        "{tolerated:number} is tolerated.",
    ),
}
RATE_MISSED = rule(
    "verdict.rate-missed", "Rate of misses: FAIL. No miss is tolerated, and {misses:count} came."
)
RATE_MISSED_AT_LEAST = rule(
    "verdict.rate-missed-at-least",
    "Rate of misses: FAIL. No miss is tolerated, and at least {misses:count} came.",
)
RATE_NOT_STATED = rule("verdict.rate-not-stated", "Rate of misses: not stated, for {reasons:items}.")
RATE_EXACT = rule(
    "verdict.rate-exact",
    "Rate of misses: {outcome}. Exactly {share:probability} of the releases of these seeds.",
)
STRETCH = rule(
    "verdict.stretch",
    "Next stretch: {outcome}. With {confidence:level} confidence nothing is later than {max_ns:time} in the next "
    "{horizon_s:seconds} ({blocks}).",
)
STRETCH_SHORT = rule(
    "verdict.stretch-short",
    "Next stretch: INCONCLUSIVE. That nothing is later than {max_ns:time} in the next {horizon_s:seconds} has a "
    "confidence of {confidence:level} only; {asked:level} is asked for ({blocks}).",
)
STRETCH_NOT_STATED = rule("verdict.stretch-not-stated", "Next stretch: not stated, for {reasons:items}.")
STRETCH_LABELLED = rule(
    "verdict.stretch-labelled",
    "Next stretch: {outcome}. Nothing would be later than {max_ns:time} in the next {horizon_s:seconds} with "
    "{confidence:level} confidence ({blocks}), were it not that {reasons:items}.",
)
STRETCH_UNJUDGED = rule(
    "verdict.stretch-unjudged",
    "Next seed: with {confidence:level} confidence nothing is later than {max_ns:time} in another "
    "{horizon_s:seconds} of virtual time under a seed that was not run ({blocks}).",
)
STRETCH_UNSERVED = rule(
    "verdict.stretch-unserved",
    "Next stretch: {outcome}. No time bounds the next {horizon_s:seconds}, since releases were never served: "
    "{unserved:count} of those measured.",
)
SEED_UNSERVED = rule(
    "verdict.seed-unserved",
    "Next seed: no time bounds it, since releases were never served: {unserved:count} of those measured.",
)
STRETCH_NOT_ASKED = rule("verdict.stretch-not-asked", "Next stretch: it was not asked for.")
BLOCKS = {
    "time": rule("verdict.blocks-time", "same boot: what comes is like what was measured"),
    "runs": rule("verdict.blocks-runs", "same boot: the next run is like one of {number}"),
    "boots": rule("verdict.blocks-boots", "the next boot is like one of {number}"),
    "seeds": rule("verdict.blocks-seeds", "the next seed is like one of {number}"),
}

FACT_COUNT = rule(
    "verdict.fact-count",
    "{misses:count} of {releases:count} releases missed {deadline_ns:asked}: {late:count} late, {unserved:count} "
    "never served.",
)
FACT_AT_LEAST_COUNT = rule(
    "verdict.fact-count-at-least",
    "At least {misses:count} of {releases:count} releases missed {deadline_ns:asked}: the file does not have the "
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
    "CPU {cpu} missed it most often: {misses:count} of {releases:count} releases.",
)
EACH_CPU = rule(
    "verdict.each-cpu",
    "CPU {cpu}: {misses:count} of {releases:count} releases missed it; the largest value was {max_ns:time}.",
)
EACH_CPU_AT_LEAST = rule(
    "verdict.each-cpu-at-least",
    "CPU {cpu}: at least {misses:count} of {releases:count} releases missed it; the largest value was {max_ns:time}.",
)
EACH_CPU_MAX = rule("verdict.each-cpu-max", "CPU {cpu}: the largest value was {max_ns:time}.")
HOLDS = rule(
    "verdict.holds",
    "The row is not valid. That a miss was seen holds all the same; a PASS and bounds are withheld:",
)
FACT_LATE = rule(
    "verdict.fact-late",
    "Later than {deadline_ns:asked}: {late:count} of {releases:count} activations. How many releases had none is not "
    "known.",
)
FACT_MAX = rule("verdict.fact-max", "The largest value was {max_ns:time}, in {seconds:seconds} of measuring.")
FACT_AT_LEAST = rule(
    "verdict.fact-at-least",
    "The largest value was at least {max_ns:time}, in {seconds:seconds} of measuring.",
)
FACT_MAX_ALONE = rule("verdict.fact-max-alone", "The largest value was {max_ns:time}.")
FACT_AT_LEAST_ALONE = rule("verdict.fact-at-least-alone", "The largest value was at least {max_ns:time}.")
FACT_THETA = rule(
    "verdict.fact-theta",
    "Late samples come in clusters of {size:significant} on average (extremal index {theta:significant}), so "
    "{releases:count} releases tell as much as {effective:count} independent ones.",
)
FACT_QUANTILE = rule(
    "verdict.fact-quantile",
    "With {confidence:level} confidence all but a share of {left:at-most} of the releases are answered within that.",
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

ASSUMES_LIKE = rule(
    "verdict.assumes-like",
    "It assumes that what comes is like what was measured: the same kernel, settings, load and temperature.",
)
ASSUMES_UNSEEN = rule(
    "verdict.assumes-unseen",
    "It says nothing about a cause that did not occur in {seconds:seconds}: one that comes up to {rate_per_h:rate} "
    "times an hour may have been missed, and may make several releases in a row late.",
)
ASSUMES_INPUTS = rule(
    "verdict.assumes-inputs",
    "It holds for equal inputs (kernel, probe, seeds, arguments) and counts instructions: no caches, no real "
    "devices. It is not a proof about other seeds.",
)
AGAIN = rule("verdict.again", "Measure again once this no longer happens.")
NEEDED = rule("verdict.needed", "Measure {seconds:seconds} longer to decide it, if nothing else misses.")
MORE_MAY_HELP = rule(
    "verdict.more-may-help",
    "Measuring longer may decide it: how much longer cannot be said before there are enough samples.",
)
NO_TIME_HELPS = rule("verdict.no-time-helps", "Measuring longer under these conditions will not decide it.")


def sentence(verdict: Verdict) -> Statement:
    """For a report: the first thing to read."""
    if verdict.outcome is Ruling.FAIL:
        return _fail(verdict)
    if verdict.outcome is Ruling.PASS:
        return _pass(verdict)
    if no_verdict(verdict):
        return INVALID(subject=_subject(verdict), deadline_ns=verdict.asked.deadline_ns)
    evidence, about = verdict.evidence, _about(verdict)
    counts = evidence.deadline
    if not evidence.trials:
        return INCONCLUSIVE_GAP(**about, misses=counts.misses, seconds=evidence.seconds)
    if _uncounted(evidence):
        return INCONCLUSIVE_UNCOUNTED(**about, max_ns=evidence.max_ns)
    values = about | {"misses": counts.misses, "releases": counts.releases}
    if counts.at_least:
        return INCONCLUSIVE_AT_LEAST(**values)
    if evidence.seconds > 0:
        return INCONCLUSIVE(**values, seconds=evidence.seconds)
    return INCONCLUSIVE_ALONE(**values)


def _about(verdict: Verdict) -> dict[str, Any]:
    return {"subject": _subject(verdict), "deadline_ns": verdict.asked.deadline_ns}


def _uncounted(evidence: Evidence) -> bool:
    """The file states extremes and no count."""
    return not evidence.deadline.releases and evidence.max_ns is not None


def _subject(verdict: Verdict) -> Statement:
    evidence = verdict.evidence
    subject = ROW(row=evidence.name) if evidence.name else THIS()
    if evidence.column == LATENCY and not evidence.of_several:
        return subject
    return OF_COLUMN(subject=subject, column=column_heading(evidence.column))


def no_verdict(verdict: Verdict) -> bool:
    """A validity check failed: neither question was looked at."""
    return not verdict.valid


def _fail(verdict: Verdict) -> Statement:
    evidence, asked, about = verdict.evidence, verdict.asked, _about(verdict)
    misses = evidence.deadline.misses
    if not evidence.trials:
        states = FAIL_GAP_AT_LEAST if evidence.deadline.at_least else FAIL_GAP
        return states(**about, misses=misses, seconds=evidence.seconds)
    if _uncounted(evidence):
        return FAIL_UNCOUNTED(**about, max_ns=evidence.max_ns)
    counts = about | {"misses": misses, "releases": evidence.deadline.releases}
    if evidence.virtual and verdict.valid:
        return FAIL_EXACT(**counts, seeds=evidence.repetitions)
    if asked.miss_rate and verdict.valid:
        lower = verdict.rate.lower
        return FAIL_RATE(**counts, confidence=asked.confidence, lower=lower, tolerated=asked.miss_rate)
    if asked.miss_rate:
        return FAIL_SHARE(**counts, tolerated=asked.miss_rate)
    return FAIL_AT_LEAST(**counts) if evidence.deadline.at_least else FAIL_MISS(**counts)


def _pass(verdict: Verdict) -> Statement:
    evidence, asked, counts = verdict.evidence, verdict.asked, verdict.evidence.deadline
    about = _about(verdict)
    common = about | {"releases": counts.releases}
    if evidence.virtual:
        common["seeds"] = evidence.repetitions
        if not evidence.trials:
            return PASS_GAP_EXACT(**about, seeds=evidence.repetitions)
        if not counts.misses:
            return PASS_EXACT(**common)
        share = verdict.rate.upper
        return PASS_EXACT_RATE(**common, misses=counts.misses, share=share, tolerated=asked.miss_rate)
    common["confidence"] = asked.confidence
    if verdict.stretch.outcome is None:
        upper = verdict.rate.upper
        return PASS_RATE(**common, misses=counts.misses, upper=upper, tolerated=asked.miss_rate)
    stretch = {"seconds": evidence.seconds, "horizon_s": verdict.stretch.horizon_s}
    common |= stretch
    if not evidence.trials:
        return PASS_GAP(**about, **stretch, confidence=asked.confidence)
    if not asked.miss_rate:
        return PASS_STRETCH(**common)
    return PASS_BOTH(**common, upper=verdict.rate.upper, tolerated=asked.miss_rate)


def rate_line(verdict: Verdict) -> Statement:
    """The verdict on the rate of misses."""
    rate, asked = verdict.rate, verdict.asked
    if verdict.evidence.virtual and not rate.forbids:
        return RATE_EXACT(outcome=rate.outcome, share=rate.upper)
    if rate.outcome is Ruling.FAIL and not asked.miss_rate:
        counts = verdict.evidence.deadline
        return (RATE_MISSED_AT_LEAST if counts.at_least else RATE_MISSED)(misses=counts.misses)
    values: dict[str, Any] = {"confidence": asked.confidence, "tolerated": asked.miss_rate}
    if rate.outcome is Ruling.FAIL:
        return RATE_JUDGED[Ruling.FAIL](**values, lower=rate.lower)
    if rate.upper is None:
        return RATE_NOT_STATED(reasons=rate.forbids)
    if rate.outcome is None:
        return RATE_STATED(confidence=asked.confidence, upper=rate.upper)
    return RATE_JUDGED[rate.outcome](**values, upper=rate.upper)


def stretch_line(verdict: Verdict) -> Statement:
    """The verdict on the next stretch of time."""
    stretch, max_ns = verdict.stretch, verdict.evidence.bound_ns
    if verdict.asked.horizon_s == 0:
        return STRETCH_NOT_ASKED()
    values: dict[str, Any] = {
        "confidence": stretch.confidence,
        "max_ns": max_ns,
        "horizon_s": stretch.horizon_s,
        "blocks": _blocks(verdict),
    }
    if not stretch.bound:
        reasons = tuple(told for told in stretch.forbids if told.rule != SEEN.id)
        if verdict.evidence.seconds <= 0:
            return STRETCH_NOT_STATED(reasons=reasons)
        return STRETCH_LABELLED(**values, outcome=stretch.outcome, reasons=reasons)
    unserved = verdict.evidence.deadline.unserved
    if stretch.outcome is None:
        return SEED_UNSERVED(unserved=unserved) if unserved else STRETCH_UNJUDGED(**values)
    if unserved:
        return STRETCH_UNSERVED(outcome=stretch.outcome, horizon_s=stretch.horizon_s, unserved=unserved)
    if stretch.confidence < verdict.asked.confidence - 1e-9:
        return STRETCH_SHORT(**values, asked=verdict.asked.confidence)
    return STRETCH(**values, outcome=stretch.outcome)


def _blocks(verdict: Verdict) -> Statement:
    blocks = verdict.stretch.blocks
    return BLOCKS[blocks]() if blocks == "time" else BLOCKS[blocks](number=verdict.evidence.repetitions)


def facts(verdict: Verdict) -> list[Statement]:
    """What was measured, exactly."""
    evidence, counts = verdict.evidence, verdict.evidence.deadline
    about = {"releases": counts.releases, "deadline_ns": verdict.asked.deadline_ns}
    values = about | {"late": counts.late}
    told: list[Statement] = []
    if not evidence.trials:
        told = _gaps(verdict)
    elif _uncounted(evidence):
        pass  # the largest value is all that the file states
    elif counts.at_least:
        told = [FACT_AT_LEAST_COUNT(**about, misses=counts.misses)]
    elif evidence.known.missed_releases:
        told = [FACT_COUNT(**values, misses=counts.misses, unserved=counts.unserved)]
    else:
        told = [FACT_LATE(**values)]
    if counts.skipped:
        told.append(FACT_SKIPPED(count=counts.skipped))
    told += _worst_cpu(evidence)
    if evidence.max_ns is not None:
        told.append(_largest(evidence))
        told += _quantile(verdict)
    theta = verdict.rate.theta
    if theta is not None and theta < 0.995:
        effective = int(theta * counts.releases)
        told.append(FACT_THETA(size=1 / theta, theta=theta, releases=counts.releases, effective=effective))
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


def _worst_cpu(evidence: Evidence) -> list[Statement]:
    """Of several CPUs the one that missed most, else the one with the largest value."""
    counts, largest = evidence.deadline, evidence.max_by_cpu
    if (worst := counts.worst_cpu) and counts.by_cpu[worst].releases and not counts.at_least:
        of_cpu = counts.by_cpu[worst]
        return [FACT_CPU_MISSES(cpu=worst, misses=of_cpu.misses, releases=of_cpu.releases)]
    return [FACT_CPU(cpu=max(largest, key=lambda cpu: largest[cpu]))] if len(largest) > 1 else []


def each_cpu(verdict: Verdict) -> list[Statement]:
    """A line for each CPU, where several measured."""
    counts, largest = verdict.evidence.deadline.by_cpu, verdict.evidence.max_by_cpu
    states = EACH_CPU_AT_LEAST if verdict.evidence.deadline.at_least else EACH_CPU
    told = []
    for cpu, max_ns in sorted(largest.items(), key=lambda pair: int(pair[0])):
        of_cpu = counts.get(cpu)
        if of_cpu is None or not of_cpu.releases:
            told.append(EACH_CPU_MAX(cpu=cpu, max_ns=max_ns))
        else:
            values = {"misses": of_cpu.misses, "releases": of_cpu.releases}
            told.append(states(cpu=cpu, max_ns=max_ns, **values))
    return told


def _largest(evidence: Evidence) -> Statement:
    """The largest value, and in which time, where that is known."""
    states = FACT_MAX if evidence.known.exact_max else FACT_AT_LEAST
    if evidence.seconds <= 0:
        return (FACT_MAX_ALONE if evidence.known.exact_max else FACT_AT_LEAST_ALONE)(max_ns=evidence.max_ns)
    return states(max_ns=evidence.max_ns, seconds=evidence.seconds)


def _quantile(verdict: Verdict) -> list[Statement]:
    """Of which quantile the largest value is a bound (Wilks): 1 - (1 - c)^(1 / n)."""
    rate, counts = verdict.rate, verdict.evidence.deadline
    if rate.theta is None or rate.forbids or counts.unserved or verdict.evidence.virtual:
        return []
    above = rate_upper_always if verdict.evidence.until_decided else rate_upper
    left = above(0, rate.theta * counts.releases, verdict.asked.confidence)
    return [FACT_QUANTILE(confidence=verdict.asked.confidence, left=left)]


def assumptions(verdict: Verdict) -> list[Statement]:
    """What must be true for what is stated beyond the samples; none where all of it is withheld."""
    if not _states_a_bound(verdict):
        return []
    if verdict.evidence.virtual:
        return [ASSUMES_INPUTS()]
    seconds = verdict.evidence.seconds
    unseen = [ASSUMES_UNSEEN(seconds=seconds, rate_per_h=3 * 3600 / seconds)] if seconds > 0 else []
    return [ASSUMES_LIKE(), *unseen]


def _states_a_bound(verdict: Verdict) -> bool:
    """Of the rate or of the next stretch, as rate_line() and stretch_line() tell them."""
    rate, stretch = verdict.rate, verdict.stretch
    of_rate = rate.upper is not None or (rate.outcome is Ruling.FAIL and verdict.asked.miss_rate > 0)
    asks = verdict.asked.horizon_s != 0
    of_stretch = asks and stretch.bound and not verdict.evidence.deadline.unserved
    return of_rate or of_stretch


def remaining(verdict: Verdict) -> list[Statement]:
    """What to do about an open one."""
    if verdict.outcome is not Ruling.INCONCLUSIVE:
        return []
    if no_verdict(verdict):
        return [AGAIN()]
    if needed_s := verdict.needed_s:
        return [NEEDED(seconds=needed_s)]
    return [MORE_MAY_HELP()] if too_few(verdict) else [NO_TIME_HELPS()]


def statements(verdict: Verdict) -> list[Statement]:
    """All of one row: the sentence, the two answers, facts, assumptions, what is left to do."""
    if no_verdict(verdict):
        return [
            sentence(verdict),
            *_in_spite(verdict),
            *verdict.rate.forbids,
            *remaining(verdict),
            *as_statements(verdict.extrapolation),
        ]
    return [
        sentence(verdict),
        rate_line(verdict),
        stretch_line(verdict),
        *facts(verdict),
        *assumptions(verdict),
        *remaining(verdict),
        *as_statements(verdict.extrapolation),
    ]


def _in_spite(verdict: Verdict) -> list[Statement]:
    """Before the failed checks of a row that fails all the same."""
    return [HOLDS()] if verdict.outcome is Ruling.FAIL else []


def standing_in_the_way(verdict: Verdict) -> list[Statement]:
    """Of one that is open: why, and what to do."""
    if verdict.outcome is not Ruling.INCONCLUSIVE:
        return []
    why = verdict.rate.forbids if no_verdict(verdict) else (rate_line(verdict), stretch_line(verdict))
    return [*why, *remaining(verdict)]


def _open(verdicts: Sequence[Verdict], outcome: Ruling) -> list[Statement]:
    """Beside rows that fail, those of which nothing is decided."""
    names = [verdict.evidence.name for verdict in verdicts if verdict.outcome is Ruling.INCONCLUSIVE]
    return [RUN_OPEN(count=len(names), names=names)] if names and outcome is Ruling.FAIL else []


def run_sentence(verdicts: Sequence[Verdict]) -> list[Statement]:
    """Of a run: of its only row, else of all rows, and what several confidences come to."""
    if len(verdicts) == 1:
        return [sentence(verdicts[0])]
    outcome = worst([verdict.outcome for verdict in verdicts])
    deadlines = {verdict.asked.deadline_ns for verdict in verdicts}
    values: dict[str, Any] = {"rows": len(verdicts)}
    if len(deadlines) == 1:
        values["deadline_ns"] = deadlines.pop()
    states = (RUN if "deadline_ns" in values else RUN_OWN)[outcome]
    if outcome is not Ruling.PASS:
        names = [verdict.evidence.name for verdict in verdicts if verdict.outcome is outcome]
        return [states(**values, count=len(names), names=names), *_open(verdicts, outcome)]
    confidence = verdicts[0].asked.confidence
    if verdicts[0].evidence.virtual:
        return [states(**values)]
    together = max(0.0, 1 - len(verdicts) * (1 - confidence))
    return [states(**values), RUN_EACH(confidence=confidence, rows=len(verdicts), all=together)]
