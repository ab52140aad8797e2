"""The second question of a verdict: how late is the worst release within the horizon? docs/verdict.md has
the rules with their reasons."""

from __future__ import annotations

import math

from howlate.statistics.diagnose import confidence_ahead
from howlate.verdict.evidence import Evidence
from howlate.verdict.extrapolate import UNSERVED
from howlate.verdict.forbids import (
    COARSE,
    NO_MAX,
    NO_ORDER,
    NO_TIME,
    NOT_LOOKED,
    below_threshold,
    between_values,
    beyond_range,
    rises,
    runs_differ,
    too_short,
    trends,
)
from howlate.verdict.rate import NOT_COUNTED
from howlate.verdict.ruling import Question, Ruling, StretchVerdict
from howlate.words.statement import Statement, message

SEEN = message("verdict.seen", "the deadline was missed already, so no bound below it holds")


def horizon_of(evidence: Evidence, asked: Question) -> float:
    """The horizon in question; by default one repetition where repetitions are the blocks, else T (1 - c) / c, at
    95 % a nineteenth of the measured time."""
    if asked.horizon_s is not None:
        return asked.horizon_s
    if _blocks_of(evidence, asked) != "time":
        return evidence.seconds / evidence.repetitions
    return evidence.seconds * (1 - asked.confidence) / asked.confidence


def horizon_verdict(evidence: Evidence, asked: Question) -> StretchVerdict:
    """The largest value of B past blocks bounds the next M with confidence B / (B + M)."""
    horizon_s = horizon_of(evidence, asked)
    blocks, confidence = _confidence(evidence, asked, horizon_s)
    forbids = trends(evidence)
    if evidence.seconds <= 0:
        forbids.append(NO_TIME())
    if not evidence.known.time_order:
        forbids.append(NO_ORDER())
    elif None in evidence.tails:
        forbids.append(NOT_LOOKED())
    if beyond_range(evidence) and not evidence.known.exact_max:
        forbids.append(NO_MAX())
    if between_values(evidence) and not evidence.deadline.misses:
        forbids.append(COARSE(resolution_ns=evidence.known.resolution_ns))
    if evidence.deadline.at_least and not evidence.deadline.misses:
        forbids.append(NOT_COUNTED())
    forbids += [*below_threshold(evidence), *too_short(evidence)]
    enough = confidence >= asked.confidence - 1e-9
    outcome: Ruling | None = Ruling.PASS if enough and not forbids else Ruling.INCONCLUSIVE
    needed_s: float | None = None
    if outcome is Ruling.INCONCLUSIVE and not forbids:
        needed_s = _needs_s(evidence, asked, blocks, horizon_s)
    if evidence.deadline.misses:
        outcome, needed_s = Ruling.INCONCLUSIVE if asked.miss_rate else Ruling.FAIL, None
        forbids = [SEEN(), *unserved(evidence), *forbids]
    if not asked.judges_horizon:
        outcome, needed_s = None, None
    risen = () if forbids else tuple(rises(evidence))
    stated = (not forbids or forbids == [SEEN()]) and not risen
    return StretchVerdict(outcome, tuple(forbids), needed_s, horizon_s, confidence, blocks, stated, risen)


def unserved(evidence: Evidence) -> list[Statement]:
    """Releases without an answer, which may have been later than the largest value."""
    count = evidence.deadline.unserved
    return [UNSERVED(count=count)] if count else []


def _needs_s(evidence: Evidence, asked: Question, blocks: str, horizon_s: float) -> float:
    """H c / (1 - c) - T; where runs are the blocks, as long as the runs that are missing."""
    times = asked.confidence / (1 - asked.confidence)
    if blocks == "time":
        return horizon_s * times - evidence.seconds
    missing = math.ceil(_ahead(evidence, asked) * times - 1e-9) - evidence.repetitions
    return missing * evidence.seconds / evidence.repetitions


def _confidence(evidence: Evidence, asked: Question, horizon_s: float) -> tuple[str, float]:
    """The exchangeable blocks, and the confidence with which the past ones bound the horizon."""
    if horizon_s <= 0 or evidence.seconds <= 0:
        return "time", 1.0 if evidence.seconds > 0 else 0.0
    blocks = _blocks_of(evidence, asked)
    if blocks == "time":
        return blocks, evidence.seconds / (evidence.seconds + horizon_s)
    return blocks, confidence_ahead(evidence.repetitions, _ahead(evidence, asked))


def _blocks_of(evidence: Evidence, asked: Question) -> str:
    """Boots where there are enough of them, runs where they differ or are far apart, else "time"."""
    of_repetitions = confidence_ahead(evidence.repetitions, _ahead(evidence, asked))
    if evidence.boots > 1 and of_repetitions >= asked.confidence - 1e-9:
        return "boots"
    return "runs" if evidence.apart or runs_differ(evidence) else "time"


def _ahead(evidence: Evidence, asked: Question) -> int:
    if asked.horizon_s is None or evidence.seconds <= 0:
        return 1
    return max(1, math.ceil(asked.horizon_s * evidence.repetitions / evidence.seconds - 1e-9))
