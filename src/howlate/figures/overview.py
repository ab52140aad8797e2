"""Every cell in one line: median, p99, p99.9 and the largest seen, on one logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.figures.deadline import deadlines, with_upright
from howlate.figures.figure import Figure, Key, Panel, Subject, around_zero, names_of
from howlate.figures.frame import exact_of, picture_of
from howlate.figures.rows import ROW, WIDTH, Dot, DotRow, above, pieces_of
from howlate.figures.scale import Scale, spread
from howlate.model.summary import ColumnSummary
from howlate.words.quantities import time_text
from howlate.words.statement import Caption

STATISTICS = (
    ("0.5", Caption("median"), "plus", "c-median"),
    ("0.99", "p99", "square", "c-p99"),
    ("0.999", "p99.9", "diamond", "c-p999"),
)

LARGEST = Caption("largest")


def draw(subjects: Sequence[Subject]) -> Figure | None:
    rows = [
        (s, column) for s in subjects if (column := main_column(s)) is not None and column.max is not None
    ]
    if not rows:
        return None
    drawn = [subject for subject, _ in rows]
    marks = [dot for _, column in rows for dot in dots(column)]
    marked = [dot.name for dot in marks]
    values = [*(dot.value for dot in marks), *deadlines(drawn)]
    x = spread(min(values), max(values), "ns", 0.04)
    title, value, _things = names_of(subjects)
    return Figure(
        name="overview",
        title=Caption("At a glance"),
        reading=(
            Caption(
                "One line a cell, from the median to the largest {said} seen. A mark is missing "
                "where fewer than ten samples lie beyond it.",
                said=value,
            ),
            around_zero(x),
        ),
        x_title=title,
        y_title="",
        panels=(with_upright(_panel(rows, x), drawn, above(len(rows))),),
        keys=(
            *(Key(classes, name, marker) for _key, name, marker, classes in STATISTICS if name in marked),
            Key("c-max", Caption("largest seen"), "circle"),
        ),
    )


def _panel(rows: Sequence[tuple[Subject, ColumnSummary]], x: Scale) -> Panel:
    pieces = pieces_of([_row(subject, dots(column), x) for subject, column in rows], x)
    worst = max(rows, key=lambda row: row[1].max or 0)
    height = ROW * len(rows)
    return Panel(
        label=Caption("All cells"),
        picture=picture_of(pieces, x, (), WIDTH, height),
        height=height,
        summary=Caption(
            "Median, p99, p99.9 and the largest seen of each cell, also in the table below. The "
            "largest of all, {time_text}, was seen under {label}.",
            time_text=time_text(worst[1].max or 0),
            label=worst[0].label,
        ),
        data=exact_of(pieces),
    )


def _row(subject: Subject, drawn: Sequence[Dot], x: Scale) -> DotRow:
    places = [x.at(dot.value) * WIDTH for dot in drawn]
    end, ruling = subject.end, subject.ruling.lower()
    return DotRow(subject.label, drawn, "span", min(places), max(places), end=end, ruling=ruling)


def main_column(subject: Subject) -> ColumnSummary | None:
    columns = subject.summary.columns
    name = subject.bins.column if subject.bins is not None else "latency_ns"
    return columns.get(name) or next(iter(columns.values()), None)


def dots(column: ColumnSummary) -> list[Dot]:
    """Smallest first."""
    found = [
        Dot(name, value, marker, classes)
        for key, name, marker, classes in STATISTICS
        if (value := column.quantiles.get(key)) is not None
    ]
    return [*found, Dot(LARGEST, column.max, "circle", "c-max")] if column.max is not None else found
