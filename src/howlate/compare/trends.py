"""The rules "trend", "run time" and "overruns" of docs/compare.md: the maximum against a load's number, what the runs
of a load take, and the period below which overruns begin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from howlate.compare.compare import Block
from howlate.compare.topics import Topic
from howlate.model.study import numbered
from howlate.model.units import period_ns_of
from howlate.sides.sides import LEVEL, RUN, Decision, SideRow
from howlate.statistics import phrases
from howlate.statistics.diagnose import kendall_trend
from howlate.words.language import N_
from howlate.words.statement import Caption, Statement, message

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


NEVER = message("overruns.never", "{side}: no overrun at any period measured, down to {free_ns:given}.")
ALWAYS = message("overruns.always", "{side}: overruns at every period measured, up to {hit_ns:given}.")
BELOW = message(
    "overruns.below",
    "{side}: overruns begin below a period of {free_ns:given} (none from there on, some at {hit_ns:given}).",
)
UNCLEAR = message(
    "overruns.unclear",
    "{side}: overruns at {hit_ns:given} though none at {free_ns:given}: no period below which they begin.",
)

Begin = Literal["never", "always", "below", "unclear"]


class Boundary(Struct, frozen=True):
    """Where overruns begin among the measured periods."""

    kind: Begin
    free_ns: int
    """The shortest period from which on none had overruns ("below"), the shortest measured ("never"), or for
    "unclear" the shortest without overruns."""
    hit_ns: int
    """The longest period with overruns."""


def boundary(overruns: Mapping[int, float]) -> Boundary:
    """`overruns` by period in ns, at least one. "below": every period with overruns is shorter than every one
    without."""
    hit = [period for period, count in overruns.items() if count > 0]
    free = [period for period, count in overruns.items() if count == 0]
    if not hit:
        return Boundary("never", min(free), 0)
    if not free:
        return Boundary("always", 0, max(hit))
    return Boundary("below" if max(hit) < min(free) else "unclear", min(free), max(hit))


def boundaries(topic: Topic) -> list[Statement]:
    """The boundaries of each side, if it has at least two periods; loads with the same kind of boundary are
    merged."""
    statements = []
    for side, name in enumerate(topic.sides):
        counts: dict[str, dict[int, float]] = {}
        for block, row in topic.rows(side):
            period, spread = (period_ns_of(block.labels) or 0), row.spread("overruns")
            if period and spread is not None:
                by_period = counts.setdefault(block.labels.get("load", ""), {})
                by_period[period] = by_period.get(period, 0) + spread.largest
        kinds: dict[Boundary, list[str]] = {}
        for load, by_period in counts.items():
            if len(by_period) > 1:
                kinds.setdefault(boundary(by_period), []).append(load)
        for kind, loads in kinds.items():
            every = len(loads) == len(counts) or not any(loads)
            where = None if every else tuple(phrases.under(load) for load in loads)
            statements.append(_stated(kind, phrases.side_at(name, where)))
    return statements


def _stated(limits: Boundary, side: Statement | str) -> Statement:
    if limits.kind == "never":
        return NEVER(side=side, free_ns=limits.free_ns)
    if limits.kind == "always":
        return ALWAYS(side=side, hit_ns=limits.hit_ns)
    begin = BELOW if limits.kind == "below" else UNCLEAR
    return begin(side=side, free_ns=limits.free_ns, hit_ns=limits.hit_ns)
