"""The rule "against" of docs/compare.md: which of two sides is typically sooner, is steadier,
has the smaller maximum; what a room concludes of two sides as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from howlate.compare.compare import Block
from howlate.compare.topics import MOST_SAID, Topic
from howlate.model.summary import MISSES
from howlate.rooms import hooks
from howlate.sides.sides import MARGIN, NO_MISSES, P999, Decision, Direction, SideRow
from howlate.statistics import phrases
from howlate.words.statement import Rule, Statement, rule

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
"""The decision at each point."""

RATIO = rule("ratio.one", "ratio {ratio}, 95 % interval from {low:significant} to {high:significant}")
RATIOS = rule("ratio.several", "ratio {ratio}, 95 % intervals from {low:significant} to {high:significant}")

_AT = "{smaller} of {points} points, larger at none ({ratios})."


def _ahead(name: str, head: str) -> Rules:
    """The rule for a side whose figure is smaller at more than half of the points, and at fewer."""
    return (
        rule(f"against.{name}", f"{head} ({{ratios}}).", f"{head} at {_AT}", by="points"),
        rule(f"against.{name}-where-told-apart", f"Where they can be told apart, {head} at {_AT}"),
    )


Rules = tuple[Rule, Rule]
SOONER = _ahead("sooner", "{a} is typically sooner than {b}: its median is smaller")
SMALLER_MEDIAN = _ahead("smaller-median", "{a} is typically smaller than {b}: its median is smaller")
SMALLER_MAXIMUM = _ahead("smaller-maximum", "{a} has a smaller maximum than {b}: it is smaller")
STEADIER = _ahead("steadier", "{a} is steadier than {b}: its standard deviation is smaller")
SMALLER_TAIL = _ahead("smaller-tail", "{a} has a smaller p99.9 than {b}: it is smaller")
FEWER_MISSES = _ahead("fewer-misses", "{a} misses fewer deadlines than {b}: its share of them is smaller")
EQUAL = rule(
    "against.equal",
    "{a} and {b} are equal within {margin:percent} in their {figure} ({ratios}).",
    "{a} and {b} are equal within {margin:percent} in their {figure} at all of {points} points ({ratios}).",
    by="points",
)
EQUAL_AT = rule(
    "against.equal-at",
    "{a} and {b} are equal within {margin:percent} in their {figure} at {count} point: {places:items}.",
    "{a} and {b} are equal within {margin:percent} in their {figure} at {count} points: {places:items}.",
    by="count",
)
INDISTINCT = rule(
    "against.indistinct",
    "{a} and {b} are not distinguishable in their {figure} ({ratios}). That is not to say that they are equal.",
    "{a} and {b} are not distinguishable in their {figure} at any of {points} points ({ratios}). That is not to say "
    "that they are equal.",
    by="points",
)
MIXED = rule(
    "against.mixed",
    "Neither of {a} and {b} has the smaller {figure} everywhere: {a}'s is smaller at {smaller} of {points} points "
    "({smaller_at:items}), {b}'s at {larger} ({larger_at:items}).",
)
UNDECIDED = rule(
    "against.undecided",
    "{a} and {b} are not distinguishable in their {figure} at {count} point: {places:items}.",
    "{a} and {b} are not distinguishable in their {figure} at {count} points: {places:items}.",
    by="count",
)
UNSTATED = rule(
    "against.unstated",
    "{count} more point states nothing of the {figure} of {a} and {b}.",
    "{count} more points state nothing of the {figure} of {a} and {b}.",
    by="count",
)
AS_SEEN = rule(
    "against.as-seen", "As seen: {figures:items}. Whether that is the side's doing is not stated: {why}."
)
SMALLER_SEEN = rule(
    "seen.smaller",
    "the {figure} is smaller on {a} at {smaller}, on {b} at {larger} of {points} point",
    "the {figure} is smaller on {a} at {smaller}, on {b} at {larger} of {points} points",
    by="points",
)
SAME_SEEN = rule(
    "seen.same",
    "the {figure} is the same at {points} point",
    "the {figure} is the same at {points} points",
    by="points",
)
NONE_STATED = rule(
    "against.none-stated",
    "Of {pairs} pair of sides no difference is stated: {whys:items}. The tables show all.",
    "Of {pairs} pairs of sides no difference is stated: {whys:items}. The tables show all.",
    by="pairs",
)


def relations(topic: Topic) -> list[Statement]:
    """For each pair of sides and each figure."""
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
    return [*stated, NONE_STATED(pairs=len(unstated), whys=tuple(whys))]


def judgements_at(topic: Topic, first: int, second: int, figure: str) -> list[tuple[Block, Decision]]:
    """The decisions about a figure of two sides, at each point."""
    return [
        (block, decision)
        for block in topic.blocks
        for pair in block.pairs
        if (pair.first, pair.second) == (first, second)
        for decision in pair.decisions
        if decision.figure == figure
    ]


def _relation(topic: Topic, first: int, second: int) -> tuple[list[Statement], list[Statement]]:
    """The statement about two sides, and what was only observed."""
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
    smaller, larger, unclear, equal = (
        [(block, decision) for block, decision in judgements if decision.direction == direction]
        for direction in ("smaller", "larger", "indistinct", "equal")
    )
    points = len(smaller) + len(larger) + len(unclear) + len(equal)
    who = {"a": topic.sides[sides[0]], "b": topic.sides[sides[1]]}
    of_figure = {**who, "figure": phrases.FIGURES[figure]()}
    within = {**of_figure, "margin": MARGIN - 1}
    statements = []
    if kind == "equal":
        statements, equal = [EQUAL(**within, points=points, ratios=_ratios(equal))], []
    elif kind == "indistinct" and not equal:
        statements, unclear = [INDISTINCT(**of_figure, points=points, ratios=_ratios(unclear))], []
    elif kind == "mixed":
        statements = [
            MIXED(
                **of_figure,
                smaller=len(smaller),
                smaller_at=places_of(topic, smaller),
                points=points,
                larger=len(larger),
                larger_at=places_of(topic, larger),
            )
        ]
    elif smaller:
        everywhere, where_told = _rules_of(topic, figure)
        ahead = everywhere if kind == "first" else where_told
        statements = [ahead(**who, smaller=len(smaller), points=points, ratios=_ratios(smaller))]
    if equal:
        statements.append(EQUAL_AT(**within, count=len(equal), places=places_of(topic, equal)))
    if unclear:
        statements.append(UNDECIDED(**of_figure, count=len(unclear), places=places_of(topic, unclear)))
    if points < len(judgements):
        statements.append(UNSTATED(**of_figure, count=len(judgements) - points))
    return statements


def _rules_of(topic: Topic, figure: str) -> Rules:
    """The rules that state that a figure is smaller."""
    if figure == "max":
        return SMALLER_MAXIMUM
    if figure == STEADY:
        return STEADIER
    if figure in (P999, MISSES):
        return SMALLER_TAIL if figure == P999 else FEWER_MISSES
    return SOONER if topic.are_wake_ups else SMALLER_MEDIAN


def places_of(topic: Topic, judgements: Judgements) -> tuple[Statement, ...]:
    """The points among several, by their labels."""
    return tuple(topic.where(block) or phrases.OVER_ALL() for block, _decision in judgements)


def _ratios(judgements: Judgements) -> Statement:
    """ "ratio 0.011 to 0.9, 95 % intervals from 0.01 to 0.95": of the first side to the second."""
    intervals = [decision.interval for _, decision in judgements if decision.interval is not None]
    return (RATIO if len(intervals) == 1 else RATIOS)(
        ratio=phrases.span([interval.ratio for interval in intervals]),
        low=min(interval.low for interval in intervals),
        high=max(interval.high for interval in intervals),
    )


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
        what = {"figure": phrases.FIGURES[figure](), "points": points}
        if points and not smaller and not larger:
            seen.append(SAME_SEEN(**what))
        elif points:
            a, b = topic.sides[first], topic.sides[second]
            seen.append(SMALLER_SEEN(**what, a=a, b=b, smaller=smaller, larger=larger))
    return tuple(seen)


def _median(row: SideRow | None, figure: str) -> float | None:
    spread = row.spread(figure) if row is not None and row.once else None
    return None if spread is None else spread.median
