"""The rules "trend" and "run time" of docs/compare.md: the maximum against a load's number, and what the runs of a
load take."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from howlate.compare.compare import Block
from howlate.compare.topics import Topic
from howlate.model.study import numbered
from howlate.sides.sides import LEVEL, RUN, Decision, SideRow
from howlate.statistics import phrases
from howlate.statistics.diagnose import kendall_trend
from howlate.words.caption import Caption
from howlate.words.language import N_
from howlate.words.statement import Statement, message

TREND = message(
    "trend.maximum",
    "{side}: the maximum {trend} from {first:number} to {last:number} of {load} ({first_ns:time} to {last_ns:time}, "
    "tau {tau:significant}, p {p:probability}).",
)
RISES, FALLS, NEITHER = (Caption(N_("rises")), Caption(N_("falls")), Caption(N_("neither rises nor falls")))
DECIDED = message(
    "run-time.decided",
    "A run of {load} takes {ratio} times as long on {a} as on {b}: longer at {longer}, shorter at {shorter}, not "
    "distinguishable at {undecided} of {points} points.",
)
AS_SEEN = message(
    "run-time.as-seen",
    "As measured, a run of {load} takes {ratio} times as long on {a} as on {b}. Not attributed to the side: {why}.",
)

FEWEST_NUMBERS = 5
"""With fewer even a perfect order is not a trend at the 5 % level."""


class LoadSeries(Struct, frozen=True):
    """A figure against a load's number on one side."""

    load: str
    where: Statement | None
    points: tuple[tuple[float, float], ...]
    """(number, median over the repetitions), increasing numbers."""


def series_of(topic: Topic, side: int, pick: Callable[[SideRow], float | None]) -> list[LoadSeries]:
    """The series with enough numbers, by load and the other labels."""
    rows_by_load: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[float, float, Block]]] = {}
    for block, row in topic.rows(side):
        load, value = numbered(block.labels.get("load", "")), pick(row)
        if load is not None and value is not None:
            rest = tuple(sorted((n, t) for n, t in block.labels.items() if n != "load"))
            rows_by_load.setdefault((load[0], rest), []).append((load[1], value, block))
    return [
        LoadSeries(
            load,
            topic.where(rows[0][2], ("load",)),
            tuple(sorted((number, value) for number, value, _ in rows)),
        )
        for (load, _), rows in rows_by_load.items()
        if len({number for number, _, _ in rows}) >= FEWEST_NUMBERS
    ]


def middle_maximum(row: SideRow) -> float | None:
    spread = row.spread("maximum")
    return None if spread is None else spread.median


def trends(topic: Topic) -> list[Statement]:
    """Whether the maximum rises with a load's number: Kendall's tau over the numbers. Equal maxima, and those at
    equal numbers, are neither a rise nor a fall."""
    statements = []
    for side, name in enumerate(topic.sides):
        for series in series_of(topic, side, middle_maximum):
            maxima = [maximum for _, maximum in series.points]
            trend = kendall_trend(maxima, [number for number, _ in series.points])
            assert trend is not None
            statements.append(
                TREND(
                    trend=NEITHER if trend.p >= LEVEL else RISES if trend.tau > 0 else FALLS,
                    side=phrases.side_at(name, series.where),
                    first=series.points[0][0],
                    last=series.points[-1][0],
                    load=series.load,
                    first_ns=maxima[0],
                    last_ns=maxima[-1],
                    tau=trend.tau,
                    p=trend.p,
                )
            )
    return statements


def run_times(topic: Topic) -> list[Statement]:
    """Whether a load's own runs take longer on one side than on the other."""
    statements = []
    for first, second in dict.fromkeys((p.first, p.second) for block in topic.blocks for p in block.pairs):
        by_load: dict[str, list[tuple[Block, Decision]]] = {}
        for block in topic.blocks:
            for pair in block.pairs:
                for decision in pair.decisions if (pair.first, pair.second) == (first, second) else ():
                    if decision.figure.startswith(RUN):
                        by_load.setdefault(decision.figure, []).append((block, decision))
        for figure, decisions in by_load.items():
            statements += _run_time(topic, (first, second), figure, decisions)
    return statements


def _run_time(
    topic: Topic, sides: tuple[int, int], figure: str, decisions: Sequence[tuple[Block, Decision]]
) -> list[Statement]:
    """Decided where pairs are told apart; else as seen, with the reason. Empty where not all repetitions state it."""
    a, b = (topic.sides[side] for side in sides)
    load = figure.removeprefix(RUN).rpartition(".")[0]
    ratios = _ratios(sides, figure, [block for block, _ in decisions])
    if not ratios:
        return []
    directions = [decision.direction for _, decision in decisions if decision.direction != "unstated"]
    if not directions:
        why = decisions[0][1].why
        return [AS_SEEN(load=load, ratio=phrases.span(ratios), a=a, b=b, why=why)]
    longer, shorter = directions.count("larger"), directions.count("smaller")
    undecided = len(directions) - longer - shorter
    counts = {"longer": longer, "shorter": shorter, "undecided": undecided, "points": len(directions)}
    return [DECIDED(load=load, ratio=phrases.span(ratios), a=a, b=b, **counts)]


def _ratios(sides: tuple[int, int], figure: str, blocks: Sequence[Block]) -> list[float]:
    """Ratios of the medians over the repetitions, first to second, where both state one."""
    ratios = []
    for block in blocks:
        rows = [block.row(side) for side in sides]
        spreads = [None if row is None else row.spread(figure) for row in rows]
        first, second = spreads
        if first is not None and second is not None and second.median > 0:
            ratios.append(first.median / second.median)
    return ratios
