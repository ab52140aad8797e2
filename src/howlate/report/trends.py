"""The rules "trend" and "run time" of docs/compare.md: the maximum against a load's number, and what the runs of a
load take."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from howlate.charts._words import significant
from howlate.report.compare import Block
from howlate.report.parts import Part, Said, time_of
from howlate.stats.diagnose import kendall_trend
from howlate.stats.sides import LEVEL, Row

FEWEST_NUMBERS = 5
"""Of fewer even a perfect order is no trend at the 5 % level."""
_NUMBERED = re.compile(r"(?P<name>[a-z][a-z0-9-]*):(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<rest>[,+].*)?")


def numbered(load: str) -> tuple[str, float] | None:
    """A load's name and the number it is asked for: ("hackbench", 10.0). None for one without, and for several
    loads."""
    match = _NUMBERED.fullmatch(load)
    if match is None or "+" in (match["rest"] or ""):
        return None
    return f"{match['name']}{match['rest'] or ''}", float(match["number"])


@dataclass(frozen=True)
class Series:
    """A figure against a load's number on one side."""

    load: str
    where: str
    points: tuple[tuple[float, float], ...]
    """(number, median over the repetitions), increasing numbers."""


def series_of(
    part: Part, side: int, pick: Callable[[Row], float | None], fewest: int = FEWEST_NUMBERS
) -> list[Series]:
    """By load and everything else that is the same, where there are enough numbers."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[float, float, Block]]] = {}
    for block, row in part.rows(side):
        load, value = numbered(block.labels.get("load", "")), pick(row)
        if load is not None and value is not None:
            rest = tuple(sorted((n, t) for n, t in block.labels.items() if n != "load"))
            found.setdefault((load[0], rest), []).append((load[1], value, block))
    return [
        Series(
            load,
            part.where(rows[0][2], ("load",)),
            tuple(sorted((number, value) for number, value, _ in rows)),
        )
        for (load, _), rows in found.items()
        if len({number for number, _, _ in rows}) >= fewest
    ]


def middle_maximum(row: Row) -> float | None:
    its = row.range("maximum")
    return None if its is None else its.median


def trends(part: Part) -> list[Said]:
    """Whether the maximum rises with a load's number: Kendall's tau over the numbers."""
    out = []
    for side, name in enumerate(part.sides):
        for its in series_of(part, side, middle_maximum):
            values = [value for _, value in its.points]
            trend = kendall_trend(values)
            assert trend is not None
            first, last = its.points[0][0], its.points[-1][0]
            span = f"from {first:g} to {last:g} of {its.load}{' ' if its.where else ''}{its.where}"
            change = f"{time_of(values[0])} to {time_of(values[-1])}, tau {trend.tau:.2f}, p {trend.p:.2g}"
            if trend.p >= LEVEL:
                text = f"{name}: no rise and no fall of the maximum is shown {span} ({change})"
            elif trend.tau > 0:
                text = f"{name}: the maximum rises {span} ({change})"
            else:
                text = f"{name}: the maximum falls {span} ({change})"
            out.append(Said("trend", f"{text}."))
    return out


RUN_TIME = "run_ns_mean"


def run_times(part: Part) -> list[Said]:
    """What a load's own runs take on one side against another."""
    pairs = dict.fromkeys((p.first, p.second) for block in part.blocks for p in block.pairs)
    out = []
    for first, second in pairs:
        by_load: dict[str, list[tuple[Block, float]]] = {}
        for block in part.blocks:
            one, other = block.row(first), block.row(second)
            for key in dict.fromkeys(
                k for r in (one, other) if r for o in r.once.values() for k in o.results
            ):
                name, _, what = key.rpartition(".")
                mine = one.results(key) if one is not None else None
                its = other.results(key) if other is not None else None
                if what == RUN_TIME and mine and its and its.median > 0:
                    by_load.setdefault(name, []).append((block, mine.median / its.median))
        for load, rows in by_load.items():
            ratios = [ratio for _, ratio in rows]
            slower = sum(ratio > 1 for ratio in ratios)
            span = (
                significant(ratios[0])
                if len(ratios) == 1
                else f"{significant(min(ratios))} to {significant(max(ratios))}"
            )
            out.append(
                Said(
                    "run time",
                    f"A run of {load} takes {span} times as long on {part.sides[first]} as on {part.sides[second]}, "
                    f"longer at {slower} of {len(rows)} points (middle {significant(median(ratios))}; as seen, "
                    "without an interval).",
                )
            )
    return out
