"""Published figures of a study: tables as a document prints them, each value with a mark that says how sure its
transcription is. Decoded strictly (docs/reference.md); which of our cells a row stands beside: `Table.published_for`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from howlate.model.units import parse_duration_ns

KINDS = ("table", "figure", "text", "listing")
MARKS = ("text", "arithmetic", "ambiguous")
UNITS: Mapping[str, float] = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
"""Units of time, in nanoseconds. A column's unit may be any other word; then it is shown and not converted."""
PREEMPTIONS = ("none", "voluntary", "full", "lazy", "rt")
PREEMPTION = "preemption"
"""What a row matches by the machine of a cell, and not by a label of the cell's (a label of that name does too)."""
STATISTICS = ("count", "min", "mean", "max", "stddev", "overruns", "period_exceeded", "passes", "failures")
"""What a column holds, where a rule of the audit has to know it."""
AXES = ("latency", "counts", "time", "number", "runtime")
"""What the axes of our charts hold (charts/_scale.py)."""
ROW_COLUMN = "{column}"
"""In a column's field: the row's own `column`."""


@dataclass(frozen=True)
class Figure:
    """One value of a document."""

    mark: str
    """text: it stands apart in the text, or the document's words decide; arithmetic: what ran together was split by a
    rule; ambiguous: several readings remain."""
    printed: str
    """As it is printed, so that its digits are known; words where the cell holds words."""
    number: Decimal | None = None
    """None where the cell holds words."""
    candidates: tuple[Decimal, ...] = ()
    """All readings of an ambiguous one, the preferred one first; those of a row belong together by their place."""
    about: bool = False
    """The document says "about"."""
    note: str = ""

    @property
    def value(self) -> float | None:
        """The number in the column's unit."""
        return None if self.number is None else float(self.number)

    @property
    def last_digit(self) -> Decimal:
        """One unit of the last printed digit."""
        return Decimal(0) if self.number is None else Decimal(1).scaleb(_exponent(self.number))

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"value": self.value, "printed": self.printed, "mark": self.mark}
        if self.candidates:
            found["candidates"] = [float(c) for c in self.candidates]
        if self.about:
            found["about"] = True
        return {**found, **({"note": self.note} if self.note else {})}


@dataclass(frozen=True)
class Column:
    """A column of a published table."""

    name: str
    heading: str
    """The original's word."""
    unit: str
    field: str
    """Dotted path into a cell of `show --json`; "" where nothing of ours is it. May hold `{column}`."""
    statistic: str
    """One of STATISTICS, or ""."""
    means: str = ""

    def field_of(self, row: Row) -> str:
        """The path for a row."""
        return self.field.replace(ROW_COLUMN, row.column)


@dataclass(frozen=True)
class Row:
    """A row of a published table."""

    label: str
    match: Mapping[str, tuple[str, ...]]
    values: Mapping[str, Figure]
    column: str = ""
    """The column of our samples, where the table's fields say `{column}`."""
    why: str = ""
    """Why it cannot be measured here; "" where it can."""
    same_as: str = ""
    """TABLE/LABEL of the row whose measurement this one gives again, be it in other digits or units."""
    note: str = ""

    @property
    def measurable(self) -> bool:
        return not self.why


@dataclass(frozen=True)
class Differs:
    """Where a second print of a table differs from the first."""

    row: str
    column: str
    printed: str


@dataclass(frozen=True)
class Reprint:
    """The same table, printed again."""

    place: str
    differs: tuple[Differs, ...] = ()
    rows: tuple[str, ...] = ()
    """Its rows, where it has not all of them."""
    note: str = ""


@dataclass(frozen=True)
class Axis:
    """An axis of a figure, as far as the text tells it."""

    name: str
    unit: str
    start: float | None = None
    end: float | None = None
    of: str = ""
    """Which of our axes it is (AXES); "" where none."""
    rows: tuple[str, ...] = ()
    """The labels of the rows that it is for; of all where it names none."""


