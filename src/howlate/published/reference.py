"""Published figures of a study: tables as a document prints them, each value with a mark that says how
certain its transcription is. Decoded strictly (docs/reference.md). `PublishedTable.rows_for` finds the rows that
correspond to one of our cells."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct, field

from howlate.model.decode import members
from howlate.model.preemption import MODELS
from howlate.model.units import parse_duration_ns

KINDS = ("table", "figure", "text", "listing")
MARKS = ("text", "arithmetic", "ambiguous")
UNITS: Mapping[str, float] = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
"""Units of time, in nanoseconds. A column's unit may be any other word; then it is shown and not converted."""
PREEMPTIONS = MODELS
PREEMPTION = "preemption"
"""A row can match the machine of a cell by this, besides a label of that name."""
STATISTICS = ("count", "min", "mean", "max", "stddev", "overruns", "period_exceeded", "passes", "failures")
"""The meaning of a column, if a rule of the audit has to know it."""
AXES = ("latency", "counts", "time", "number", "runtime")
"""The quantities on the axes of our charts (figures/scale.py)."""
ROW_COLUMN = "{column}"
"""In a column's field: stands for the row's own `column`."""


class PublishedFigure(Struct, frozen=True):
    mark: str
    """text: it stands apart in the text, or the document's words decide; arithmetic: a rule split digits that
    ran together; ambiguous: several readings remain."""
    printed: str
    """The text as printed, so that its digits are known; words if the cell contains words."""
    number: Decimal | None = None
    """None if the cell contains words."""
    candidates: tuple[Decimal, ...] = ()
    """All readings of an ambiguous value, the preferred one first; those of a row belong together by their
    position."""
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
        return {
            **members(self, "value", "printed", "mark"),
            **({"candidates": [float(c) for c in self.candidates]} if self.candidates else {}),
            **({"about": True} if self.about else {}),
            **({"note": self.note} if self.note else {}),
        }


class PublishedColumn(Struct, frozen=True):
    name: str
    heading: str
    """The original's word."""
    unit: str
    field: str
    """Dotted path into a cell of `show --json`; "" if we have no such value. May contain `{column}`."""
    statistic: str
    """One of STATISTICS, or ""."""
    means: str = ""

    def field_of(self, row: PublishedRow) -> str:
        return self.field.replace(ROW_COLUMN, row.column)


class PublishedRow(Struct, frozen=True):
    label: str
    match: Mapping[str, tuple[str, ...]]
    values: Mapping[str, PublishedFigure]
    column: str = ""
    """The column of our samples, if the table's fields contain `{column}`."""
    why: str = ""
    """Why it cannot be measured here; "" if it can."""
    same_as: str = ""
    """TABLE/LABEL of the row whose measurement this one repeats, perhaps in other digits or units."""
    note: str = ""
    mode: str = ""
    """Whether it was measured in user mode or in kernel mode; "" if all rows of the document were in the same."""

    @property
    def named(self) -> str:
        """Its label, with the mode."""
        return f"{self.label} ({self.mode} mode)" if self.mode else self.label

    @property
    def measurable(self) -> bool:
        return not self.why


class Differs(Struct, frozen=True):
    """Where a second print of a table differs from the first."""

    row: str
    column: str
    printed: str


class Reprint(Struct, frozen=True):
    """The same table, printed again."""

    place: str
    differs: tuple[Differs, ...] = ()
    rows: tuple[str, ...] = ()
    """Its rows, if it does not have all of them."""
    note: str = ""


class PublishedAxis(Struct, frozen=True):
    """An axis of a figure, as far as the text describes it."""

    name: str
    unit: str
    start: float | None = None
    end: float | None = None
    of: str = ""
    """The corresponding axis of ours (AXES); "" if there is none."""
    rows: tuple[str, ...] = ()
    """The labels of the rows to which it applies; all rows if it names none."""


