"""The two answers of a verdict, on the rate of misses and on its horizon, and what they assume."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.verdict.promise_sentence import TOLERATED, share_missed, things_of
from howlate.verdict.ruling import Ruling, Verdict
from howlate.verdict.stretch import SEEN
from howlate.words.statement import Statement, message

RATE = message("verdict.rate", "Rate of misses: {clauses:items}.")
RATE_CPU = message("verdict.rate-cpu", "the worst is CPU {cpu}")
EXACTLY = message("verdict.exactly", "exactly {misses:count} of {releases:count} in these seeds")
NOT_BOUNDED = message("verdict.not-bounded", "not stated, for {reasons:items}")
EVENTS = message(
    "verdict.events",
    "Late events: with {confidence:level} confidence fewer than {per_h:rate-bound} an hour, if they come by "
    "themselves. {events:count} came in {seconds:seconds}; an event is a group of late {things}.",
)
HORIZON = message("verdict.horizon", "Horizon: {clauses:items}.")
NOTHING_LATER = message(
    "verdict.nothing-later",
    "with {confidence:level} confidence nothing is later than {max_ns:time-at-most} in the next "
    "{horizon_s:seconds-at-least} ({blocks})",
)
REQUIRED = message("verdict.required", "{confidence:level} is required")
BLOCKS = {
    "time": message("verdict.blocks-time", "the same boot"),
    "runs": message("verdict.blocks-runs", "same boot, the next run is like one of {number}"),
    "boots": message("verdict.blocks-boots", "the next boot is like one of {number}"),
    "seeds": message("verdict.blocks-seeds", "the next seed is like one of {number}"),
}
ASSUMES_LIKE = message(
    "verdict.assumes-like",
    "It assumes that kernel, settings, load and temperature stay as they were.",
)
ASSUMES_NO_RARE_CAUSE = message(
    "verdict.assumes-unseen",
    "A cause that did not occur in {seconds:seconds} is not covered: one that comes up to {rate_per_h:rate-bound} "
    "times an hour may have been missed, and may make several in a row late.",
)
ASSUMES_INPUTS = message(
    "verdict.assumes-inputs",
    "It holds for equal inputs (kernel, probe, seeds, arguments) and counts instructions: no caches, no real "
    "devices. It is not a proof about other seeds.",
)


def rate_line(verdict: Verdict) -> Statement:
    rate, asked = verdict.rate, verdict.question
    clauses: list[Statement | str] = [rate.outcome] if rate.outcome else []
    if verdict.evidence.virtual and not rate.forbids:
        clauses.append(EXACTLY(misses=rate.misses, releases=rate.releases))
    elif rate.outcome is Ruling.FAIL and not asked.miss_rate:
        clauses.append(TOLERATED(tolerated=0))
    elif rate.outcome is not Ruling.FAIL and rate.upper is None:
        return RATE(clauses=(NOT_BOUNDED(reasons=rate.forbids),))
    else:
        clauses.append(share_missed(verdict))
        clauses += [TOLERATED(tolerated=asked.miss_rate)] if rate.outcome else []
        clauses += [RATE_CPU(cpu=rate.cpu)] if rate.cpu else []
    return RATE(clauses=clauses)


def events_line(verdict: Verdict) -> list[Statement]:
    """How many groups of late releases come an hour at most, of a row that says it."""
    rate, evidence = verdict.rate, verdict.evidence
    if rate.events_per_h is None:
        return []
    values = {
        "confidence": verdict.question.confidence,
        "per_h": rate.events_per_h,
        "seconds": evidence.seconds,
        "things": things_of(evidence),
    }
    return [EVENTS(**values, events=rate.events)]


def horizon_line(verdict: Verdict) -> list[Statement]:
    """The verdict on the horizon; nothing where there is none."""
    if verdict.question.horizon_s == 0:
        return []
    outcome = verdict.stretch.outcome
    return [HORIZON(clauses=(*([outcome] if outcome else []), *_horizon(verdict)))]


def _horizon(verdict: Verdict) -> Sequence[Statement]:
    stretch, evidence = verdict.stretch, verdict.evidence
    if not stretch.bound:
        reasons = tuple(told for told in (*stretch.forbids, *stretch.rises) if told.rule != SEEN.id)
        return (NOT_BOUNDED(reasons=reasons),)
    values = {"confidence": stretch.confidence, "max_ns": evidence.bound_ns, "horizon_s": stretch.horizon_s}
    bound = NOTHING_LATER(**values, blocks=_blocks(verdict))
    is_judged = stretch.outcome is not None or not evidence.virtual
    if is_judged and stretch.confidence < verdict.question.confidence - 1e-9:
        return (bound, REQUIRED(confidence=verdict.question.confidence))
    return (bound,)


def _blocks(verdict: Verdict) -> Statement:
    blocks = verdict.stretch.blocks
    return BLOCKS[blocks]() if blocks == "time" else BLOCKS[blocks](number=verdict.evidence.repetitions)


def assumptions(verdict: Verdict) -> list[Statement]:
    """What must be true for what is stated beyond the samples; none where all of it is withheld."""
    if not _states_a_bound(verdict):
        return []
    if verdict.evidence.virtual:
        return [ASSUMES_INPUTS()]
    seconds = verdict.evidence.seconds
    unseen = [ASSUMES_NO_RARE_CAUSE(seconds=seconds, rate_per_h=3 * 3600 / seconds)] if seconds > 0 else []
    return [ASSUMES_LIKE(), *unseen]


def _states_a_bound(verdict: Verdict) -> bool:
    """On the rate or on the horizon, as rate_line() and horizon_line() tell them."""
    rate, stretch = verdict.rate, verdict.stretch
    of_rate = rate.upper is not None or (rate.outcome is Ruling.FAIL and verdict.question.miss_rate > 0)
    of_stretch = verdict.question.horizon_s != 0 and stretch.bound
    return of_rate or of_stretch or stretch.outcome is Ruling.PASS
