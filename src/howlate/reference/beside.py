"""Which published figure stands beside which of ours: pure functions of a reference and a cell of `show --json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from howlate.model.reference import PREEMPTION, UNITS, Column, Figure, Reference, Row, Table

OF_TIME = ("min", "mean", "max", "stddev")
"""Statistics of a column that are in the column's own unit."""


@dataclass(frozen=True)
class Published:
    """A figure with the place that it has in its document."""

    table: Table
    row: Row
    column: Column
    figure: Figure

    @property
    def field(self) -> str:
        """Our field for the same, such as columns.latency_ns.max."""
        return self.column.field_of(self.row)

    def ours(self, cell: Mapping[str, Any]) -> float | None:
        """The cell's own value in the published unit; None where it has none."""
        return value_in(cell, self.field, self.column.unit)


def published(reference: Reference, cell: Mapping[str, Any], preemption: str = "") -> dict[str, Published]:
    """All figures that stand beside a cell, by our field; a figure that is printed several times once, from the
    first table that has it."""
    found: dict[str, Published] = {}
    for table in reference.tables:
        for row in table.rows_for(cell, preemption):
            for column in table.columns:
                figure = row.values.get(column.name)
                if figure is not None and figure.number is not None and column.field:
                    one = Published(table, row, column, figure)
                    found.setdefault(one.field, one)
    return found


def look_up(cell: Mapping[str, Any], field: str) -> float | None:
    """The number at a dotted path of a cell: columns.NAME.STATISTIC, columns.NAME.quantiles.0.5, accounting.overruns,
    outcomes.NAME, loads.NAME.results.KEY (or loads.NAME.achieved_cpu). None where there is none."""
    first, _, rest = field.partition(".")
    value: Any = cell.get(first)
    if first == "loads":
        name, _, rest = rest.partition(".")
        value = next((load for load in value or () if load.get("name") == name), None)
    while rest and isinstance(value, Mapping):
        if rest in value:  # a key may hold a dot itself: quantiles.0.5
            value, rest = value[rest], ""
        else:
            key, _, rest = rest.partition(".")
            value = value.get(key) if rest else None
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and not rest else None
    )


def value_in(cell: Mapping[str, Any], field: str, unit: str) -> float | None:
    """The same, in a unit of time where the field is a time of ours (columns ending in _ns)."""
    value = look_up(cell, field)
    if value is None or unit not in UNITS or not is_nanoseconds(field):
        return value
    return value / UNITS[unit]


def is_nanoseconds(field: str) -> bool:
    """Whether a field is a time in nanoseconds."""
    words = field.split(".")
    if words[0] == "columns" and len(words) > 2 and words[1].endswith("_ns"):
        return words[2] in OF_TIME or words[2] == "quantiles"
    return words[-1].endswith("_ns") or "_ns_" in words[-1]


FIGURES: Mapping[str, str] = {
    "minimum": "columns.{}.min",
    "mean": "columns.{}.mean",
    "maximum": "columns.{}.max",
    "deviation": "columns.{}.stddev",
    "overruns": "accounting.overruns",
    "exceeded": "columns.{}.period_exceeded",
}
"""The published layout, in its order, and our field for each."""


@dataclass(frozen=True)
class Line:
    """A row of a document as it stands in a table of ours for one column of the samples."""

    label: str
    """As the document names it."""
    table: str
    place: str
    preemption: tuple[str, ...]
    """The models of the machines that it stands beside; empty: of any, or none where `why` says so."""
    why: str
    """Why nothing of ours can stand beside it."""
    values: Mapping[str, float]
    """By FIGURES: times in nanoseconds, counts."""
    figures: Mapping[str, Figure]
    """The same as the document prints them, with their marks."""

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("label", "table", "place", "why")},
            "preemption": list(self.preemption),
            "values": dict(self.values),
            "marks": {name: figure.mark for name, figure in self.figures.items()},
        }


def lines_beside(
    reference: Reference,
    labels: Mapping[str, str],
    column: str,
    parameters: Mapping[str, str] | None = None,
) -> tuple[Line, ...]:
    """What a document prints for the cells of these labels, whatever their kernel, of one column of the samples: its
    rows in their order, also those that cannot be measured here. Tables and listings; where there is none, what its
    words say. `parameters`: what else the cells were asked for."""
    cell = {"labels": labels, "parameters": parameters or {}}
    for kinds in (("table", "listing"), ("text",)):
        found = {
            f"{table.id}/{row.label}": (row, line)
            for table in reference.tables
            if table.kind in kinds
            for row in table.rows
            if (line := _line(table, row, cell, column)) is not None
        }
        if found:  # a row that gives another's measurement again stands there once
            return tuple(line for row, line in found.values() if row.same_as not in found)
    return ()


def _line(table: Table, row: Row, cell: Mapping[str, Any], column: str) -> Line | None:
    """None where the row is of other cells, or has none of the figures."""
    preemption = row.match.get(PREEMPTION, table.where.get(PREEMPTION, ()))
    if preemption:
        if row not in table.rows_for(cell, preemption[0]):
            return None
    elif row.measurable:
        if row not in table.rows_for(cell):
            return None
    elif not table.covers(cell):
        return None
    paths = {path.format(column): name for name, path in FIGURES.items()}
    figures = {
        paths[one.field_of(row)]: (
            figure,
            UNITS.get(one.unit, 1.0) if is_nanoseconds(one.field_of(row)) else 1.0,
        )
        for one in table.columns
        if (figure := row.values.get(one.name)) is not None
        and figure.number is not None
        and one.field_of(row) in paths
    }
    if not figures or not any(name != "overruns" for name in figures):
        return None
    label = row.label if PREEMPTION in table.rows_by.split("+") else table.title
    return Line(
        label,
        table.id,
        table.place,
        preemption,
        row.why,
        {name: float(figure.number or 0) * unit for name, (figure, unit) in figures.items()},
        {name: figure for name, (figure, _) in figures.items()},
    )
