"""All that a verdict says of a row, in order: the sentence, the two answers, the facts, what is assumed, what is left
to do."""

from __future__ import annotations

from howlate.verdict.evidence import UNCOUNTED, UNLIKE_DEADLINES
from howlate.verdict.extrapolate import as_statements
from howlate.verdict.promise_bounds import assumptions, events_line, rate_line, stretch_line
from howlate.verdict.promise_facts import facts
from howlate.verdict.promise_sentence import no_verdict, sentence
from howlate.verdict.ruling import Ruling, Verdict
from howlate.verdict.verdict import too_few
from howlate.words.statement import Statement, rule

HOLDS = rule(
    "verdict.holds",
    "The row is not valid. That a miss was seen holds all the same; a PASS and bounds are withheld:",
)
AGAIN = rule("verdict.again", "Measure again once this no longer happens.")
OF_SETTINGS = frozenset({UNLIKE_DEADLINES.id, UNCOUNTED.id})
"""Failed checks that would be the same if it were measured once more."""
NEEDED = rule(
    "verdict.needed",
    "Measure {seconds:seconds-at-most} longer to decide it, if misses keep coming at this rate.",
)
MORE_MAY_HELP = rule(
    "verdict.more-may-help",
    "Measuring longer may decide it: how much longer cannot be said before there are enough samples.",
)
RATE_ALONE = rule(
    "verdict.rate-alone",
    "The rate passes. That none will miss in the next stretch cannot be shown after a miss: leave out --horizon to "
    "ask for the rate alone.",
)
NO_TIME_HELPS = rule("verdict.no-time-helps", "Measuring longer under these conditions will not decide it.")


def remaining(verdict: Verdict) -> list[Statement]:
    """What to do about an open one."""
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
        *events_line(verdict),
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
    why = (
        verdict.rate.forbids
        if no_verdict(verdict)
        else (
            rate_line(verdict),
            *events_line(verdict),
            stretch_line(verdict),
        )
    )
    return [*why, *remaining(verdict)]