class PublishedTable(Struct, frozen=True):
    """A table, figure, listing or passage with figures."""

    id: str
    title: str
    place: str
    kind: str
    part: str
    where: Mapping[str, tuple[str, ...]]
    rows_by: str
    columns: tuple[PublishedColumn, ...]
    rows: tuple[PublishedRow, ...]
    samples: int = 0
    """The number of samples behind each row; 0: the document does not say."""
    why: str = ""
    """Why we have no corresponding figures; "" if we have some."""
    lost: str = ""
    """The content that is missing from the document's text."""
    axes: tuple[PublishedAxis, ...] = ()
    across: int = 0
    """For a figure of several pictures: how many stand side by side; 0: the document does not say."""
    layout: bool = False
    """`compare` shows the table as printed, with our figures in it."""
    below: str = ""
    """The table that the document prints again below this one."""
    reprints: tuple[Reprint, ...] = ()
    note: str = ""
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Settings that apply to the whole document: a cell with another value belongs to no table."""

    def column(self, name: str) -> PublishedColumn:
        """The column of that name; KeyError if there is none."""
        return {c.name: c for c in self.columns}[name]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)

    def row(self, label: str) -> PublishedRow | None:
        return next((r for r in self.rows if r.label == label), None)

    def covers(self, cell: Mapping[str, Any], preemption: str = "", row: PublishedRow | None = None) -> bool:
        """Whether a cell (an entry of `show --json`, or a plan's cell as JSON) belongs to this table: to a row of it,
        which may have been measured otherwise than the document's settings say."""
        labels = _labels_of(cell, preemption)
        if self.why or (self.part and labels.get("part", "") != self.part):
            return False
        labels_of_cell = {**_parameters_of(cell), **labels}
        own = row.match if row is not None else {}
        return all(_agrees(name, labels.get(name), values) for name, values in self.where.items()) and all(
            name not in labels_of_cell or name in own or _agrees(name, labels_of_cell[name], values)
            for name, values in self.settings.items()
        )

    def rows_for(self, cell: Mapping[str, Any], preemption: str = "") -> tuple[PublishedRow, ...]:
        """The rows that correspond to a cell. `preemption` is the model of the cell's machine; without it a
        label of that name decides, and without both, rows that require one match nothing."""
        labels = {**_parameters_of(cell), **_labels_of(cell, preemption)}
        return tuple(
            row
            for row in self.rows
            if row.measurable
            and self.covers(cell, preemption, row)
            and all(_agrees(name, labels.get(name), values) for name, values in row.match.items())
        )


class Reference(Struct, frozen=True):
    """A document's figures."""

    study: str
    title: str
    document: str
    language: str
    tables: tuple[PublishedTable, ...]
    machine: str = ""
    notes: tuple[str, ...] = ()
    schema: int = 1
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Settings that apply to all of it, by our options; each table has them too."""
    modes: Mapping[str, str] = field(default_factory=dict)
    """The modes of the rows of its tables, by label, where they differ."""

    def table(self, table_id: str) -> PublishedTable | None:
        return next((t for t in self.tables if t.id == table_id), None)


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _labels_of(cell: Mapping[str, Any], preemption: str) -> dict[str, str]:
    labels = dict(cell["labels"])
    return {**labels, PREEMPTION: preemption} if preemption else labels


def _parameters_of(cell: Mapping[str, Any]) -> dict[str, str]:
    """The requested parameters of a plan's cell; without the load, which has a label."""
    parameters: Mapping[str, Any] = cell.get("parameters", {})
    return {name: value for name, value in parameters.items() if isinstance(value, str)}


def _agrees(name: str, has: str | None, values: tuple[str, ...]) -> bool:
    return has is not None and any(same_value(name, has, one) for one in values)


def same_value(name: str, one: str, other: str) -> bool:
    """Whether two spellings of a label mean the same: times by their length, loads in any order."""
    if one == other:
        return True
    if name == "load":
        return sorted(one.split("+")) == sorted(other.split("+"))
    try:
        return parse_duration_ns(one) == parse_duration_ns(other)
    except ValueError:
        return False
