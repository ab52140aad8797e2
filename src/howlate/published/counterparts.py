"""Which published figure corresponds to which of ours: pure functions of a reference and a cell of `show
--json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from howlate.published.reference import (
    PREEMPTION,
    UNITS,
    PublishedFigure,
    PublishedRow,
    PublishedTable,
    Reference,
)
from howlate.published.shown import ABOUT, LEGEND, SIGNS
from howlate.sides.printed_figures import PrintedFigure, PrintedLine

OF_TIME = ("min", "mean", "max", "stddev")
"""Statistics of a column that are in the column's own unit."""


def look_up(cell: Mapping[str, Any], field: str) -> float | None:
    """The number at a dotted path of a cell: columns.NAME.STATISTIC, columns.NAME.quantiles.0.5,
    accounting.overruns, outcomes.NAME, loads.NAME.results.KEY (or loads.NAME.achieved_cpu). None if there is
    none."""
    first, _, rest = field.partition(".")
    value: Any = cell.get(first)
    if first == "loads":
        name, _, rest = rest.partition(".")
        value = next((load for load in value or () if load.get("name") == name), None)
    while rest and isinstance(value, Mapping):
        if rest in value:  # a key may itself contain a dot: quantiles.0.5
            value, rest = value[rest], ""
        else:
            key, _, rest = rest.partition(".")
            value = value.get(key) if rest else None
    return (
        float(value) if isinstance(value, int | float) and not isinstance(value, bool) and not rest else None
    )


def value_in(cell: Mapping[str, Any], field: str, unit: str) -> float | None:
    """The same, in a unit of time if the field is one of our times (columns ending in _ns)."""
    value = look_up(cell, field)
    if value is None or unit not in UNITS or not is_nanoseconds(field):
        return value
    return value / UNITS[unit]


def is_nanoseconds(field: str) -> bool:
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


def printed_lines(
    reference: Reference,
    labels: Mapping[str, str],
    column: str,
    parameters: Mapping[str, str] | None = None,
) -> tuple[PrintedLine, ...]:
    """What a document prints for the cells of these labels, with any kernel, and one column of the samples:
    its rows in order, including those that cannot be measured here. Tables and listings come first; without
    any, figures from the text are used. `parameters`: the cells' other requested parameters."""
    cell = {"labels": labels, "parameters": parameters or {}}
    for kinds in (("table", "listing"), ("text",)):
        figures = {
            f"{table.id}/{row.label}": (row, line)
            for table in reference.tables
            if table.kind in kinds
            for row in table.rows
            if (line := _line(table, row, cell, column)) is not None
        }
        if figures:  # a row that repeats another one's measurement appears once
            return tuple(line for row, line in figures.values() if row.same_as not in figures)
    return ()


def _line(
    table: PublishedTable, row: PublishedRow, cell: Mapping[str, Any], column: str
) -> PrintedLine | None:
    """None if the row is of other cells or without these figures."""
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
        paths[field]: _printed(figure, UNITS.get(column_of.unit, 1.0) if is_nanoseconds(field) else 1.0)
        for column_of in table.columns
        if (figure := row.values.get(column_of.name)) is not None
        and figure.number is not None
        and (field := column_of.field_of(row)) in paths
    }
    if not figures or not any(name != "overruns" for name in figures):
        return None
    label = row.named if PREEMPTION in table.rows_by.split("+") else table.title
    return PrintedLine(
        label=label,
        table=table.id,
        place=table.place,
        title=table.title,
        samples=table.samples,
        preemption=preemption,
        why=row.why,
        figures=figures,
    )


def _printed(figure: PublishedFigure, unit: float) -> PrintedFigure:
    number, sign = float(figure.number or 0), SIGNS[figure.mark]
    return PrintedFigure(
        value=number * unit,
        number=number,
        text=figure.printed,
        mark=figure.mark,
        sign=sign,
        meaning=LEGEND.get(sign, ""),
        about=ABOUT if figure.about else "",
    )


class StudyDocument(Struct, frozen=True):
    """A reference, with the figures that it prints for our cells."""

    reference: Reference

    def lines(
        self, labels: Mapping[str, str], column: str, parameters: Mapping[str, str]
    ) -> tuple[PrintedLine, ...]:
        return printed_lines(self.reference, labels, column, parameters)
