"""The first sentence of a verdict: of a row, and of a run. Every number that is called a bound has its confidence and
its horizon with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.model.columns import LATENCY, RESPONSE
from howlate.statistics.phrases import JUDGED_POINTS, JUDGED_RELEASES, column_heading
from howlate.verdict.evidence import Evidence
from howlate.verdict.ruling import Ruling, Verdict, worst
from howlate.words.statement import Statement, rule

THIS = rule("verdict.this", "the measurement")
ROW = rule("verdict.row", "the row {row}")
OF_COLUMN = rule("verdict.of-column", "{subject} ({column})")
OF_CPU = rule("verdict.of-cpu", "{subject} on CPU {cpu}")
PASS_STRETCH = rule(
    "verdict.pass-stretch",
    "PASS, as far as {seconds:seconds} show: {subject} keeps the deadline of {deadline_ns:asked}. None of "
    "{releases:count} {things} missed it, and with {confidence:level} confidence none will in the next "
    "{horizon_s:seconds-at-least}.",
)
PASS_BOTH = rule(
    "verdict.pass-both",
    "PASS, as far as {seconds:seconds} show: {subject} keeps the deadline of {deadline_ns:asked}. None of "
    "{releases:count} {things} missed it; each with {confidence:level} confidence, at most a share of "
    "{upper:at-most} does, {how} ({tolerated:number} is tolerated), and none in the next "
    "{horizon_s:seconds-at-least}.",
)
PASS_RATE = rule(
    "verdict.pass-rate",
    "PASS, as far as {releases:count} {things} of {subject} show: at most a share of {upper:at-most} misses the "
    "deadline of {deadline_ns:asked}, with {confidence:level} confidence, {how}; {tolerated:number} is tolerated. "
    "{misses:count} missed it.",
)
PASS_EXACT = rule(
    "verdict.pass-exact",
    "PASS: none of {releases:count} {things} missed the deadline of {deadline_ns:asked} in {seeds} seeds of virtual "
    "time. That is exact for these seeds of {subject}: they come out the same each time.",
)
PASS_EXACT_RATE = rule(
    "verdict.pass-exact-rate",
    "PASS: exactly {misses:count} of {releases:count} {things} missed the deadline of {deadline_ns:asked} in {seeds} "
    "seeds of virtual time, a share of {share:probability}; {tolerated:number} is tolerated. That holds for "
    "these seeds of {subject}: they come out the same each time.",
)
PASS_GAP = rule(
    "verdict.pass-gap",
    "PASS, as far as {seconds:seconds} of watching show: {subject} keeps the deadline of {deadline_ns:asked}. No gap "
    "was longer, and with {confidence:level} confidence none will be in the next {horizon_s:seconds-at-least}.",
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
    "{things} missed it, and none may.",
)
FAIL_UNCOUNTED = rule(
    "verdict.fail-uncounted",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. The largest value was {max_ns:time}; how "
    "many there were is not known.",
)
FAIL_SHARE = rule(
    "verdict.fail-share",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. {misses:count} of {releases:count} {things} "
    "missed it, and {tolerated:number} is tolerated.",
)
FAIL_MISS = rule(
    "verdict.fail-miss",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. {misses:count} of {releases:count} {things} "
    "missed it, and none may.",
)
FAIL_RATE = rule(
    "verdict.fail-rate",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. {misses:count} of {releases:count} {things} "
    "missed it; with {confidence:level} confidence at least a share of {lower:at-least} does, and "
    "{tolerated:number} is tolerated.",
)
FAIL_EXACT = rule(
    "verdict.fail-exact",
    "FAIL: {subject} does not keep the deadline of {deadline_ns:asked}. Exactly {misses:count} of {releases:count} "
    "{things} miss it in {seeds} seeds of virtual time, each time that these are run.",
)
INCONCLUSIVE = rule(
    "verdict.inconclusive",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. {misses:count} of "
    "{releases:count} {things} missed it in {seconds:seconds}.",
)
INCONCLUSIVE_ALONE = rule(
    "verdict.inconclusive-alone",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. {misses:count} of "
    "{releases:count} {things} missed it.",
)
INCONCLUSIVE_AT_LEAST = rule(
    "verdict.inconclusive-at-least",
    "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:asked} cannot be said. At least "
    "{misses:count} of {releases:count} {things} missed it.",
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
RUN_AS_FAR = rule("verdict.run-as-far", "That is as far as {seconds:seconds} of each show.")


SINGLY = rule("verdict.singly", "if misses come singly")
TOGETHER = rule("verdict.together", "if at most {cluster:number} misses come together")
AS_SEEN = rule("verdict.as-seen", "if misses go on coming together as they did")
FEWEST_EVENTS = 10
"""Of fewer groups of misses nobody has seen how large they are."""


def how_together(verdict: Verdict) -> Statement:
    """What the bound of the rate takes for granted of how misses come together."""
    rate = verdict.rate
    if rate.events >= FEWEST_EVENTS and not verdict.evidence.by_rounds and verdict.asked.cluster == 1:
        return AS_SEEN()
    return SINGLY() if rate.cluster == 1 else TOGETHER(cluster=rate.cluster)


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
    if uncounted(evidence):
        return INCONCLUSIVE_UNCOUNTED(**about, max_ns=evidence.max_ns)
    values = about | _counts(evidence, counts.misses, counts.releases)
    if counts.at_least:
        return INCONCLUSIVE_AT_LEAST(**values)
    if evidence.seconds > 0:
        return INCONCLUSIVE(**values, seconds=evidence.seconds)
    return INCONCLUSIVE_ALONE(**values)


def _about(verdict: Verdict) -> dict[str, Any]:
    return {"subject": _subject(verdict), "deadline_ns": verdict.asked.deadline_ns}


def uncounted(evidence: Evidence) -> bool:
    """The file states extremes and no count."""
    return not evidence.deadline.releases and evidence.max_ns is not None


def has_releases(evidence: Evidence) -> bool:
    """Whether its samples are activations of a schedule, be it that nobody counted the others; else they are data
    points."""
    return evidence.column in (LATENCY, RESPONSE) or not evidence.known.missed_releases


def things_of(evidence: Evidence) -> Statement:
    """What was counted, behind its number."""
    return JUDGED_RELEASES() if has_releases(evidence) else JUDGED_POINTS()


def _subject(verdict: Verdict) -> Statement:
    evidence = verdict.evidence
    subject = ROW(row=evidence.name) if evidence.name else THIS()
    if evidence.column == LATENCY and not evidence.of_several:
        return subject
    return OF_COLUMN(subject=subject, column=column_heading(evidence.column))


def _of_rate(verdict: Verdict) -> dict[str, Any]:
    """What a tolerated rate is decided on: of several CPUs the worst alone."""
    rate, counts, about = verdict.rate, verdict.evidence.deadline, _about(verdict)
    if not rate.cpu:
        return about | _counts(verdict.evidence, counts.misses, counts.releases)
    subject = OF_CPU(subject=about["subject"], cpu=rate.cpu)
    return about | {"subject": subject} | _counts(verdict.evidence, rate.misses, rate.releases)


def _counts(evidence: Evidence, misses: int, releases: int) -> dict[str, Any]:
    return {"misses": misses, "releases": releases, "things": things_of(evidence)}


def no_verdict(verdict: Verdict) -> bool:
    """A validity check failed: neither question was looked at."""
    return not verdict.valid


def _fail(verdict: Verdict) -> Statement:
    evidence, asked, about = verdict.evidence, verdict.asked, _about(verdict)
    misses = evidence.deadline.misses
    if not evidence.trials:
        states = FAIL_GAP_AT_LEAST if evidence.deadline.at_least else FAIL_GAP
        return states(**about, misses=misses, seconds=evidence.seconds)
    if uncounted(evidence):
        return FAIL_UNCOUNTED(**about, max_ns=evidence.max_ns)
    counts = about | _counts(evidence, misses, evidence.deadline.releases)
    if asked.miss_rate:
        counts = _of_rate(verdict)
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
    common = about | {"releases": counts.releases, "things": things_of(evidence)}
    if evidence.virtual:
        common["seeds"] = evidence.repetitions
        if not evidence.trials:
            return PASS_GAP_EXACT(**about, seeds=evidence.repetitions)
        if not counts.misses:
            return PASS_EXACT(**common)
        of_rate = _of_rate(verdict) | {"seeds": evidence.repetitions}
        return PASS_EXACT_RATE(**of_rate, share=verdict.rate.upper, tolerated=asked.miss_rate)
    common["confidence"] = asked.confidence
    if verdict.stretch.outcome is None:
        of_rate = _of_rate(verdict) | {"confidence": asked.confidence}
        decided = {"upper": verdict.rate.upper, "tolerated": asked.miss_rate, "how": how_together(verdict)}
        return PASS_RATE(**of_rate, **decided)
    stretch = {"seconds": evidence.seconds, "horizon_s": verdict.stretch.horizon_s}
    common |= stretch
    if not evidence.trials:
        return PASS_GAP(**about, **stretch, confidence=asked.confidence)
    if not asked.miss_rate:
        return PASS_STRETCH(**common)
    decided = {"upper": verdict.rate.upper, "tolerated": asked.miss_rate, "how": how_together(verdict)}
    return PASS_BOTH(**common, **decided)


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
    seconds = min(verdict.evidence.seconds for verdict in verdicts)
    each = RUN_EACH(confidence=confidence, rows=len(verdicts), all=together)
    as_far = [RUN_AS_FAR(seconds=seconds)] if seconds > 0 else []
    return [states(**values), *as_far, each]
