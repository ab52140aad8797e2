"""Binned data of one cell: everything that a chart draws (`bins.json`), made by stats from samples, drawn by
charts.

All in nanoseconds and seconds; arrays are tuples so that a chart cannot change what the next one draws.
`CellBins.from_json(value)` and `to_json()` are exact inverses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from howlate.errors import DamagedError
from howlate.model.decode import Table, kind_of

SCHEMA = 1


@dataclass(frozen=True)
class Histogram:
    """Log-linear bins (7 mantissa bits: within 0.8 %), lowest first, empty bins left out. Nothing is lost:
    counts sum to n."""

    lower_ns: tuple[int, ...]
    upper_ns: tuple[int, ...]  # exclusive
    counts: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return _lists(self)

    @classmethod
    def from_table(cls, table: Table) -> Histogram:
        found = cls(_integers(table, "lower_ns"), _integers(table, "upper_ns"), _integers(table, "counts"))
        _same_length(table, found.lower_ns, found.upper_ns, found.counts)
        return found


@dataclass(frozen=True)
class TimeBlocks:
    """Latency against time: a block a pixel column, so that no picture hides the worst.

    Blocks without a sample (a stall, a spinning task's gap) are left out: `start_s` says where each one is.
    """

    start_s: tuple[float, ...]
    width_s: float
    counts: tuple[int, ...]
    median_ns: tuple[int, ...]
    p99_ns: tuple[int, ...]
    """The order statistic of rank ceil(0.99 n), also where a block holds few samples (then it is the
    maximum)."""
    max_ns: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return _lists(self)

    @classmethod
    def from_table(cls, table: Table) -> TimeBlocks:
        found = cls(
            start_s=_reals(table, "start_s"),
            width_s=table.real("width_s"),
            counts=_integers(table, "counts"),
            median_ns=_integers(table, "median_ns"),
            p99_ns=_integers(table, "p99_ns"),
            max_ns=_integers(table, "max_ns"),
        )
        _same_length(table, found.start_s, found.counts, found.median_ns, found.p99_ns, found.max_ns)
        return found


NO_BLOCKS = TimeBlocks((), 0.0, (), (), (), ())
"""Of samples that do not say when they were taken, and of further columns in runs of an older howlate."""


@dataclass(frozen=True)
class Tail:
    """The empirical tail: share of samples greater than latency_ns, at distinct values (thinned where samples
    are many, never the last hundred)."""

    latency_ns: tuple[int, ...]
    share_beyond: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        return _lists(self)

    @classmethod
    def from_table(cls, table: Table) -> Tail:
        found = cls(_integers(table, "latency_ns"), _reals(table, "share_beyond"))
        _same_length(table, found.latency_ns, found.share_beyond)
        return found


@dataclass(frozen=True)
class LoadCourse:
    """One line of the picture of the load, once a second: busy share of a CPU, its steal, or a load's
    achieved share."""

    name: str  # "cpu 0 busy", "cpu 0 steal", "memory-alloc"
    time_s: tuple[float, ...]
    share: tuple[float, ...]  # 0..1

    def to_json(self) -> dict[str, Any]:
        return _lists(self)

    @classmethod
    def from_table(cls, table: Table) -> LoadCourse:
        found = cls(table.text("name"), _reals(table, "time_s"), _reals(table, "share"))
        _same_length(table, found.time_s, found.share)
        return found


@dataclass(frozen=True)
class Scatter:
    """Values against their index, counted on a grid, so that a million points are as small as a thousand.

    A grid's rows go from `low_ns` up: the first `linear` of equal height to `knee_ns` (inclusive), where nearly all
    values are, so that bands can be told apart; the others of equal ratio from there to `high_ns`. Nothing lies
    outside: the counts sum to n. Threads lie upon each other.
    """

    per_column: int
    """So many indices a column of the grid; it begins at index 0."""
    columns: int
    rows: int
    linear: int
    low_ns: int
    knee_ns: int
    high_ns: int
    cells: tuple[int, ...]
    """column * rows + row of those that hold a value, increasing."""
    counts: tuple[int, ...]
    at: tuple[int, ...]
    """Columns that hold a value, increasing; their extremes, exactly:"""
    smallest_ns: tuple[int, ...]
    largest_ns: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return _lists(self)

    @classmethod
    def from_table(cls, table: Table) -> Scatter:
        lists = ("cells", "counts", "at", "smallest_ns", "largest_ns")
        numbers = ("per_column", "columns", "rows", "linear", "low_ns", "knee_ns", "high_ns")
        found = cls(
            **{name: table.integer(name) for name in numbers},  # type: ignore[arg-type]  # names of two kinds
            **{name: _integers(table, name) for name in lists},  # type: ignore[arg-type]
        )
        _same_length(table, found.cells, found.counts)
        _same_length(table, found.at, found.smallest_ns, found.largest_ns)
        return found


@dataclass(frozen=True)
class ColumnBins:
    """The pictures of a further column of the samples."""

    column: str
    histogram: Histogram
    scatter: Scatter | None
    blocks: TimeBlocks = NO_BLOCKS

    def to_json(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "histogram": self.histogram.to_json(),
            "scatter": None if self.scatter is None else self.scatter.to_json(),
            "blocks": self.blocks.to_json(),
        }

    @classmethod
    def from_table(cls, table: Table) -> ColumnBins:
        histogram = Histogram.from_table(table.table("histogram", required=True))
        blocks = TimeBlocks.from_table(table.table("blocks")) if "blocks" in table.values else NO_BLOCKS
        return cls(table.text("column"), histogram, _scatter(table), blocks)


@dataclass(frozen=True)
class CellBins:
    """All pictures of one cell: of its first column all, of the others (`others`) some."""

    column: str  # "latency_ns"
    histogram: Histogram
    blocks: TimeBlocks
    tail: Tail
    loads: tuple[LoadCourse, ...]
    scatter: Scatter | None = None
    others: tuple[ColumnBins, ...] = ()

    def of(self, column: str) -> CellBins | None:
        """The bins as those of this column; None where they do not have it."""
        if column == self.column:
            return self
        other = next((other for other in self.others if other.column == column), None)
        if other is None:
            return None
        return CellBins(column, other.histogram, other.blocks, Tail((), ()), (), other.scatter)

    def to_json(self) -> dict[str, Any]:
        """The text of bins.json, as a value."""
        return {
            "schema": SCHEMA,
            "column": self.column,
            "histogram": self.histogram.to_json(),
            "blocks": self.blocks.to_json(),
            "tail": self.tail.to_json(),
            "loads": [course.to_json() for course in self.loads],
            "scatter": None if self.scatter is None else self.scatter.to_json(),
            "others": [other.to_json() for other in self.others],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], file: str = "bins.json") -> CellBins:
        """The bins of such a value; DamagedError names file, place and what is wrong there."""
        table = Table(value, file, "", DamagedError)
        if table.integer("schema") != SCHEMA:
            raise table.fail(f"schema {value['schema']} is not known to this howlate", "use a newer howlate")
        return cls(
            column=table.text("column"),
            histogram=Histogram.from_table(table.table("histogram", required=True)),
            blocks=TimeBlocks.from_table(table.table("blocks", required=True)),
            tail=Tail.from_table(table.table("tail", required=True)),
            loads=tuple(LoadCourse.from_table(course) for course in table.tables("loads", required=True)),
            scatter=_scatter(table),
            others=tuple(ColumnBins.from_table(other) for other in table.tables("others")),
        )


def _scatter(table: Table) -> Scatter | None:
    return None if table.values.get("scatter") is None else Scatter.from_table(table.table("scatter"))


def _lists(value: object) -> dict[str, Any]:
    return {name: list(part) if isinstance(part, tuple) else part for name, part in vars(value).items()}


def _integers(table: Table, name: str) -> tuple[int, ...]:
    found = table.items(name, required=True)
    for value in found:
        if not isinstance(value, int) or isinstance(value, bool):
            raise table.fail(f'each of "{name}" must be a whole number, not {kind_of(value)}')
    return tuple(found)


def _reals(table: Table, name: str) -> tuple[float, ...]:
    found = table.items(name, required=True)
    for value in found:
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise table.fail(f'each of "{name}" must be a number, not {kind_of(value)}')
    return tuple(float(value) for value in found)


def _same_length(table: Table, *columns: tuple[float, ...]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise table.fail("the lists are not equally long")
