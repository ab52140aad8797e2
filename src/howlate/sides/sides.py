"""Sides compared at one point: each figure's spread over the repetitions, and, if the statistics allow it,
whether one side's is smaller (docs/compare.md, "Differences").

No single repetition is a side's value, and no difference is stated without an exact paired interval that
supports it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from statistics import median
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import ArrayLike

from howlate.model.summary import MISSES, CellSummary, ColumnSummary, DeadlineSummary
from howlate.sides.paired import (
    NO_STEPS,
    RatioInterval,
    Reals,
    Steps,
    hodges_lehmann,
    log_ratios,
    ratio_interval,
    signed_rank_tails,
    walsh_averages,
)
from howlate.statistics.quantiles import interval_over
from howlate.statistics.spread import Spread, spread_of
from howlate.words.language import N_
from howlate.words.say import english, to_json
from howlate.words.statement import Statement, message

FIGURES = ("minimum", "mean", "p99", "maximum", "deviation", "overruns", "exceeded", "deadline_misses")
"""The published layout, in its order, plus the p99 and the misses of a stated deadline."""
P999 = "0.999"
COMPARED = ("0.5", P999, "max", "stddev", MISSES)
"""The figures compared in pairs: the typical wake-up, the tail, the largest, the spread of each repetition, and the
share of releases that missed a deadline."""
WHERE_THERE = (P999, MISSES)
"""Many cells do not have them: too few samples, or no deadline. They are left out where no repetition has one."""
LOAD = "load"
"""The figure that shows what the loads achieved of what was expected of them, as a share."""
RUN_TIME = "run_ns_mean"
"""The result of a load that records how long its runs took (docs/loads/hackbench.md)."""
RUN = "run:"
"""The prefix of a load's result about its own runs: "run:hackbench.run_ns_mean"."""
MARGIN = 1.1
"""A ratio between 1 / 1.1 and 1.1 is not called a difference."""
LEVEL = 0.05
HALF_A_MISS = 0.5
"""What a count of misses is short of, and what it is uncertain by: none was seen does not say that there are none."""

STARVED = message("pairs.starved", "the load was starved, as the study expects")
NOT_ALIKE = message("pairs.not-alike", "they were not measured alike ({settings})")
TOO_FEW_PAIRS = message(
    "pairs.too-few",
    "{pairs} pair of repetitions cannot show any difference among {figures} figures: measure {needed} or more",
    "{pairs} pairs of repetitions cannot show any difference among {figures} figures: measure {needed} or more",
    by="pairs",
)
NO_PAIRS = message("pairs.none", "no repetition is valid on both sides")
NO_MISSES = message("pairs.no-misses", "no release missed the deadline on either side")
NO_VALUE = message("pairs.no-value", "not every repetition has a value above zero")
ONLY_ALONE = message(
    "pairs.only-alone", "its interval alone would tell them apart, but not among {figures} figures (Holm)"
)
IN_THE_MARGIN = message("pairs.in-the-margin", "the interval reaches into the margin of {margin:number}")

Direction = Literal["smaller", "larger", "equal", "indistinct", "unstated"]
DIRECTIONS: Mapping[Direction, str] = {
    "smaller": N_("smaller"),
    "larger": N_("larger"),
    "equal": N_("equal within 10 %"),
    "indistinct": N_("not distinguishable"),
    "unstated": N_("not stated"),
}
PairedValues = tuple[list[float], list[float]]
"""The first side's values of a figure, and the second's of the same repetitions."""
Key = TypeVar("Key", bound=Hashable)

NOTHING = ColumnSummary(0)
"""For a cell that measures nothing itself."""


class Once(Struct, frozen=True):
    """One repetition's figures of one column."""

    column: ColumnSummary
    overruns: int | None
    """None where the tool that measured did not count them."""
    results: Mapping[str, float]
    """The loads' own results: "hackbench.run_ns"."""
    misses: int | None = None
    load_share: float | None = None
    """What the weakest of its loads achieved of what was expected of it; None without such a load."""
    starved: bool = False
    """A load was not there, as the study expects: no statement is made about it."""
    deadline: DeadlineSummary | None = None
    resolution_ns: int = 1
    """A value v stands for a time from v up to, not including, v + resolution_ns."""

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
        return cls(
            summary,
            cell.overruns,
            results,
            None if deadline is None else deadline.misses,
            cell.load_share,
            cell.starved,
            deadline,
            cell.known.resolution_ns,
        )

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

    def compared(self, name: str, half_a_miss: float) -> float | None:
        """The figure as it is compared: of misses the share, and half a miss, which is the same on both sides."""
        if name != MISSES:
            return self.figure(name)
        of = self.deadline
        if of is None or of.at_least or not of.releases:
            return None
        return of.misses / of.releases + half_a_miss

    def step(self, name: str, half_a_miss: float) -> float:
        """By how much the true value may be larger than `compared`: a share by what is left of one miss more."""
        if name == MISSES:
            return 1 / self.deadline.releases - half_a_miss if self.deadline else 0.0
        return 0.0 if name.startswith(RUN) else float(self.resolution_ns - 1)


