"""The repetitions of a point together: a result is stated for them (docs/adr/0004). In virtual time they are
seeds. No single repetition is a kernel's value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from howlate.model.decode import members
from howlate.model.run import Run
from howlate.model.summary import CellSummary, ColumnSummary, DeadlineSummary
from howlate.statistics.deadline import together
from howlate.statistics.quantiles import interval_over
from howlate.statistics.spread import Spread, spread_of
from howlate.statistics.valid import holds
from howlate.words.say import english
from howlate.words.statement import Statement, message

VIRTUAL_TIME = message(
    "run.virtual-time",
    "virtual time: instructions, not microseconds of your hardware; no caches, no real devices",
)
"""Shown wherever a number of virtual time appears."""
IN_FORCE = ("cpu", "policy")
"""Labels that are read back from each cell, and may differ between the repetitions of a point."""


RowKey = tuple[object, ...]


def key_of(point: str, labels: Mapping[str, str]) -> RowKey:
    """The key of a point with its labels, without those that are read back from each cell."""
    told = (*IN_FORCE, "test")
    return (point, *sorted((name, text) for name, text in labels.items() if name not in told))


class Interval(Struct, frozen=True):
    """The median of the repetitions' quantiles, and between which values it lies."""

    median: float
    low: float
    high: float


class ColumnSpread(Struct, frozen=True):
    """One column of the samples over the repetitions behind a point's figures."""

    maxima: Spread
    """Each repetition's largest value; the largest is of all that count."""
    medians: float | None
    """The median of the repetitions' medians; None if one of them states none."""
    period_exceeded: int
    quantiles: Mapping[str, Interval]
    """By share, of those with an interval of 95 %: of six valid repetitions or more."""


class Group(Struct, frozen=True):
    """A point and its whole repetitions."""

    point: str
    """The cells' id without the repetition."""
    labels: Mapping[str, str]
    cells: tuple[CellSummary, ...]
    planned: int
    """The number of repetitions in the plan."""
    places: tuple[int, ...]
    """Where `cells` stand among all that were grouped: cells of joined runs may share an id."""

    @property
    def key(self) -> RowKey:
        return key_of(self.point, self.labels)

    @property
    def counted(self) -> tuple[CellSummary, ...]:
        """The valid repetitions."""
        return tuple(cell for cell in self.cells if cell.valid)

    @property
    def seen(self) -> tuple[CellSummary, ...]:
        """The repetitions whose largest values and misses count (statistics/valid.py)."""
        return tuple(cell for cell in self.cells if holds(cell))

    @property
    def behind(self) -> tuple[CellSummary, ...]:
        """The repetitions behind the figures: the valid ones; where none is, those that count."""
        return self.counted or self.seen

    @property
    def latest(self) -> tuple[CellSummary, ...]:
        """The same with one judged column alone: the one with the largest value of them all."""
        judged = [(cell.columns[cell.latest].max or 0, cell.latest) for cell in self.seen if cell.judged]
        column = max(judged, default=(0, ""))[1]
        return tuple(cell.of_column(column) if column in cell.judged else cell for cell in self.seen)

    @property
    def overruns(self) -> int | None:
        """None where the tool that measured did not count them."""
        known = [cell.overruns for cell in self.seen if cell.overruns is not None]
        return sum(known) if len(known) == len(self.seen) else None

    @property
    def deadline(self) -> DeadlineSummary | None:
        """The releases of `seen` against their deadline; None if none was stated. Of several judged
        columns, the one with the largest value."""
        return together([cell.deadline for cell in self.latest if cell.deadline is not None])

    @property
    def dropped(self) -> int:
        return sum(cell.accounting.dropped for cell in self.cells)

    @property
    def load_shares(self) -> tuple[float, ...]:
        """The share that the weakest load of each repetition achieved of what was expected of it; of the
        valid repetitions, else of all."""
        shares = (cell.load_share for cell in self.counted or self.cells)
        return tuple(share for share in shares if share is not None)

    @property
    def starved(self) -> bool:
        """A load was not there, as the study expects."""
        return any(cell.starved for cell in self.counted)

    @property
    def alone(self) -> bool:
        """False if others disturbed a repetition behind the figures, or any repetition if none is valid."""
        return all(cell.alone for cell in self.counted or self.cells)

    @property
    def of(self) -> str:
        """The number of repetitions behind the figures: "8", or "7 of 8"."""
        behind = len(self.behind)
        return str(behind) if behind == self.planned else f"{behind} of {self.planned}"

    def largest(self, column: str) -> int | None:
        """The largest value of all repetitions that count."""
        held = [cell.columns[column].max for cell in self.seen if column in cell.columns]
        return max((value for value in held if value is not None), default=None)

    def spread(self, column: str) -> ColumnSpread | None:
        """None if no repetition behind the figures has the column."""
        columns = [cell.columns[column] for cell in self.behind if column in cell.columns]
        maxima = spread_of([held.max for held in columns if held.max is not None])
        if maxima is None:
            return None
        medians = [value for held in columns if (value := held.quantiles.get("0.5")) is not None]
        return ColumnSpread(
            replace(maxima, largest=self.largest(column)),
            float(median(medians)) if len(medians) == len(columns) else None,
            sum(held.period_exceeded or 0 for held in columns),
            _quantiles(columns) if self.counted else {},
        )

    def worst(self, column: str) -> CellSummary | None:
        """The repetition with the largest maximum, of those that count; None if none does."""
        at = self.worst_at(column)
        return None if at is None else self.cells[at]

    def worst_at(self, column: str) -> int | None:
        """Where it stands among `cells`."""
        columns = {
            i: cell.columns[column]
            for i, cell in enumerate(self.cells)
            if holds(cell) and column in cell.columns
        }
        maxima = {i: held.max for i, held in columns.items() if held.max is not None}
        return max(maxima, key=lambda i: maxima[i], default=None)

    def max_cpu(self, column: str) -> str:
        """The CPU that had the largest of all maxima; "" if only one measured."""
        worst = self.worst(column)
        return "" if worst is None else worst.columns[column].max_cpu

    def to_json(self) -> dict[str, Any]:
        """An entry of `groups` in `show --json`."""
        names = dict.fromkeys(name for cell in self.cells for name in cell.columns)
        spreads = {name: self.spread(name) for name in names}
        return {
            "point": self.point,
            "labels": dict(self.labels),
            "cells": [cell.id for cell in self.cells],
            "counted": len(self.counted),
            **members(self, "planned", "overruns", "dropped"),
            **({"deadline": deadline.to_json()} if (deadline := self.deadline) is not None else {}),
            "load_share": None if (shares := spread_of(self.load_shares)) is None else asdict(shares),
            **members(self, "starved", "alone"),
            "columns": {
                name: {
                    "max": asdict(spread.maxima),
                    "median": spread.medians,
                    "period_exceeded": spread.period_exceeded,
                    "quantiles": {share: asdict(each) for share, each in spread.quantiles.items()},
                }
                for name, spread in spreads.items()
                if spread is not None
            },
        }


