"""Kernels (or whatever the points differ in) compared: from the smallest to the largest maximum over the seeds, a dot
at their median, on one logarithmic axis. What it hides: how often a repetition came near its largest."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.figures.deadline import deadlines, with_upright
from howlate.figures.figure import Chart, Figure, Key, Panel, Subject, around_zero, things_of, title_of_column
from howlate.figures.frame import exact_of, picture_of
from howlate.figures.points import Point, by_rest, points_of
from howlate.figures.rows import ROW, WIDTH, Dot, DotRow, above, pieces_of
from howlate.figures.scale import Scale, spread
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed


def draw(subjects: Sequence[Subject]) -> Figure | None:
    points = points_of(subjects)
    if not points:
        return None
    largest = [p.spread.maxima.largest for p in points]
    smallest = [p.spread.medians or p.spread.maxima.smallest for p in points]
    limits = deadlines(subjects)
    ends = [*(p.spread.maxima.smallest for p in points), *limits]
    x = spread(min([*smallest, *ends]), max([*largest, *limits]), "ns", 0.05)
    panels = by_rest(points)
    return Figure(
        name="kernels",
        title=Caption("Spread over the repetitions"),
        reading=(
            Caption(
                "One line a point, from the smallest to the largest maximum of its repetitions (in "
                "virtual time: seeds), the dot at the median of the maxima. The cross is the median "
                "of their medians: half of the {column} of a typical repetition came sooner. Lines "
                "that do not overlap differ in every repetition.",
                column=things_of(points[0].column),
            ),
            around_zero(x),
        ),
        x_title=title_of_column(points[0].column),
        y_title="",
        panels=tuple(
            with_upright(_panel(title, rows, x), subjects, above(len(rows))) for title, rows in panels
        ),
        keys=(
            Key("c-median", Caption("median of the medians"), "plus"),
            Key("c-p99", Caption("smallest maximum"), "square"),
            Key("c-max", Caption("median of the maxima"), "circle"),
            Key("c-p999", Caption("largest maximum"), "diamond"),
        ),
    )


def _panel(title: Text, rows: Sequence[Point], x: Scale) -> Panel:
    pieces = pieces_of([_row(point, x) for point in rows], x)
    best = min(rows, key=lambda p: p.spread.maxima.largest)
    worst = max(rows, key=lambda p: p.spread.maxima.largest)
    height = ROW * len(rows)
    return Panel(
        label=title,
        picture=picture_of(pieces, x, (), WIDTH, float(height)),
        height=height,
        summary=Caption(
            "The largest maximum is {largest}, of {name}; the smallest of the largest is "
            "{largest2}, of {name2}.",
            largest=time_text(worst.spread.maxima.largest),
            name=worst.name,
            largest2=time_text(best.spread.maxima.largest),
            name2=best.name,
        ),
        data=exact_of(pieces),
        link="spread",
    )


def _row(point: Point, x: Scale) -> DotRow:
    """The line is long enough to be visible."""
    low, high = (x.at(v) * WIDTH for v in (point.spread.maxima.smallest, point.spread.maxima.largest))
    partly = f"({point.repetitions})" if "of" in point.repetitions else ""
    heading = Listed((Listed((point.name, partly), " "), _range(point)), ": ")
    return DotRow(point.name, _dots(point), "range c-max", low, max(high, low + 0.1), heading)


def _range(point: Point) -> Text:
    low, high = time_text(point.spread.maxima.smallest), time_text(point.spread.maxima.largest)
    return Caption("{low} to {high}", low=low, high=high)


def _dots(point: Point) -> list[Dot]:
    maxima = point.spread.maxima
    medians = point.spread.medians
    return [
        *(
            [Dot(Caption("median of the medians"), medians, "plus", "c-median")]
            if medians is not None
            else []
        ),
        Dot(Caption("smallest maximum"), maxima.smallest, "square", "c-p99"),
        Dot(Caption("median of the maxima"), maxima.median, "circle", "c-max"),
        Dot(Caption("largest maximum"), maxima.largest, "diamond", "c-p999"),
    ]


CHART = Chart("kernels", 5, draw, "points")
