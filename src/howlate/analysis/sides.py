"""Sides compared at one point: each figure's spread over the repetitions, and, if the statistics allow it,
whether one side's is smaller (docs/compare.md, "Differences").

No single repetition is a side's value, and no difference is stated without an exact paired interval that
supports it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from howlate.analysis.paired import RatioInterval, ratio_interval, signed_rank_tails
from howlate.analysis.spread import Spread, spread_of
from howlate.model.summary import MISSES, CellSummary, ColumnSummary
from howlate.words.say import english, to_json
from howlate.words.statement import Statement, rule

FIGURES = ("minimum", "mean", "p99", "maximum", "deviation", "overruns", "exceeded", "deadline_misses")
"""The published layout, in its order, plus the p99 and the misses of a stated deadline."""
COMPARED = ("0.5", "max", "stddev")
"""The figures compared in pairs: the typical wake-up, the largest, and the spread of each repetition."""
LOAD = "load"
"""The figure that shows what the loads achieved of what was expected of them, as a share."""
RUN_TIME = "run_ns_mean"
"""The result of a load that records how long its runs took (docs/loads/hackbench.md)."""
RUN = "run:"
"""The prefix of a load's result about its own runs: "run:hackbench.run_ns_mean"."""
MARGIN = 1.1
"""A ratio between 1 / 1.1 and 1.1 is not called a difference."""
LEVEL = 0.05
FEWEST_PAIRS = 6
"""Five pairs have no 95 % interval at all."""

STARVED = rule(
    "pairs.starved", "the load was starved, as the study expects: nothing is said of it under load"
)
TOO_FEW_PAIRS = rule(
    "pairs.too-few", "an interval needs {needed} pairs of repetitions or more; number of pairs here: {pairs}"
)
TOO_FEW_SAMPLES = rule("pairs.too-few-samples", "some repetition has too few samples to state it")
NOT_POSITIVE = rule("pairs.not-positive", "a ratio needs values above zero")
ONLY_ALONE = rule(
    "pairs.only-alone", "its interval alone would tell them apart, but not among {figures} figures (Holm)"
)
IN_THE_MARGIN = rule("pairs.in-the-margin", "the interval reaches into the margin of {margin:number}")

Direction = Literal["smaller", "larger", "indistinct", "unstated"]
PairedValues = tuple[list[float], list[float]]
"""The first side's values of a figure, and the second's of the same repetitions."""
Key = TypeVar("Key", bound=Hashable)

NOTHING = ColumnSummary(0)
"""For a cell that measures nothing itself."""