class SideRow(Struct, frozen=True):
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
        """Whether a load was starved in one of them, as the study expects."""
        return any(once.starved for once in self.once.values())

    def spread(self, name: str) -> Spread | None:
        """None if a valid repetition does not state it."""
        values = [once.figure(name) for once in self.once.values()]
        stated = [value for value in values if value is not None]
        return spread_of(stated) if len(stated) == len(values) else None

    def interval(self, name: str) -> tuple[float, float] | None:
        """Of a quantile, with 95 %: of one repetition by its own samples, of six or more that of the median over
        them. None where there is none."""
        values = [once.figure(name) for once in self.once.values()]
        if len(values) == 1 and self.planned == 1:
            own = next(iter(self.once.values())).column.intervals.get(name)
            return None if own is None else (own.low, own.high)
        return interval_over([value for value in values if value is not None]) if None not in values else None

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


class Decision(Struct, frozen=True):
    """The decision about one figure of two sides."""

    figure: str
    direction: Direction
    """The first relative to the second; "equal": within the margin."""
    interval: RatioInterval | None = None
    """first / second; None if there is none."""
    p: float = 1.0
    """The p-value of a ratio outside the margin, in the direction of the data; two-sided, exact."""
    why: Statement | None = None
    """Why it is unstated, or not distinguishable."""
    seen: float | None = None
    """first / second as it was seen, also where there is no interval."""

    def turned(self) -> Decision:
        """The same for the second relative to the first."""
        interval = None if self.interval is None else self.interval.turned()
        other: dict[Direction, Direction] = {"smaller": "larger", "larger": "smaller"}
        direction = other.get(self.direction, self.direction)
        return replace(
            self, direction=direction, interval=interval, seen=None if not self.seen else 1 / self.seen
        )

    def to_json(self) -> dict[str, Any]:
        interval = self.interval
        return {
            "figure": self.figure,
            "direction": self.direction,
            "ratio": self.seen,
            "low": None if interval is None else interval.low,
            "high": None if interval is None or math.isinf(interval.high) else interval.high,
            "confidence": None if interval is None else interval.confidence,
            "pairs": 0 if interval is None else interval.pairs,
            "p": self.p,
            "why": "" if self.why is None else english(self.why),
            "reason": None if self.why is None else to_json(self.why),
        }


def fewest_pairs(comparisons: int) -> int:
    """How many pairs it takes until this number of comparisons can show anything: with n pairs the smallest p is
    2 / 2^n, which Holm first holds against the level divided by their number."""
    pairs = 1
    while 2 / 2**pairs > LEVEL / comparisons:
        pairs += 1
    return pairs


def margin_p(
    first: ArrayLike, second: ArrayLike, margin: float = MARGIN, steps: Steps = NO_STEPS
) -> tuple[float, int]:
    """How likely so extreme a signed-rank statistic is where the true ratio is at the margin's edge, and the
    direction (-1: the first is smaller, 1: larger, 0: neither, then 1).

    Of the n(n+1)/2 Walsh averages of the log ratios, those that do not exceed log(margin) are as many as the ranks on
    the wrong side: W. p = 2 P(W' <= W) with the exact distribution; it is below a level exactly where the interval of
    that level lies outside the margin.
    """
    lows, highs = log_ratios(first, second, steps)
    p, direction = margin_ps(lows[np.newaxis], highs[np.newaxis], margin)
    return float(p[0]), int(direction[0])