@dataclass(frozen=True)
class Table:
    """A table, figure, listing or passage with figures."""

    id: str
    title: str
    place: str
    kind: str
    part: str
    where: Mapping[str, tuple[str, ...]]
    rows_by: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    samples: int = 0
    """How many samples each row is made from; 0: the document does not say."""
    why: str = ""
    """Why nothing of ours stands beside it; "" where something does."""
    lost: str = ""
    """What the document's text does not hold of it."""
    axes: tuple[Axis, ...] = ()
    across: int = 0
    """Of a figure of several pictures so many stand side by side; 0: the document does not say."""
    layout: bool = False
    """`compare` shows it as it is printed, with ours in it."""
    below: str = ""
    """The table that the document prints below this one, again."""
    reprints: tuple[Reprint, ...] = ()
    note: str = ""
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """How all of the document was measured: a cell that was asked for another value belongs to no table."""

    def column(self, name: str) -> Column:
        """The column of that name; KeyError if there is none."""
        return {c.name: c for c in self.columns}[name]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)

    def row(self, label: str) -> Row | None:
        return next((r for r in self.rows if r.label == label), None)

    def covers(self, cell: Mapping[str, Any], preemption: str = "") -> bool:
        """Whether a cell (an entry of `show --json`, or a plan's cell as JSON) belongs to this table."""
        labels = _labels_of(cell, preemption)
        if self.why or (self.part and labels.get("part", "") != self.part):
            return False
        asked = {**_parameters_of(cell), **labels}
        return all(_agrees(name, labels.get(name), values) for name, values in self.where.items()) and all(
            name not in asked or _agrees(name, asked[name], values) for name, values in self.settings.items()
        )

    def rows_for(self, cell: Mapping[str, Any], preemption: str = "") -> tuple[Row, ...]:
        """The rows that stand beside a cell. `preemption` is the model of the cell's machine; without it a label of
        that name decides, and without both what asks for one matches nothing."""
        if not self.covers(cell, preemption):
            return ()
        labels = _labels_of(cell, preemption)
        return tuple(
            row
            for row in self.rows
            if row.measurable and all(_agrees(n, labels.get(n), values) for n, values in row.match.items())
        )

    def published_for(self, cell: Mapping[str, Any], preemption: str = "") -> Row | None:
        """The row that stands beside a cell; None where there is none, or several (`rows_for`)."""
        rows = self.rows_for(cell, preemption)
        return rows[0] if len(rows) == 1 else None


@dataclass(frozen=True)
class Reference:
    """A document's figures."""

    study: str
    title: str
    document: str
    language: str
    tables: tuple[Table, ...]
    machine: str = ""
    notes: tuple[str, ...] = field(default=())
    schema: int = 1
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """How all of it was measured, by our options; each table has them too."""

    def table(self, table_id: str) -> Table | None:
        return next((t for t in self.tables if t.id == table_id), None)


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _labels_of(cell: Mapping[str, Any], preemption: str) -> dict[str, str]:
    labels = dict(cell["labels"])
    return {**labels, PREEMPTION: preemption} if preemption else labels


def _parameters_of(cell: Mapping[str, Any]) -> dict[str, str]:
    """What a plan's cell asks for; no load, which has a label."""
    found: Mapping[str, Any] = cell.get("parameters", {})
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _agrees(name: str, has: str | None, wanted: tuple[str, ...]) -> bool:
    return has is not None and any(same_value(name, has, one) for one in wanted)


def same_value(name: str, one: str, other: str) -> bool:
    """Whether two spellings of a label mean the same: times by their length, loads whatever their order."""
    if one == other:
        return True
    if name == "load":
        return sorted(one.split("+")) == sorted(other.split("+"))
    try:
        return parse_duration_ns(one) == parse_duration_ns(other)
    except ValueError:
        return False
