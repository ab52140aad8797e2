"""The two answers of a verdict, on the rate of misses and on the next stretch, and what they assume."""

from __future__ import annotations

from typing import Any

from howlate.verdict.promise_sentence import how_together, things_of
from howlate.verdict.ruling import Ruling, Verdict
from howlate.verdict.stretch import SEEN
from howlate.words.statement import Statement, rule

RATE_STATED = rule(
    "verdict.rate-stated",
    "Rate of misses: at most {upper:at-most} with {confidence:level} confidence, {how}. That none ever misses can "
    "never be shown.",
)
RATE_JUDGED = {
    Ruling.PASS: rule(
        "verdict.rate-pass",
        "Rate of misses: PASS. At most {upper:at-most} with {confidence:level} confidence, {how}; "
        "{tolerated:number} is tolerated.",
    ),
    Ruling.INCONCLUSIVE: rule(
        "verdict.rate-inconclusive",
        "Rate of misses: INCONCLUSIVE. At most {upper:at-most} with {confidence:level} confidence, {how}; "
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
    "Rate of misses: {outcome}. Exactly {share:probability} in these seeds.",
)
EVENTS = rule(
    "verdict.events",
    "Late events: with {confidence:level} confidence fewer than {per_h:rate-bound} an hour, if they come by "
    "themselves. {events:count} came in {seconds:seconds}; an event is a group of late {things}.",
)
NOT_JUDGED = rule("verdict.not-judged", "not judged")
STRETCH = rule(
    "verdict.stretch",
    "Next stretch: {outcome}. With {confidence:level} confidence nothing is later than {max_ns:time-at-most} in "
    "the next {horizon_s:seconds-at-least} ({blocks}).",
)
STRETCH_SHORT = rule(
    "verdict.stretch-short",
    "Next stretch: {outcome}. That nothing is later than {max_ns:time-at-most} in the next "
    "{horizon_s:seconds-at-least} has a confidence of {confidence:level} only; {asked:level} is asked for "
    "({blocks}).",
)
STRETCH_NOT_STATED = rule("verdict.stretch-not-stated", "Next stretch: not stated, for {reasons:items}.")
STRETCH_LABELLED = rule(
    "verdict.stretch-labelled",
    "Next stretch: {outcome}. Nothing would be later than {max_ns:time-at-most} in the next "
    "{horizon_s:seconds-at-least} with {confidence:level} confidence ({blocks}), were it not that {reasons:items}.",
)
STRETCH_UNJUDGED = rule(
    "verdict.stretch-unjudged",
    "Next seed: with {confidence:level} confidence nothing is later than {max_ns:time-at-most} in another "
    "{horizon_s:seconds-at-least} of virtual time under a seed that was not run ({blocks}).",
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
ASSUMES_LIKE = rule(
    "verdict.assumes-like",
    "It assumes that what comes is like what was measured: the same kernel, settings, load and temperature.",
)
ASSUMES_UNSEEN = rule(
    "verdict.assumes-unseen",
    "It says nothing about a cause that did not occur in {seconds:seconds}: one that comes up to "
    "{rate_per_h:rate-bound} times an hour may have been missed, and may make several in a row late.",
)
ASSUMES_INPUTS = rule(
    "verdict.assumes-inputs",
    "It holds for equal inputs (kernel, probe, seeds, arguments) and counts instructions: no caches, no real "
    "devices. It is not a proof about other seeds.",
)


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
    how = how_together(verdict)
    if rate.outcome is None:
        return RATE_STATED(confidence=asked.confidence, upper=rate.upper, how=how)
    return RATE_JUDGED[rate.outcome](**values, upper=rate.upper, how=how)


def events_line(verdict: Verdict) -> list[Statement]:
    """How many groups of late releases come an hour at most, of a row that says it."""
    rate, evidence = verdict.rate, verdict.evidence
    if rate.events_per_h is None:
        return []
    values = {
        "confidence": verdict.asked.confidence,
        "per_h": rate.events_per_h,
        "seconds": evidence.seconds,
        "things": things_of(evidence),
    }
    return [EVENTS(**values, events=rate.events)]


def stretch_line(verdict: Verdict) -> Statement:
    """The verdict on the next stretch of time."""
    stretch, max_ns = verdict.stretch, verdict.evidence.bound_ns
    if verdict.asked.horizon_s == 0:
        return STRETCH_NOT_ASKED()
    outcome = stretch.outcome or NOT_JUDGED()
    values: dict[str, Any] = {
        "confidence": stretch.confidence,
        "max_ns": max_ns,
        "horizon_s": stretch.horizon_s,
        "blocks": _blocks(verdict),
    }
    if not stretch.bound:
        reasons = tuple(told for told in (*stretch.forbids, *stretch.rises) if told.rule != SEEN.id)
        if verdict.evidence.seconds <= 0:
            return STRETCH_NOT_STATED(reasons=reasons)
        return STRETCH_LABELLED(**values, outcome=outcome, reasons=reasons)
    unserved = verdict.evidence.deadline.unserved
    if stretch.outcome is None and verdict.evidence.virtual:
        return SEED_UNSERVED(unserved=unserved) if unserved else STRETCH_UNJUDGED(**values)
    if unserved:
        return STRETCH_UNSERVED(outcome=outcome, horizon_s=stretch.horizon_s, unserved=unserved)
    if stretch.confidence < verdict.asked.confidence - 1e-9:
        return STRETCH_SHORT(**values, outcome=outcome, asked=verdict.asked.confidence)
    return STRETCH(**values, outcome=outcome)


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
    unseen = [ASSUMES_UNSEEN(seconds=seconds, rate_per_h=3 * 3600 / seconds)] if seconds > 0 else []
    return [ASSUMES_LIKE(), *unseen]


def _states_a_bound(verdict: Verdict) -> bool:
    """Of the rate or of the next stretch, as rate_line() and stretch_line() tell them."""
    rate, stretch = verdict.rate, verdict.stretch
    of_rate = rate.upper is not None or (rate.outcome is Ruling.FAIL and verdict.asked.miss_rate > 0)
    asks = verdict.asked.horizon_s != 0
    of_stretch = asks and stretch.bound and not verdict.evidence.deadline.unserved
    of_stretch = of_stretch or stretch.outcome is Ruling.PASS
    return of_rate or of_stretch