@dataclass(frozen=True)
class Once:
    """One repetition's figures of one column."""

    column: ColumnSummary
    overruns: int | None
    """None where the tool that measured did not count them."""
    results: Mapping[str, float]
    """The loads' own results: "hackbench.run_ns"."""
    misses: int | None = None
    """Misses of a stated deadline."""
    load_share: float | None = None
    """What the weakest of its loads achieved of what was expected of it; None without such a load."""
    starved: bool = False
    """A load was not there, as the study expects: no statement is made about it."""

    @classmethod
    def of(cls, cell: CellSummary, column: str) -> Once | None:
        """None if the cell does not have the column; without a name only the results of its loads."""
        if column and column not in cell.columns:
            return None
        results = {
            f"{load.name}.{key}": float(value)
            for load in cell.loads
            for key, value in load.results.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        summary = cell.columns[column] if column else NOTHING
        deadline = (cell.of_column(column) if column in cell.by_column else cell).deadline
        misses = deadline.misses if deadline is not None else None
        return cls(summary, cell.overruns, results, misses, cell.load_share, cell.starved)

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
            value: float | None = getattr(self.column, field)
            return value
        return self.column.quantiles.get(field)


@dataclass(frozen=True)
class SideRow:
    """One side at one point: its valid repetitions."""

    side: int
    once: Mapping[int, Once]
    planned: int
    """The number of existing or planned repetitions."""
    not_loaded: tuple[float, ...] = ()
    """If none is valid because a load was not there: what it achieved in each."""
    gravity_ns: int = 0
    """By how much a real-time core programs its timers ahead of the release."""

    @property
    def starved(self) -> bool:
        """The load was not there in one of them, as the study expects."""
        return any(once.starved for once in self.once.values())

    def spread(self, name: str) -> Spread | None:
        """None if a valid repetition does not state it."""
        values = [once.figure(name) for once in self.once.values()]
        stated = [value for value in values if value is not None]
        return spread_of(stated) if len(stated) == len(values) else None

    @property
    def of(self) -> str:
        """ "8", or "7 of 8"."""
        return (
            str(len(self.once)) if len(self.once) == self.planned else f"{len(self.once)} of {self.planned}"
        )

    @property
    def runs(self) -> tuple[str, ...]:
        """The loads' results about the duration of their runs, as figures."""
        names = dict.fromkeys(name for once in self.once.values() for name in once.results)
        return tuple(f"{RUN}{name}" for name in names if name.endswith(f".{RUN_TIME}"))


@dataclass(frozen=True)
class Decision:
    """The decision about one figure of two sides."""

    figure: str
    direction: Direction
    """The first relative to the second."""
    interval: RatioInterval | None = None
    """first / second; None if there is none."""
    p: float = 1.0
    """The p-value of a ratio outside the margin, in the direction of the data; two-sided, exact."""
    why: Statement | None = None
    """Why it is unstated, or not distinguishable."""

    def turned(self) -> Decision:
        """The same for the second relative to the first."""
        interval = None if self.interval is None else self.interval.turned()
        other: dict[Direction, Direction] = {"smaller": "larger", "larger": "smaller"}
        return Decision(self.figure, other.get(self.direction, self.direction), interval, self.p, self.why)

    def to_json(self) -> dict[str, Any]:
        interval = self.interval
        return {
            "figure": self.figure,
            "direction": self.direction,
            "ratio": None if interval is None else interval.ratio,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "confidence": None if interval is None else interval.confidence,
            "pairs": 0 if interval is None else interval.pairs,
            "p": self.p,
            "why": "" if self.why is None else english(self.why),
            "reason": None if self.why is None else to_json(self.why),
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
    p = min(1.0, 2 * float(signed_rank_tails(n)[wrong]))
    return (p, direction) if p < 1 else (1.0, 0)


def holm(values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of several hypotheses are rejected: the smallest p at level / m, the next at level / (m - 1),
    until one is not rejected. (Holm 1979.)"""
    rejected = [False] * len(values)
    for rank, place in enumerate(sorted(range(len(values)), key=lambda k: values[k])):
        if values[place] > level / (len(values) - rank):
            break
        rejected[place] = True
    return rejected


def decisions(
    first: SideRow, second: SideRow, refused: Statement | None = None, figures: Sequence[str] = COMPARED
) -> tuple[Decision, ...]:
    """The decision about each figure of the first relative to the second, with Holm over the figures.
    `refused`: why these may not be paired."""
    if first.starved or second.starved:
        refused = refused or STARVED()
    if refused:
        return tuple(Decision(name, "unstated", why=refused) for name in figures)
    decided: dict[str, Decision] = {}
    values: dict[str, PairedValues] = {}
    for name in figures:
        paired = paired_values(first.once, second.once, name)
        if isinstance(paired, Statement):
            decided[name] = Decision(name, "unstated", why=paired)
        else:
            values[name] = paired
    decided |= decided_together(values)
    return tuple(decided[name] for name in figures)


def paired_values(
    first: Mapping[int, Once], second: Mapping[int, Once], name: str
) -> PairedValues | Statement:
    """Both sides' values of a figure in the repetitions that both have, or why they cannot be compared."""
    pairs = sorted(set(first) & set(second))
    if len(pairs) < FEWEST_PAIRS:
        return TOO_FEW_PAIRS(needed=FEWEST_PAIRS, pairs=len(pairs))
    first_values, second_values = _stated(first, pairs, name), _stated(second, pairs, name)
    if len(first_values) < len(pairs) or len(second_values) < len(pairs):
        return TOO_FEW_SAMPLES()
    if min(*first_values, *second_values) <= 0:
        return NOT_POSITIVE()
    return first_values, second_values


def _stated(once: Mapping[int, Once], pairs: Sequence[int], name: str) -> list[float]:
    values = [once[r].figure(name) for r in pairs]
    return [value for value in values if value is not None]


def decided_together(
    values: Mapping[Key, PairedValues], figure_of: Callable[[Key], str] = str
) -> dict[Key, Decision]:
    """By key: the first side's values relative to the second's, with Holm over all of them. `figure_of`: the figure
    that a key stands for."""
    tried = {
        key: margin_p(first_values, second_values) for key, (first_values, second_values) in values.items()
    }
    decisions = {}
    for key, sure in zip(tried, holm([p for p, _ in tried.values()]), strict=True):
        (p, side), figure = tried[key], figure_of(key)
        interval = ratio_interval(*values[key], 1 - LEVEL)
        if sure and side:
            decisions[key] = Decision(figure, "smaller" if side < 0 else "larger", interval, p)
        else:
            decisions[key] = Decision(figure, "indistinct", interval, p, _why(interval, len(values)))
    return decisions


def over_points(points: Mapping[str, Sequence[tuple[SideRow, SideRow]]]) -> dict[str, Decision]:
    """Each figure of the first side against the second's over several points, each of which counts the same: of each
    repetition the geometric mean of the figure over the points, then as at one point. By figure the points at which
    it is stated for both; what has too few repetitions that all its points share is left out."""
    values = {}
    for name, rows in points.items():
        shared = [set(first.once) & set(second.once) for first, second in rows]
        pairs = sorted(set.intersection(*shared)) if shared else []
        if len(pairs) >= FEWEST_PAIRS:
            values[name] = (
                _mean_over([_stated(first.once, pairs, name) for first, _ in rows]),
                _mean_over([_stated(second.once, pairs, name) for _, second in rows]),
            )
    return decided_together(values)


def _mean_over(points: Sequence[Sequence[float]]) -> list[float]:
    return [float(value) for value in np.exp(np.log(np.asarray(points, float)).mean(axis=0))]


def _why(interval: RatioInterval | None, figures: int) -> Statement:
    assert interval is not None
    if interval.low > MARGIN or interval.high < 1 / MARGIN:
        return ONLY_ALONE(figures=figures)
    return IN_THE_MARGIN(margin=MARGIN)