def margin_ps(lows: Reals, highs: Reals, margin: float = MARGIN) -> tuple[Reals, npt.NDArray[np.int64]]:
    """The same of each row of log ratios, of which the smallest and the largest possible are given."""
    tails = signed_rank_tails(lows.shape[1])
    edge = math.log(margin)
    averages = walsh_averages(lows)
    larger = (averages <= edge).sum(axis=1)
    smaller = ((averages if highs is lows else walsh_averages(highs)) >= -edge).sum(axis=1)
    p = np.minimum(1.0, 2 * tails[np.minimum(larger, smaller)])
    return p, np.where(p == 1, 0, np.where(larger < smaller, 1, -1))


def holm(values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of several hypotheses are rejected: the smallest p at level / m, the next at level / (m - 1),
    until one is not rejected. (Holm 1979.)"""
    return [bool(rejected) for rejected in holm_rows(np.asarray(values, float)[np.newaxis], level)[0]]


def holm_rows(ps: Reals, level: float = LEVEL) -> npt.NDArray[np.bool_]:
    """The same of each row."""
    order = np.argsort(ps, axis=1, kind="stable")
    within = np.take_along_axis(ps, order, 1) <= level / np.arange(ps.shape[1], 0, -1)
    rejected = np.zeros(ps.shape, np.bool_)
    np.put_along_axis(rejected, order, np.logical_and.accumulate(within, axis=1), 1)
    return rejected


def decisions(
    first: SideRow, second: SideRow, refused: Statement | None = None, figures: Sequence[str] = COMPARED
) -> tuple[Decision, ...]:
    """The decision about each figure of the first relative to the second, with Holm over the figures.
    `refused`: why these may not be paired."""
    figures = [name for name in figures if name not in WHERE_THERE or _is_there(first, second, name)]
    if first.starved or second.starved:
        refused = refused or STARVED()
    if refused:
        return tuple(
            Decision(name, "unstated", why=refused, seen=_seen(first, second, name)) for name in figures
        )
    decided: dict[str, Decision] = {}
    values: dict[str, PairedValues] = {}
    for name in figures:
        paired = paired_values(first.once, second.once, name)
        if isinstance(paired, Statement):
            decided[name] = Decision(name, "unstated", why=paired, seen=_seen(first, second, name))
        else:
            values[name] = paired
    decided |= decided_together(
        values, steps={name: steps_of(first.once, second.once, name) for name in values}
    )
    return tuple(decided[name] for name in figures)


def _is_there(first: SideRow, second: SideRow, name: str) -> bool:
    return any(once.compared(name, 0.0) is not None for row in (first, second) for once in row.once.values())


def _seen(first: SideRow, second: SideRow, name: str) -> float | None:
    """The ratio of the medians over all repetitions, where both sides state them."""
    half, medians = half_a_miss(*first.once.values(), *second.once.values()), []
    for row in (first, second):
        values = [value for once in row.once.values() if (value := once.compared(name, half)) is not None]
        medians.append(median(values) if values and len(values) == len(row.once) else 0.0)
    return medians[0] / medians[1] if min(medians) > 0 else None


def paired_values(
    first: Mapping[int, Once], second: Mapping[int, Once], name: str
) -> PairedValues | Statement:
    """Both sides' values of a figure in the repetitions that both have, or why they cannot be compared."""
    pairs = sorted(set(first) & set(second))
    if not pairs:
        return NO_PAIRS()
    if name == MISSES and (
        why := _incomparable_misses([side[r].deadline for side in (first, second) for r in pairs])
    ):
        return why
    first_values, second_values = _stated(first, second, pairs, name)
    if min(len(first_values), len(second_values)) < len(pairs) or min(*first_values, *second_values) <= 0:
        return NO_VALUE()
    return first_values, second_values


def _incomparable_misses(deadlines: Sequence[DeadlineSummary | None]) -> Statement | None:
    """That no side has a miss does not depend on which side is which, so Holm need not count that figure."""
    stated = [each for each in deadlines if each is not None]
    if len({each.deadline_ns for each in stated}) > 1:
        return NOT_ALIKE(settings=("deadline",))
    whole = len(stated) == len(deadlines) and not any(each.at_least for each in stated)
    return NO_MISSES() if whole and not any(each.misses for each in stated) else None


def steps_of(first: Mapping[int, Once], second: Mapping[int, Once], name: str) -> Steps:
    """By how much the values of each side may be larger."""
    pairs = sorted(set(first) & set(second))
    halves = [half_a_miss(first[r], second[r]) for r in pairs]
    of_first, of_second = (
        np.array([side[r].step(name, half) for r, half in zip(pairs, halves, strict=True)])
        for side in (first, second)
    )
    return of_first, of_second


def half_a_miss(*repetitions: Once) -> float:
    """As a share of the releases of the one that has most: none was seen does not say that there are none. With a
    share of each one's own releases the shorter of two without a miss would have the larger value."""
    return HALF_A_MISS / max([1, *(once.deadline.releases for once in repetitions if once.deadline)])


def _stated(
    first: Mapping[int, Once], second: Mapping[int, Once], pairs: Sequence[int], name: str
) -> PairedValues:
    halves = [half_a_miss(first[r], second[r]) for r in pairs]
    of_first, of_second = (
        [
            value
            for r, half in zip(pairs, halves, strict=True)
            if (value := side[r].compared(name, half)) is not None
        ]
        for side in (first, second)
    )
    return of_first, of_second


def decided_together(
    values: Mapping[Key, PairedValues],
    figure_of: Callable[[Key], str] = str,
    steps: Mapping[Key, Steps] | None = None,
) -> dict[Key, Decision]:
    """By key: the first side's values relative to the second's, with Holm over all of them. `figure_of`: the figure
    that a key stands for; `steps`: how coarse its values are. In a test of whether there is a difference, counts of
    misses are coarser than those of the longer side by its step; in the interval, which else would be narrow where
    hardly any are counted, by all of their own."""
    coarse = {key: (steps or {}).get(key, NO_STEPS) for key in values}
    tried = {
        key: margin_p(*pair, MARGIN, _beyond_half(coarse[key]) if figure_of(key) == MISSES else coarse[key])
        for key, pair in values.items()
    }
    needed = fewest_pairs(len(values)) if values else 0
    decisions = {}
    for key, sure in zip(tried, holm([p for p, _ in tried.values()]), strict=True):
        (p, side), pairs = tried[key], len(values[key][0])
        interval = ratio_interval(*values[key], 1 - LEVEL, coarse[key])
        if interval is not None and figure_of(key) == MISSES:
            interval = _down_to_none(interval, values[key], coarse[key])
        seen = hodges_lehmann(*values[key])
        direction: Direction = "indistinct"
        why: Statement | None = None
        if sure and side:
            direction = "smaller" if side < 0 else "larger"
        elif interval is not None and interval.low >= 1 / MARGIN and interval.high <= MARGIN:
            direction = "equal"
        elif pairs < needed:
            direction, why = "unstated", TOO_FEW_PAIRS(needed=needed, pairs=pairs, figures=len(values))
        else:
            why = _why(interval, len(values))
        decisions[key] = Decision(figure_of(key), direction, interval, p, why, seen)
    return decisions


def _beyond_half(steps: Steps) -> Steps:
    """The steps of misses without the half miss that is in the values of both sides: the smaller of the two. None is
    left where both have equally many releases."""
    half = np.minimum(*steps)
    return steps[0] - half, steps[1] - half


def _down_to_none(interval: RatioInterval, values: PairedValues, steps: Steps) -> RatioInterval:
    """A side that has no miss, nothing but the half in each repetition, may be one that never has any."""
    half = np.minimum(*steps) * (1 + 1e-9)
    first, second = (bool(np.all(np.asarray(side) <= half)) for side in values)
    return replace(interval, low=0.0 if first else interval.low, high=math.inf if second else interval.high)


def over_points(points: Mapping[str, Sequence[tuple[SideRow, SideRow]]]) -> dict[str, Decision]:
    """Each figure of the first side against the second's over several points, each of which counts the same: of each
    repetition the geometric mean of the figure over the points, then as at one point. By figure the points at which
    it is stated for both; what has too few repetitions that all its points share is left out."""
    values = {}
    for name, rows in points.items():
        shared = [set(first.once) & set(second.once) for first, second in rows]
        pairs = sorted(set.intersection(*shared)) if shared else []
        if len(pairs) >= fewest_pairs(len(points)):
            stated = [_stated(first.once, second.once, pairs, name) for first, second in rows]
            values[name] = (_mean_over([one for one, _ in stated]), _mean_over([two for _, two in stated]))
    return decided_together(values)


def _mean_over(points: Sequence[Sequence[float]]) -> list[float]:
    return [float(value) for value in np.exp(np.log(np.asarray(points, float)).mean(axis=0))]


def _why(interval: RatioInterval | None, figures: int) -> Statement:
    assert interval is not None
    if interval.low > MARGIN or interval.high < 1 / MARGIN:
        return ONLY_ALONE(figures=figures)
    return IN_THE_MARGIN(margin=MARGIN)
