"""The repetitions of a point, together: what a result is stated for (docs/adr/0004). In virtual time they are its
seeds. No single one of them is a kernel's value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from howlate.model.run import VIRTUAL_TIME, Run
from howlate.model.summary import CellSummary, DeadlineSummary
from howlate.stats.deadline import together
from howlate.stats.spread import Spread, spread_of

IN_FORCE = ("cpu", "policy")
"""Labels that are read back from each cell, and may differ between the repetitions of a point."""
_NUMBERS = re.compile(r"[0-9][0-9.,e+-]*")
_ID = re.compile(r"(?P<point>.+-[0-9a-f]{10})-[0-9]+")


@dataclass(frozen=True)
class ColumnSpread:
    """One column of the samples over a point's valid repetitions."""

    maxima: Spread
    """Of each repetition's largest value."""
    medians: float | None
    """The median of the repetitions' medians; None where one of them states none."""
    period_exceeded: int


@dataclass(frozen=True)
class Group:
    """A point and its repetitions that are whole."""

    point: str
    """The cells' id without the repetition."""
    labels: Mapping[str, str]
    cells: tuple[CellSummary, ...]
    planned: int
    """Repetitions that the plan has."""

    @property
    def counted(self) -> tuple[CellSummary, ...]:
        """Those that the figures are of: the valid ones."""
        return tuple(cell for cell in self.cells if cell.valid)

    @property
    def overruns(self) -> int:
        return sum(cell.accounting.overruns for cell in self.counted)

    @property
    def deadline(self) -> DeadlineSummary | None:
        """The releases of the valid repetitions against their deadline; None where none was stated."""
        return together([cell.deadline for cell in self.counted if cell.deadline is not None])

    @property
    def dropped(self) -> int:
        return sum(cell.accounting.dropped for cell in self.cells)

    @property
    def load_shares(self) -> tuple[float, ...]:
        """What the loads achieved of what was expected of them, by repetition, that of the weakest load each; of the
        valid ones, else of all."""
        shares = (cell.load_share for cell in self.counted or self.cells)
        return tuple(share for share in shares if share is not None)

    @property
    def starved(self) -> bool:
        """A load was not there, as the study expects."""
        return any(cell.starved for cell in self.counted)

    @property
    def alone(self) -> bool:
        """False where others disturbed a repetition that the figures are of, or any where none is valid."""
        return all(cell.alone for cell in self.counted or self.cells)

    @property
    def of(self) -> str:
        """How many repetitions the figures are of: "8", or "7 of 8"."""
        counted = len(self.counted)
        return str(counted) if counted == self.planned else f"{counted} of {self.planned}"

    def spread(self, column: str) -> ColumnSpread | None:
        """None where no valid repetition has the column."""
        found = [cell.columns[column] for cell in self.counted if column in cell.columns]
        maxima = spread_of([its.max for its in found if its.max is not None])
        if maxima is None:
            return None
        medians = [value for its in found if (value := its.quantiles.get("0.5")) is not None]
        return ColumnSpread(
            maxima,
            float(median(medians)) if len(medians) == len(found) else None,
            sum(its.period_exceeded or 0 for its in found),
        )

    def worst(self, column: str) -> CellSummary | None:
        """The valid repetition with the largest maximum."""
        found = [c for c in self.counted if column in c.columns and c.columns[column].max is not None]
        return max(found, key=lambda cell: cell.columns[column].max or 0, default=None)

    def max_cpu(self, column: str) -> str:
        """The CPU that had the largest of all maxima; "" where one alone measured."""
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
            "planned": self.planned,
            "overruns": self.overruns,
            "dropped": self.dropped,
            **({"deadline": its.to_json()} if (its := self.deadline) is not None else {}),
            "load_share": _range(self.load_shares),
            "starved": self.starved,
            "alone": self.alone,
            "columns": {
                name: {
                    "max": dict(vars(spread.maxima)),
                    "median": spread.medians,
                    "period_exceeded": spread.period_exceeded,
                }
                for name, spread in spreads.items()
                if spread is not None
            },
        }


def _range(shares: Sequence[float]) -> dict[str, float] | None:
    if not shares:
        return None
    return {"smallest": min(shares), "median": float(median(shares)), "largest": max(shares)}


def kinds_of(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Sentences that differ in their numbers alone, as one: the first of them, and how many there are."""
    found: dict[str, list[str]] = {}
    for text in texts:
        found.setdefault(_NUMBERS.sub("#", text), []).append(text)
    return [(some[0], len(some)) for some in found.values()]


def point_of(cell_id: str) -> str:
    """The id without the repetition; an id of another make is a point of its own."""
    match = _ID.fullmatch(cell_id)
    return match["point"] if match else cell_id


def groups_of(
    summaries: Sequence[CellSummary],
    run: Run | None = None,
    labels: Sequence[Mapping[str, str]] | None = None,
) -> tuple[Group, ...]:
    """The cells by their points, in the order in which the points come. `labels`: the cells' own and what a report
    adds to them (which run they are of)."""
    planned: dict[str, int] = {}
    for cell in run.plan.cells if run is not None else ():
        planned[point_of(cell.id)] = planned.get(point_of(cell.id), 0) + 1
    found: dict[tuple[object, ...], list[tuple[CellSummary, Mapping[str, str]]]] = {}
    for summary, one in zip(summaries, labels or [s.labels for s in summaries], strict=True):
        asked = sorted((name, text) for name, text in one.items() if name not in IN_FORCE)
        found.setdefault((point_of(summary.id), *asked), []).append((summary, one))
    return tuple(
        Group(
            point_of(cells[0][0].id),
            cells[0][1],
            tuple(cell for cell, _ in cells),
            max(planned.get(point_of(cells[0][0].id), 0), len(cells)),
        )
        for cells in found.values()
    )


def is_grouped(run: Run | None, groups: Sequence[Group]) -> bool:
    """Whether points are shown rather than cells: where any is repeated, and always in virtual time."""
    return (run is not None and run.virtual) or any(group.planned > 1 for group in groups)


def repetitions(run: Run | None, count: int = 2) -> str:
    """What the repetitions of this run are called."""
    word = "seed" if run is not None and run.virtual else "repetition"
    return word if count == 1 else f"{word}s"


def groups_json(summaries: Sequence[CellSummary], run: Run | None) -> dict[str, Any]:
    """What `show --json` says beside the cells."""
    value: dict[str, Any] = {"groups": [group.to_json() for group in groups_of(summaries, run)]}
    if run is not None:
        value["clock"] = run.clock
        if run.virtual:
            value["note"] = VIRTUAL_TIME
    return value