def _quantiles(columns: Sequence[ColumnSummary]) -> dict[str, Interval]:
    """The spread of the quantiles that each repetition states."""
    found = {}
    for share in columns[0].quantiles:
        values = [value for held in columns if (value := held.quantiles.get(share)) is not None]
        if len(values) == len(columns) and (interval := interval_over(values)) is not None:
            found[share] = Interval(float(median(values)), *interval)
    return found


def kinds_of(statements: Iterable[Statement]) -> list[tuple[Statement, int]]:
    """Merge statements of one rule that differ only in their numbers: the first of them, and how many there
    are."""
    kinds: dict[object, list[Statement]] = {}
    for statement in statements:
        kinds.setdefault(_kind(statement), []).append(statement)
    return [(alike[0], len(alike)) for alike in kinds.values()]


def _kind(value: object) -> object:
    """A statement or a value of it, without numbers."""
    if isinstance(value, Statement):
        named = tuple((name, _kind(held)) for name, held in sorted(value.values.items()))
        return (value.rule, value.text, named)
    if isinstance(value, tuple):
        return tuple(_kind(held) for held in value)
    return None if isinstance(value, int | float) else value


def groups_of(
    summaries: Sequence[CellSummary],
    run: Run | None = None,
    labels: Sequence[Mapping[str, str]] | None = None,
) -> tuple[Group, ...]:
    """The cells by their points, in the order in which the points come. `labels`: the cells' own labels and
    those that a report adds (the run to which they belong). Several tests are told apart by a label."""
    planned: dict[str, int] = {}
    for cell in run.plan.cells if run is not None else ():
        planned[cell.point] = planned.get(cell.point, 0) + 1
    told = labels or [summary.labels for summary in summaries]
    if len({summary.test for summary in summaries}) > 1:
        told = [{"test": cell.test, **own} for cell, own in zip(summaries, told, strict=True)]
    by_point: dict[RowKey, list[int]] = {}
    for place, (summary, own) in enumerate(zip(summaries, told, strict=True)):
        by_point.setdefault(key_of(summary.point, own), []).append(place)
    return tuple(
        Group(
            summaries[places[0]].point,
            told[places[0]],
            tuple(summaries[place] for place in places),
            max(planned.get(summaries[places[0]].point, 0), len(places)),
            tuple(places),
        )
        for places in by_point.values()
    )


def is_grouped(run: Run | None, groups: Sequence[Group]) -> bool:
    """Whether points are shown instead of cells: if any point is repeated, and always in virtual time."""
    return (run is not None and run.virtual) or any(group.planned > 1 for group in groups)


def groups_json(summaries: Sequence[CellSummary], run: Run | None) -> dict[str, Any]:
    """The part of `show --json` besides the cells."""
    value: dict[str, Any] = {"groups": [group.to_json() for group in groups_of(summaries, run)]}
    if run is not None:
        value["clock"] = run.clock
        if run.virtual:
            value["note"] = english(VIRTUAL_TIME())
    return value
