"""Which published figure stands beside which of ours: pure functions of a reference and a cell of `show --json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from howlate.model.reference import UNITS, Column, Figure, Reference, Row, Table

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
