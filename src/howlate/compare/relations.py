"""The rule "against" of docs/compare.md: which of two sides is typically sooner, is steadier,
has the smaller maximum; and the conclusions of other rooms about two sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from howlate.compare.compare import Block
from howlate.compare.topics import MOST_SAID, Topic
from howlate.rooms import hooks
from howlate.sides.sides import DIRECTIONS, NO_MISSES, Decision, Direction, SideRow
from howlate.statistics import phrases
from howlate.words.statement import Caption, Statement, message

Judged = Literal[
    "first", "second", "first where told", "second where told", "mixed", "equal", "indistinct", "unstated"
]


def judge(directions: Sequence[Direction]) -> Judged:
    """Which side has the smaller figure, if no point contradicts it.

    "first": larger at no point, and smaller at more than half of the tested points. "first where told":
    larger at none, smaller at some but at no more than half. "mixed": smaller at some and larger at others.
    "equal": every tested point shows that they are equal within the margin. "indistinct": no point distinguishes
    them, and not every one shows that. Likewise for the second. "unstated" if no point could be
    tested.
    """
    smaller, larger, equal = (directions.count(each) for each in ("smaller", "larger", "equal"))
    tried = smaller + larger + equal + directions.count("indistinct")
    if not tried:
        return "unstated"
    if smaller and larger:
        return "mixed"
    if smaller:
        return "first" if 2 * smaller > tried else "first where told"
    if larger:
        return "second" if 2 * larger > tried else "second where told"
    return "equal" if equal == tried else "indistinct"


STEADY = "stddev"

Judgements = Sequence[tuple[Block, Decision]]

RATIO = message("ratio.interval", "ratio {ratio}, 95 % interval from {low:significant} to {high:significant}")
RATIO_FROM = message("ratio.from", "ratio {ratio}, 95 % interval from {low:significant} on")

SMALLER = message(
    "against.smaller",
    "{a} has a smaller {figure} than {b} ({ratios}).",
    "{a} has a smaller {figure} than {b} at {smaller} of {points} points, a larger one at none ({ratios}).",
    by="points",
)
SMALLER_AT_FEW = message(
    "against.smaller-at-few",
    "Where they can be told apart, {a} has a smaller {figure} than {b}: at {smaller} of {points} points, a larger "
    "one at none ({ratios}).",
)
ALIKE = message(
    "against.alike",
    "{a} and {b}, {figure}: {outcome} ({reason:items}).",
    "{a} and {b}, {figure}: {outcome} at {count} of {points} points ({reason:items}).",
    by="points",
)
MIXED = message(
    "against.mixed",
    "Neither of {a} and {b} has the smaller {figure} everywhere: {a}'s is smaller at {smaller} of {points} points "
    "({smaller_at:items}), {b}'s at {larger} ({larger_at:items}).",
)
AS_SEEN = message("against.as-seen", "As measured: {figures:items}. Not attributed to the side: {why}.")
SMALLER_SEEN = message(
    "seen.smaller",
    "the {figure} is smaller on {a} at {smaller}, on {b} at {larger} of {points} point",
    "the {figure} is smaller on {a} at {smaller}, on {b} at {larger} of {points} points",
    by="points",
)
NOT_COMPARED = message(
    "against.none-stated",
    "Of {pairs} pair of sides no difference is stated: {whys:items}. The tables show all.",
    "Of {pairs} pairs of sides no difference is stated: {whys:items}. The tables show all.",
    by="pairs",
)


def relations(topic: Topic) -> list[Statement]:
    pairs = dict.fromkeys((p.first, p.second) for block in topic.blocks for p in block.pairs)
    related = [_relation(topic, first, second) for first, second in pairs]
    stated = [statement for of_pair, _ in related for statement in of_pair]
    unstated = [statement for _, of_pair in related for statement in of_pair]
    if len(unstated) <= MOST_SAID:
        return stated + unstated
    whys = dict.fromkeys(
        decision.why
        for block in topic.blocks
        for pair in block.pairs
        for decision in pair.decisions
        if decision.direction == "unstated" and decision.why is not None
    )
    return [*stated, NOT_COMPARED(pairs=len(unstated), whys=tuple(whys))]


def judgements_at(topic: Topic, first: int, second: int, figure: str) -> list[tuple[Block, Decision]]:
    return [
        (block, decision)
        for block in topic.blocks
        for pair in block.pairs
        if (pair.first, pair.second) == (first, second)
        for decision in pair.decisions
        if decision.figure == figure
    ]


def _relation(topic: Topic, first: int, second: int) -> tuple[list[Statement], list[Statement]]:
    """What is stated about two sides, and what was only observed."""
    stated: list[Statement] = []
    refusals: dict[Statement | None, list[str]] = {}
    for figure in phrases.FIGURES:
        judgements = judgements_at(topic, first, second, figure)
        kind = judge([decision.direction for _, decision in judgements])
        if kind == "unstated":
            refusals.setdefault(judgements[0][1].why if judgements else None, []).append(figure)
        elif kind in ("second", "second where told"):  # told from the side that is ahead
            turned = [(block, decision.turned()) for block, decision in judgements]
            ahead: Judged = "first" if kind == "second" else "first where told"
            stated += _told(topic, (second, first), figure, ahead, turned)
        else:
            stated += _told(topic, (first, second), figure, kind, judgements)
    stated += [each for conclude in hooks("conclusion") for each in conclude(topic, first, second)]
    seen = [
        AS_SEEN(figures=compared, why=why)
        for why, figures in refusals.items()
        if why is not None and why != NO_MISSES() and (compared := _as_seen(topic, first, second, figures))
    ]
    return stated, seen


def _told(
    topic: Topic, sides: tuple[int, int], figure: str, kind: Judged, judgements: Judgements
) -> list[Statement]:
    """The decision about one figure, with the points at which there is none."""
    at: dict[Direction, list[tuple[Block, Decision]]] = {direction: [] for direction in DIRECTIONS}
    for block, decision in judgements:
        at[decision.direction].append((block, decision))
    smaller, larger = at["smaller"], at["larger"]
    tested = len(judgements) - len(at["unstated"])
    who = {"a": topic.sides[sides[0]], "b": topic.sides[sides[1]], "figure": phrases.FIGURES[figure]}
    counts = {"smaller": len(smaller), "points": tested}
    statements = []
    if kind == "mixed":
        places = {"smaller_at": places_of(topic, smaller), "larger_at": places_of(topic, larger)}
        statements = [MIXED(**who, **counts, **places, larger=len(larger))]
    elif smaller:
        ahead = SMALLER if kind == "first" else SMALLER_AT_FEW
        statements = [ahead(**who, **counts, ratios=_ratios(smaller))]
    for direction in ("equal", "indistinct", "unstated"):
        if here := at[direction]:
            points = len(judgements) if direction == "unstated" else tested
            counts = {"count": len(here), "points": points}
            reason = _reason(topic, here, tested)
            statements.append(ALIKE(**who, **counts, outcome=Caption(DIRECTIONS[direction]), reason=reason))
    return statements


def _reason(topic: Topic, here: Judgements, tested: int) -> Statement | tuple[Statement, ...]:
    if whys := [decision.why for _, decision in here if decision.direction == "unstated" and decision.why]:
        return tuple(dict.fromkeys(whys))
    return _ratios(here) if len(here) == tested else places_of(topic, here)


def places_of(topic: Topic, judgements: Judgements) -> tuple[Statement, ...]:
    """The names of the points, if there are several."""
    return tuple(topic.where(block) or phrases.OVER_ALL() for block, _decision in judgements)


def _ratios(judgements: Judgements) -> Statement:
    """ "ratio 0.011 to 0.9, 95 % interval from 0.01 to 0.95": of the first side to the second."""
    intervals = [decision.interval for _, decision in judgements if decision.interval is not None]
    ratio = phrases.span([interval.ratio for interval in intervals])
    low, high = min(interval.low for interval in intervals), max(interval.high for interval in intervals)
    return RATIO_FROM(ratio=ratio, low=low) if math.isinf(high) else RATIO(ratio=ratio, low=low, high=high)


def _as_seen(topic: Topic, first: int, second: int, figures: Sequence[str]) -> tuple[Statement, ...]:
    """Only the counts, if no interval may be given."""
    seen = []
    for figure in figures:
        smaller = larger = points = 0
        for block in topic.blocks:
            medians = [_median(block.row(side), figure) for side in (first, second)]
            if medians[0] is not None and medians[1] is not None:
                points += 1
                smaller += medians[0] < medians[1]
                larger += medians[0] > medians[1]
        if points:
            a, b, of = topic.sides[first], topic.sides[second], phrases.FIGURES[figure]
            seen.append(SMALLER_SEEN(figure=of, a=a, b=b, smaller=smaller, larger=larger, points=points))
    return tuple(seen)


def _median(row: SideRow | None, figure: str) -> float | None:
    spread = row.spread(figure) if row is not None and row.once else None
    return None if spread is None else spread.median
