"""All that a verdict says of a row, in order: the sentence, the answers, the facts, what is assumed, what is left to
do."""

from __future__ import annotations

from howlate.verdict.evidence import UNCOUNTED, UNLIKE_DEADLINES
from howlate.verdict.extrapolate import as_statements
from howlate.verdict.promise_bounds import assumptions, events_line, horizon_line, rate_line
from howlate.verdict.promise_facts import facts
from howlate.verdict.promise_sentence import no_verdict, sentence
from howlate.verdict.ruling import Ruling, Verdict
from howlate.verdict.verdict import too_few
from howlate.words.statement import Statement, message

HOLDS = message(
    "verdict.holds",
    "The row is not valid. The misses are certain all the same; a PASS and bounds are withheld:",
)
AGAIN = message("verdict.again", "Measure again once this no longer happens.")
OF_SETTINGS = frozenset({UNLIKE_DEADLINES.id, UNCOUNTED.id})
"""Failed checks that a new measurement would repeat."""
NEEDED = message(
    "verdict.needed",
    "Measure {seconds:seconds-at-most} longer to decide it, if misses keep coming at this rate.",
)
MORE_MAY_HELP = message(
    "verdict.more-may-help",
    "Measuring longer may decide it: how much longer cannot be said before there are enough samples.",
)
RATE_ALONE = message(
    "verdict.rate-alone",
    "The rate passes, but no horizon can pass after a miss: leave out --horizon to judge the rate alone.",
)
NO_TIME_HELPS = message(
    "verdict.no-time-helps", "Measuring longer under these conditions will not decide it."
)


def remaining(verdict: Verdict) -> list[Statement]:
    """What to do about an open verdict."""
    if verdict.outcome is not Ruling.INCONCLUSIVE:
        return []
    if no_verdict(verdict):
        of_settings = all(check.rule in OF_SETTINGS for check in verdict.evidence.failed_checks)
        return [] if of_settings and verdict.evidence.failed_checks else [AGAIN()]
    misses = verdict.evidence.deadline.misses
    if needed_s := verdict.needed_s:
        return [NEEDED(seconds=needed_s)]
    if misses and verdict.rate.outcome is Ruling.PASS:
        return [RATE_ALONE()]
    by_rounds = verdict.evidence.by_rounds and not verdict.rate.forbids and not misses
    return [MORE_MAY_HELP()] if too_few(verdict) or by_rounds else [NO_TIME_HELPS()]


def answers(verdict: Verdict) -> tuple[Statement, ...]:
    """The answers on the rate, on late events, on the horizon."""
    return (rate_line(verdict), *events_line(verdict), *horizon_line(verdict))


def statements(verdict: Verdict) -> list[Statement]:
    """All statements on one row."""
    if no_verdict(verdict):
        holds = [HOLDS()] if verdict.outcome is Ruling.FAIL else []
        told = [*holds, *verdict.rate.forbids, *remaining(verdict)]
    else:
        told = [*answers(verdict), *facts(verdict), *assumptions(verdict), *remaining(verdict)]
    return [sentence(verdict), *told, *as_statements(verdict.extrapolation)]


def standing_in_the_way(verdict: Verdict) -> list[Statement]:
    """Why one is open, and what to do."""
    if verdict.outcome is not Ruling.INCONCLUSIVE:
        return []
    why = verdict.rate.forbids if no_verdict(verdict) else answers(verdict)
    return [*why, *remaining(verdict)]
