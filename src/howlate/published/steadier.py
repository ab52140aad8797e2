"""Whether the studies' conclusion holds that RT is steadier over all (docs/compare.md, "Over all")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from howlate.compare.relations import STEADY, Judgements, judgements_at, places_of
from howlate.compare.topics import Topic
from howlate.sides.sides import Decision, Direction, SideRow, over_points
from howlate.statistics import phrases
from howlate.words.statement import Caption, Statement, message

Answer = Literal["confirmed", "contradicted", "neither"]
RT = "rt"

OVER_ALL = message(
    "over-all.answer",
    "RT is steadier over all points: {answer}. {a}'s standard deviation is {ratio:significant} times {b}'s on "
    "average (95 % interval {low:significant} to {high:significant}); smaller at {smaller} of {points} points, "
    "larger at {larger}, indistinguishable at {undecided}.",
)
ANSWERS = {
    "confirmed": Caption("confirmed"),
    "contradicted": Caption("contradicted"),
    "neither": Caption("undecided"),
}
EXCEPTIONS = message("over-all.exceptions", "Exceptions to that: {places:items}.")


def answer(directions: Sequence[Direction], over_all: Direction) -> Answer:
    """Whether the first side's figure is smaller over all points.

    "confirmed": it is smaller in the mean over the points, and at more points smaller than larger;
    "contradicted": the same holds for the second side. "neither": anything else. A single number over all
    points may come from a few of them, and the count of points does not tell the size: a conclusion
    needs both.
    """
    smaller, larger = directions.count("smaller"), directions.count("larger")
    if over_all == "smaller" and smaller > larger:
        return "confirmed"
    if over_all == "larger" and larger > smaller:
        return "contradicted"
    return "neither"


def conclusion(topic: Topic, first: int, second: int) -> list[Statement]:
    """For each pair with one side that has PREEMPT_RT, of runs of a published study."""
    if not topic.is_published:
        return []
    models = [topic.preemption[side] == RT for side in (first, second)]
    if models[0] == models[1]:
        return []
    rt, other = (first, second) if models[0] else (second, first)
    points: dict[str, list[tuple[SideRow, SideRow]]] = {}
    for figure in phrases.FIGURES:
        for block, decision in judgements_at(topic, first, second, figure):
            rt_row, other_row = block.row(rt), block.row(other)
            if decision.direction != "unstated" and rt_row is not None and other_row is not None:
                points.setdefault(figure, []).append((rt_row, other_row))
    over_all = over_points(points).get(STEADY)
    if over_all is None:
        return []
    judgements = judgements_at(topic, first, second, STEADY)
    if rt != first:
        judgements = [(block, decision.turned()) for block, decision in judgements]
    return _answered(topic, (rt, other), judgements, over_all)


def _answered(
    topic: Topic, sides: tuple[int, int], judgements: Judgements, over_all: Decision
) -> list[Statement]:
    """The answer with its figures, and the points against it."""
    who = {"a": topic.sides[sides[0]], "b": topic.sides[sides[1]]}
    answered = answer([decision.direction for _, decision in judgements], over_all.direction)
    by_direction = {
        direction: [(block, decision) for block, decision in judgements if decision.direction == direction]
        for direction in ("smaller", "larger", "indistinct", "equal")
    }
    interval = over_all.interval
    assert interval is not None
    statements = [
        OVER_ALL(
            **who,
            answer=ANSWERS[answered],
            ratio=interval.ratio,
            low=interval.low,
            high=interval.high,
            points=sum(map(len, by_direction.values())),
            smaller=len(by_direction["smaller"]),
            larger=len(by_direction["larger"]),
            undecided=len(by_direction["indistinct"]) + len(by_direction["equal"]),
        )
    ]
    contrary = by_direction[{"confirmed": "larger", "contradicted": "smaller"}.get(answered, "indistinct")]
    if contrary and answered != "neither":
        statements.append(EXCEPTIONS(places=places_of(topic, contrary)))
    return statements
