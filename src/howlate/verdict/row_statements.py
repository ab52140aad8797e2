"""All that a verdict says of a row, in order: the sentence, the answers, the facts, what is assumed, what is left to
do."""

from __future__ import annotations

import math

from howlate.statistics.valid import ACCOUNT
from howlate.verdict.evidence import UNCOUNTED, UNLIKE_DEADLINES
from howlate.verdict.extrapolate import as_statements
from howlate.verdict.forbids import DIAGNOSTICS, FEW
from howlate.verdict.promise_bounds import assumptions, events_line, horizon_line, rate_line
from howlate.verdict.promise_facts import facts
from howlate.verdict.promise_sentence import no_verdict, sentence
from howlate.verdict.rate import MORE_TOGETHER
from howlate.verdict.ruling import Ruling, Verdict
from howlate.words.statement import Statement, message

HOLDS = message(
    "verdict.holds",
    "A check failed. The misses are certain all the same; a PASS and bounds are withheld.",
)
AGAIN = message("verdict.again", "Measure again once this no longer happens.")
CONTRADICTED = message(
    "verdict.contradicted", "Take a file whose numbers do not contradict each other, or measure again."
)
OF_SETTINGS = frozenset({UNLIKE_DEADLINES.id, UNCOUNTED.id})
"""Failed checks that a new measurement would repeat."""
NEEDED = message(
    "verdict.needed",
    "Measure {seconds:seconds-at-most} longer to decide it, if misses keep coming at this rate.",
)
NEEDED_CALM = message(
    "verdict.needed-calm", "Measure {seconds:seconds-at-most} longer to decide it, if none misses."
)
NEEDED_REPETITIONS = message(
    "verdict.needed-repetitions",
    "Measure {count:count} more repetition (round, seed) to decide it, if none misses.",
    "Measure {count:count} more repetitions (rounds, seeds) to decide it, if none misses.",
    by="count",
)
MORE_MAY_HELP = message(
    "verdict.more-may-help",
    "Measuring longer may decide it: how much longer cannot be said before there are enough samples.",
)
RATE_ALONE = message(
    "verdict.rate-alone",
    "The rate passes, but no horizon can pass after a miss: leave out --horizon to judge the rate alone.",
)
LARGER_CLUSTER = message("verdict.larger-cluster", "A larger --cluster may decide it.")
ROUNDS_MAY_HELP = message(
    "verdict.rounds-may-help", "Rounds far apart may decide it: measure again with --rounds 20 --every 5min."
)
NO_TIME_HELPS = message(
    "verdict.no-time-helps", "Measuring longer under these conditions will not decide it."
)


def remaining(verdict: Verdict) -> list[Statement]:
    """What to do about an open verdict."""
    if verdict.outcome is not Ruling.INCONCLUSIVE:
        return []
    if no_verdict(verdict):
        rules = {check.rule for check in verdict.evidence.failed_checks}
        again = CONTRADICTED() if rules == {ACCOUNT.id} else AGAIN()
        return [] if rules and rules <= OF_SETTINGS else [again]
    if verdict.needed_s:
        return [_needed(verdict, verdict.needed_s)]
    evidence = verdict.evidence
    if evidence.deadline.misses and verdict.rate.outcome is Ruling.PASS:
        return [RATE_ALONE()]
    why = {reason.rule for answer in verdict.open for reason in answer.forbids}
    if why == {MORE_TOGETHER.id}:
        return [LARGER_CLUSTER()]
    if why <= FEW and (why or evidence.by_rounds):
        return [MORE_MAY_HELP()]
    is_unlike = bool(why) and why <= FEW | DIAGNOSTICS and not evidence.apart
    return [ROUNDS_MAY_HELP() if is_unlike else NO_TIME_HELPS()]


def _needed(verdict: Verdict, needed_s: float) -> Statement:
    evidence = verdict.evidence
    if verdict.stretch.blocks == "time" or verdict.stretch.needed_s is None:
        return (NEEDED if evidence.deadline.misses else NEEDED_CALM)(seconds=needed_s)
    return NEEDED_REPETITIONS(count=math.ceil(needed_s / evidence.seconds * evidence.repetitions - 1e-9))


def answers(verdict: Verdict) -> tuple[Statement, ...]:
    return (rate_line(verdict), *events_line(verdict), *horizon_line(verdict))


def statements(verdict: Verdict) -> list[Statement]:
    if no_verdict(verdict):
        holds = [HOLDS()] if verdict.outcome is Ruling.FAIL else []
        told = [*holds, *verdict.rate.forbids, *remaining(verdict)]
    else:
        told = [*answers(verdict), *facts(verdict), *assumptions(verdict), *remaining(verdict)]
    return [sentence(verdict), *told, *as_statements(verdict.extrapolation)]


def standing_in_the_way(verdict: Verdict) -> list[Statement]:
    if verdict.outcome is not Ruling.INCONCLUSIVE:
        return []
    why = verdict.rate.forbids if no_verdict(verdict) else answers(verdict)
    return [*why, *remaining(verdict)]
