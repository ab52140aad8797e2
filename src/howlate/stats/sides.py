"""Sides compared at one point: each figure's spread over the repetitions, and where the statistics allow it, whether
one side's is smaller (docs/compare.md, "Differences").

No single repetition is a side's value, and no difference is stated that an exact paired interval does not carry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import numpy as np

from howlate.model.summary import MISSES, CellSummary, ColumnSummary
from howlate.stats.paired import RatioInterval, ratio_interval, signed_rank_counts

FIGURES = ("minimum", "mean", "p99", "maximum", "deviation", "overruns", "exceeded", "deadline_misses")
"""The published layout, in its order, with the p99 and with the misses of a stated deadline."""
COMPARED = ("0.5", "max", "stddev")
"""What is compared in pairs: the typical wake-up, the largest, and the scatter of each repetition."""
LOAD = "load"
"""The figure that tells what the loads achieved of what was expected of them, as a share."""
RUN_TIME = "run_ns_mean"
"""What a load says that counts how long its runs took (docs/loads/hackbench.md)."""
RUN = "run:"
"""Before the name of what a load says of its own runs: "run:hackbench.run_ns_mean"."""
MARGIN = 1.1
"""A ratio between 1 / 1.1 and 1.1 is not called a difference."""
LEVEL = 0.05
FEWEST_PAIRS = 6
"""Five pairs have no 95 % interval at all."""

STARVED = "the load was starved, as the study expects: nothing is said of it under load"

Direction = Literal["smaller", "larger", "indistinct", "unstated"]


@dataclass(frozen=True)
class Range:
    """One figure over the repetitions. The median of an even number is the mean of the middle two."""

    smallest: float
    median: float
    largest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Range | None:
        return cls(min(values), float(median(values)), max(values)) if values else None

    def to_json(self) -> dict[str, float]:
        return dict(vars(self))


NOTHING = ColumnSummary(0, None, None, None, None, None, {}, None)
"""Of a cell that measures nothing itself."""


@dataclass(frozen=True)
class Once:
    """One repetition's figures of one column."""

    column: ColumnSummary
    overruns: int
    results: Mapping[str, float]
    """What the loads said of themselves: "hackbench.run_ns"."""
    misses: int | None = None
    """Of a stated deadline."""
    load_share: float | None = None
    """What the weakest of its loads achieved of what was expected of it; None without such a load."""
    starved: bool = False
    """A load was not there, as the study expects: no statement is made of it."""

    @classmethod
    def of(cls, cell: CellSummary, column: str) -> Once | None:
        """None where the cell does not have the column; without a name what its loads say alone."""
        if column and column not in cell.columns:
            return None
        results = {
            f"{load.name}.{key}": float(value)
            for load in cell.loads
            for key, value in load.results.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        its = cell.columns[column] if column else NOTHING
        misses = cell.deadline.misses if cell.deadline is not None else None
        return cls(its, cell.accounting.overruns, results, misses, cell.load_share, cell.starved)

    def figure(self, name: str) -> float | None:
        """One of FIGURES or COMPARED, another quantile, or RUN and a load's own figure."""
        if name.startswith(RUN):
            return self.results.get(name.removeprefix(RUN))
        if name == LOAD:
            return self.load_share
        if name == "overruns":
            return self.overruns
        if name == "exceeded":
            return self.column.period_exceeded
        if name == MISSES:
            return self.misses
        if name == "p99":
            return self.column.quantiles.get("0.99")
        field = {"minimum": "min", "maximum": "max", "deviation": "stddev"}.get(name, name)
        if field in ("min", "mean", "max", "stddev"):
            found: float | None = getattr(self.column, field)
            return found
        return self.column.quantiles.get(field)


@dataclass(frozen=True)
class Row:
    """One side at one point: its valid repetitions."""

    side: int
    once: Mapping[int, Once]
    planned: int
    """Repetitions that there are or should be."""
    not_loaded: tuple[float, ...] = ()
    """Where none is valid because a load was not there: what it achieved in each."""

    @property
    def starved(self) -> bool:
        """The load was not there in one of them, as the study expects."""
        return any(its.starved for its in self.once.values())

    def range(self, name: str) -> Range | None:
        """None where a valid repetition does not state it."""
        values = [its.figure(name) for its in self.once.values()]
        stated = [value for value in values if value is not None]
        return Range.of(stated) if len(stated) == len(values) else None

    @property
    def of(self) -> str:
        """ "8", or "7 of 8"."""
        return (
            str(len(self.once)) if len(self.once) == self.planned else f"{len(self.once)} of {self.planned}"
        )

    @property
    def runs(self) -> tuple[str, ...]:
        """What loads say of how long a run of theirs took, as figures."""
        names = dict.fromkeys(name for its in self.once.values() for name in its.results)
        return tuple(f"{RUN}{name}" for name in names if name.endswith(f".{RUN_TIME}"))


@dataclass(frozen=True)
class Verdict:
    """One figure of two sides."""

    figure: str
    direction: Direction
    """Of the first against the second."""
    interval: RatioInterval | None = None
    """first / second; None where there is none."""
    p: float = 1.0
    """Of a ratio outside the margin, in the direction that the data point to; two-sided, exact."""
    why: str = ""
    """Of what is unstated, or not told apart."""

    def turned(self) -> Verdict:
        """The same of the second against the first."""
        its = self.interval
        other: dict[Direction, Direction] = {"smaller": "larger", "larger": "smaller"}
        back = (
            None
            if its is None
            else RatioInterval(1 / its.ratio, 1 / its.high, 1 / its.low, its.confidence, its.pairs)
        )
        return Verdict(self.figure, other.get(self.direction, self.direction), back, self.p, self.why)

    def to_json(self) -> dict[str, Any]:
        its = self.interval
        return {
            "figure": self.figure,
            "direction": self.direction,
            "ratio": None if its is None else its.ratio,
            "low": None if its is None else its.low,
            "high": None if its is None else its.high,
            "confidence": None if its is None else its.confidence,
            "pairs": 0 if its is None else its.pairs,
            "p": self.p,
            "why": self.why,
        }


def margin_p(first: Sequence[float], second: Sequence[float], margin: float = MARGIN) -> tuple[float, int]:
    """How likely so extreme a signed-rank statistic is where the true ratio is at the margin's edge, and the
    direction (-1: the first is smaller, 1: larger, 0: neither, then 1).

    Of the n(n+1)/2 Walsh averages of the log ratios, those that do not exceed log(margin) are as many as the ranks on
    the wrong side: W. p = 2 P(W' <= W) with the exact distribution; it is below a level exactly where the interval of
    that level lies outside the margin.
    """
    logs = np.log(np.asarray(first, float) / np.asarray(second, float))
    n = len(logs)
    i, j = np.triu_indices(n)
    walsh = (logs[i] + logs[j]) / 2
    edge = float(np.log(margin))
    larger, smaller = int((walsh <= edge).sum()), int((walsh >= -edge).sum())
    wrong, direction = (larger, 1) if larger < smaller else (smaller, -1)
    tail = sum(signed_rank_counts(n)[: wrong + 1])
    p = min(1.0, 2 * tail / 2**n)
    return (p, direction) if p < 1 else (1.0, 0)


def holm(values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of several hypotheses are rejected: the smallest p at level / m, the next at level / (m - 1), until one
    is not. (Holm 1979.)"""
    rejected = [False] * len(values)
    for rank, place in enumerate(sorted(range(len(values)), key=lambda k: values[k])):
        if values[place] > level / (len(values) - rank):
            break
        rejected[place] = True
    return rejected


def verdicts(
    first: Row, second: Row, refused: str = "", figures: Sequence[str] = COMPARED
) -> tuple[Verdict, ...]:
    """Each figure of the first against the second, Holm over the figures. `refused`: why these may not be paired."""
    if first.starved or second.starved:
        refused = refused or STARVED
    if refused:
        return tuple(Verdict(name, "unstated", why=refused) for name in figures)
    pairs = sorted(set(first.once) & set(second.once))
    if len(pairs) < FEWEST_PAIRS:
        count = len(pairs)
        some = f"an interval needs {FEWEST_PAIRS} pairs of repetitions or more; number of pairs here: {count}"
        return tuple(Verdict(name, "unstated", why=some) for name in figures)
    found: dict[str, Verdict] = {}
    values: dict[str, tuple[list[float], list[float]]] = {}
    for name in figures:
        one, other = _stated(first, pairs, name), _stated(second, pairs, name)
        if len(one) < len(pairs) or len(other) < len(pairs):
            found[name] = Verdict(name, "unstated", why="some repetition has too few samples to state it")
        elif min(*one, *other) <= 0:
            found[name] = Verdict(name, "unstated", why="a ratio needs values above zero")
        else:
            values[name] = one, other
    found |= _decided(values)
    return tuple(found[name] for name in figures)


def _stated(row: Row, pairs: Sequence[int], name: str) -> list[float]:
    values = [row.once[r].figure(name) for r in pairs]
    return [value for value in values if value is not None]


def _decided(values: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> dict[str, Verdict]:
    """By figure the first side's values against the second's, Holm over the figures."""
    tried = {name: margin_p(one, other) for name, (one, other) in values.items()}
    found = {}
    for name, sure in zip(tried, holm([p for p, _ in tried.values()]), strict=True):
        p, side = tried[name]
        interval = ratio_interval(*values[name], 1 - LEVEL)
        if sure and side:
            found[name] = Verdict(name, "smaller" if side < 0 else "larger", interval, p)
        else:
            found[name] = Verdict(name, "indistinct", interval, p, _why(interval, len(values)))
    return found


def over_points(points: Mapping[str, Sequence[tuple[Row, Row]]]) -> dict[str, Verdict]:
    """Each figure of the first side against the second's over several points, each of which counts the same: of each
    repetition the geometric mean of the figure over the points, then as at one point. By figure the points at which
    it is stated for both; what has too few repetitions that all its points share is left out."""
    values = {}
    for name, rows in points.items():
        shared = [set(first.once) & set(second.once) for first, second in rows]
        pairs = sorted(set.intersection(*shared)) if shared else []
        if len(pairs) >= FEWEST_PAIRS:
            sides = ([row[side] for row in rows] for side in (0, 1))
            one, other = (_mean_over([_stated(row, pairs, name) for row in its]) for its in sides)
            values[name] = one, other
    return _decided(values)


def _mean_over(points: Sequence[Sequence[float]]) -> list[float]:
    return [float(value) for value in np.exp(np.log(np.asarray(points, float)).mean(axis=0))]


def _why(its: RatioInterval | None, figures: int) -> str:
    assert its is not None
    if its.low > MARGIN or its.high < 1 / MARGIN:
        return f"its interval alone would tell them apart, but not among {figures} figures (Holm)"
    return f"the interval reaches into the margin of {MARGIN:g}"
