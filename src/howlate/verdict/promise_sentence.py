"""The first sentence of a verdict, on a row and on a run, composed of clauses. Every bound has its confidence and its
horizon with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from howlate.model.columns import LATENCY, RESPONSE
from howlate.statistics.phrases import DATA_POINTS, RELEASES, column_heading
from howlate.verdict.evidence import Evidence
from howlate.verdict.forbids import BELOW_THRESHOLD
from howlate.verdict.rate import NOT_COUNTED
from howlate.verdict.ruling import Ruling, Verdict, together
from howlate.words.quantities import given_text
from howlate.words.statement import Caption, Statement, message

THIS = message("verdict.this", "the measurement")
ROW = message("verdict.row", "the row {row}")
PART = message("verdict.part", "{subject} ({parts:list})")
PASS_SO_FAR = message(
    "verdict.pass-so-far",
    "PASS, as far as {seconds:seconds} show: {subject} keeps the deadline of {deadline_ns:given}; {clauses:items}.",
)
OUTCOMES = {
    Ruling.PASS: message(
        "verdict.pass", "PASS: {subject} keeps the deadline of {deadline_ns:given}; {clauses:items}."
    ),
    Ruling.FAIL: message(
        "verdict.fail", "FAIL: {subject} misses the deadline of {deadline_ns:given}; {clauses:items}."
    ),
    Ruling.INCONCLUSIVE: message(
        "verdict.inconclusive",
        "INCONCLUSIVE: whether {subject} keeps the deadline of {deadline_ns:given} is open; {clauses:items}.",
    ),
}
INVALID = message(
    "verdict.invalid",
    "INCONCLUSIVE: {subject} is not valid, so there is no verdict on the deadline of {deadline_ns:given}.",
)
MISSED = message("verdict.missed", "{misses:count} of {releases:count} {things} missed it")
GAPS = message(
    "verdict.gaps",
    "{misses:count} gap was longer, in {seconds:seconds} of watching",
    "{misses:count} gaps were longer, in {seconds:seconds} of watching",
    by="misses",
)
LARGEST = message("verdict.largest", "the largest value was {max_ns:time}")
AT_MOST = message(
    "verdict.at-most",
    "with {confidence:level} confidence at most a share of {upper:at-most} misses the deadline, {how}",
)
AT_LEAST = message(
    "verdict.at-least",
    "with {confidence:level} confidence at least a share of {lower:at-least} misses the deadline",
)
TOLERATED = message("verdict.tolerated", "{tolerated:number} is tolerated")
NEXT = message(
    "verdict.next",
    "with {confidence:level} confidence nothing misses it in the next {horizon_s:seconds-at-least}",
)
EXACT = message(
    "verdict.exact",
    "that is exact for this seed of virtual time",
    "that is exact for these {seeds} seeds of virtual time",
    by="seeds",
)
RUN = {
    Ruling.PASS: message(
        "verdict.run-pass", "PASS: each of {rows} rows keeps its deadline ({deadlines:list})."
    ),
    Ruling.FAIL: message(
        "verdict.run-fail",
        "FAIL: {count} of {rows} rows misses its deadline ({deadlines:list}): {names:items}.",
        "FAIL: {count} of {rows} rows miss their deadline ({deadlines:list}): {names:items}.",
        by="count",
    ),
    Ruling.INCONCLUSIVE: message(
        "verdict.run-inconclusive",
        "INCONCLUSIVE: {count} of {rows} rows is open at its deadline ({deadlines:list}): {names:items}.",
        "INCONCLUSIVE: {count} of {rows} rows are open at their deadline ({deadlines:list}): {names:items}.",
        by="count",
    ),
}
RUN_SOME = message("verdict.run-some", "PASS for {count} of {rows} rows; the others were not judged.")
RUN_EACH = message(
    "verdict.run-each",
    "The bounds of each row hold with {confidence:level} confidence; those of all {rows} rows together hold with at "
    "least {all:level}.",
)
SINGLY = message("verdict.singly", "if misses come singly")
TOGETHER = message("verdict.together", "if at most {cluster:number} misses come together")
AS_SEEN = message("verdict.as-seen", "if misses keep clustering as they did")
FEWEST_EVENTS = 10
"""With fewer groups of misses their size is unknown."""


def how_together(verdict: Verdict) -> Statement:
    """What the bound of the rate takes for granted of how misses come together."""
    rate = verdict.rate
    if rate.events >= FEWEST_EVENTS and not verdict.evidence.by_rounds and verdict.question.cluster == 1:
        return AS_SEEN()
    return SINGLY() if rate.cluster == 1 else TOGETHER(cluster=rate.cluster)


def sentence(verdict: Verdict) -> Statement:
    """For a report: the first thing to read."""
    about: dict[str, Any] = {"subject": _subject(verdict), "deadline_ns": verdict.question.deadline_ns}
    if no_verdict(verdict) and verdict.outcome is not Ruling.FAIL:
        return INVALID(**about)
    about["clauses"] = (*_counted(verdict), *_bounded(verdict))
    seconds = verdict.evidence.seconds
    if verdict.outcome is Ruling.PASS and seconds > 0 and not verdict.evidence.virtual:
        return PASS_SO_FAR(**about, seconds=seconds)
    return OUTCOMES[verdict.outcome](**about)


def _counted(verdict: Verdict) -> Iterator[Statement]:
    evidence, counts = verdict.evidence, verdict.evidence.deadline
    if not evidence.trials:
        yield GAPS(misses=counts.misses, seconds=evidence.seconds)
        if evidence.threshold_ns:
            yield BELOW_THRESHOLD(threshold_ns=evidence.threshold_ns)
    elif uncounted(evidence):
        yield LARGEST(max_ns=evidence.max_ns)
        return
    elif _of_worst_cpu(verdict):
        yield missed(evidence, verdict.rate.misses, verdict.rate.releases)
    else:
        yield missed(evidence, counts.misses, counts.releases)
    if counts.at_least:
        yield NOT_COUNTED()


def missed(evidence: Evidence, misses: int, releases: int) -> Statement:
    return MISSED(misses=misses, releases=releases, things=things_of(evidence))


def _bounded(verdict: Verdict) -> Iterator[Statement]:
    asked, virtual = verdict.question, verdict.evidence.virtual
    if verdict.outcome is Ruling.INCONCLUSIVE:
        return
    if verdict.valid and not virtual and verdict.evidence.trials and asked.miss_rate:
        yield share_missed(verdict)
    if asked.miss_rate and verdict.evidence.trials:
        yield TOLERATED(tolerated=asked.miss_rate)
    if virtual and verdict.valid:
        yield EXACT(seeds=verdict.evidence.repetitions)
    elif verdict.outcome is Ruling.PASS and verdict.stretch.outcome is not None:
        yield NEXT(confidence=asked.confidence, horizon_s=verdict.stretch.horizon_s)


def share_missed(verdict: Verdict) -> Statement:
    """The bound of the rate on which it is decided; of an open one the upper."""
    if verdict.rate.outcome is Ruling.FAIL:
        return AT_LEAST(confidence=verdict.question.confidence, lower=verdict.rate.lower)
    return AT_MOST(
        confidence=verdict.question.confidence, upper=verdict.rate.upper, how=how_together(verdict)
    )


def uncounted(evidence: Evidence) -> bool:
    """The file states extremes and no count."""
    return not evidence.deadline.releases and evidence.max_ns is not None


def has_releases(evidence: Evidence) -> bool:
    """Whether its samples are activations of a schedule, be it that nobody counted the others; else they are data
    points."""
    return evidence.column in (LATENCY, RESPONSE) or not evidence.known.missed_releases


def things_of(evidence: Evidence) -> Caption:
    return RELEASES if has_releases(evidence) else DATA_POINTS


def _subject(verdict: Verdict) -> Statement:
    evidence = verdict.evidence
    subject = ROW(row=evidence.name) if evidence.name else THIS()
    parts: list[Caption | str] = []
    if evidence.column != LATENCY or evidence.of_several:
        parts.append(column_heading(evidence.column))
    if _of_worst_cpu(verdict):
        parts.append(f"CPU {verdict.rate.cpu}")
    return PART(subject=subject, parts=parts) if parts else subject


def _of_worst_cpu(verdict: Verdict) -> bool:
    """Whether it is decided on the worst of several CPUs alone, as a tolerated rate is."""
    evidence = verdict.evidence
    if not (verdict.rate.cpu and verdict.question.miss_rate and evidence.trials):
        return False
    is_rate_alone = verdict.stretch.outcome is None and (not evidence.virtual or evidence.deadline.misses > 0)
    return verdict.outcome is Ruling.FAIL or (verdict.outcome is Ruling.PASS and is_rate_alone)


def no_verdict(verdict: Verdict) -> bool:
    """A validity check failed: neither question was looked at."""
    return not verdict.valid


def run_sentence(verdicts: Sequence[Verdict], unjudged: int = 0) -> list[Statement]:
    """On the only row of a run, else on all rows, and what several confidences come to. `unjudged`: how many rows
    were not judged, which a PASS must not hide."""
    outcome = together([verdict.outcome for verdict in verdicts])
    some: list[Statement] = []
    if unjudged and outcome is Ruling.PASS:
        some = [RUN_SOME(count=len(verdicts), rows=len(verdicts) + unjudged)]
    if len(verdicts) == 1:
        return [*some, sentence(verdicts[0])]
    if outcome is not Ruling.PASS:
        open_ = [Ruling.INCONCLUSIVE] if outcome is Ruling.FAIL else []
        return [told for each in (outcome, *open_) for told in _rows(verdicts, each)]
    told = [*some, RUN[Ruling.PASS](rows=len(verdicts), deadlines=_deadlines(verdicts))]
    if verdicts[0].evidence.virtual:
        return told
    confidence = verdicts[0].question.confidence
    of_all = max(0.0, 1 - len(verdicts) * (1 - confidence))
    return [*told, RUN_EACH(confidence=confidence, rows=len(verdicts), all=of_all)]


def _rows(verdicts: Sequence[Verdict], outcome: Ruling) -> list[Statement]:
    of_outcome = [verdict for verdict in verdicts if verdict.outcome is outcome]
    names = [verdict.evidence.name for verdict in of_outcome]
    values = {"rows": len(verdicts), "count": len(names), "names": names}
    return [RUN[outcome](**values, deadlines=_deadlines(of_outcome))] if names else []


def _deadlines(verdicts: Sequence[Verdict]) -> list[str]:
    return [given_text(ns) for ns in sorted({verdict.question.deadline_ns for verdict in verdicts})]
