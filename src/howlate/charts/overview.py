"""Every cell in one line: median, p99, p99.9 and the largest seen, on one logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._data import pack
from howlate.charts._figure import Chart, Figure, Key, Note, Panel, Picture, Subject
from howlate.charts._scale import spread
from howlate.charts._svg import el
from howlate.charts._words import said_of, time_text
from howlate.model.summary import ColumnSummary

WIDTH = 1000.0
ROW = 46
STATISTICS = (
    ("0.5", "median", "plus", "c-median"),
    ("0.99", "p99", "square", "c-p99"),
    ("0.999", "p99.9", "diamond", "c-p999"),
)


def draw(subjects: Sequence[Subject]) -> Figure | None:
    rows = [
        (s, column) for s in subjects if (column := main_column(s)) is not None and column.max is not None
    ]
    if not rows:
        return None
    values = [v for _, column in rows for _, v, _, _ in dots(column)]
    x = spread(min(values), max(values), "ns", 0.04)
    height = ROW * len(rows)
    marks: list[str] = []
    notes: list[Note] = []
    series: list[dict[str, object]] = []
    for i, (subject, column) in enumerate(rows):
        y = 1 - (ROW * i + 32) / height
        found = dots(column)
        places = [x.at(v) for _, v, _, _ in found]
        at = f"{height * (1 - y):g}"
        marks.append(
            el("path", {"class": "span", "d": f"M{min(places) * WIDTH:.1f},{at}H{max(places) * WIDTH:.1f}"})
        )
        notes.append(Note(0, 1 - (ROW * i + 12) / height, subject.label, "", "row"))
        for name, value, marker, classes in found:
            said = f"{time_text(value)}" if name == "largest" else ""
            notes.append(Note(x.at(value), y, said, marker, classes))
        series.append(
            {
                "name": subject.label,
                "names": [name for name, _, _, _ in found],
                "x": pack(v for _, v, _, _ in found),
                "y": pack([round(y * 10000)] * len(found)),
            }
        )
    title, said, _ = said_of(subjects)
    worst = max(rows, key=lambda row: row[1].max or 0)
    panel = Panel(
        label="All cells",
        picture=Picture(x=x, y_ticks=(), marks="".join(marks), width=WIDTH, height=height, notes=notes),
        height=height,
        summary="Median, p99, p99.9 and the largest seen of each cell, also in the table below. "
        f"The largest of all, {time_text(worst[1].max or 0)}, was seen under {worst[0].label}.",
        data={"kind": "points", "y": {"low": 0, "high": 10000, "log": False}, "series": series},
    )
    return Figure(
        name="overview",
        title="At a glance",
        reading=f"One line a cell, from the median to the largest {said} seen. A mark is missing where "
        "fewer than ten samples "
        "lie beyond it.",
        x_title=title,
        y_title="",
        panels=(panel,),
        keys=(
            *(Key(classes, name, marker) for _, name, marker, classes in STATISTICS),
            Key("c-max", "largest seen", "circle"),
        ),
    )


def main_column(subject: Subject) -> ColumnSummary | None:
    """The column that the bins were made of, else the first."""
    columns = subject.summary.columns
    name = subject.bins.column if subject.bins is not None else "latency_ns"
    return columns.get(name) or next(iter(columns.values()), None)


def dots(column: ColumnSummary) -> list[tuple[str, int, str, str]]:
    """(name, value, marker, classes), smallest first."""
    found = [
        (name, value, marker, classes)
        for key, name, marker, classes in STATISTICS
        if (value := column.quantiles.get(key)) is not None
    ]
    return [*found, ("largest", column.max, "circle", "c-max")] if column.max is not None else found


CHART = Chart("overview", 10, draw, "cells")
