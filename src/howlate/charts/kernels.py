"""Kernels (or whatever the points differ in) compared: from the smallest to the largest maximum over the seeds, a dot
at their median, on one logarithmic axis. What it hides: how often a repetition came near its largest."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._data import pack
from howlate.charts._figure import Chart, Figure, Key, Note, Panel, Picture, Subject
from howlate.charts._points import Point, by_rest, points_of
from howlate.charts._scale import Scale, spread
from howlate.charts._svg import el
from howlate.charts._words import time_text
from howlate.model.columns import column_title, things

WIDTH = 1000.0
ROW = 46


def draw(subjects: Sequence[Subject]) -> Figure | None:
    points = points_of(subjects)
    if not points:
        return None
    largest = [p.spread.maxima.largest for p in points]
    smallest = [p.spread.medians or p.spread.maxima.smallest for p in points]
    x = spread(min(*smallest, *(p.spread.maxima.smallest for p in points)), max(largest), "ns", 0.05)
    panels = by_rest(points)
    return Figure(
        name="kernels",
        title="Spread over the repetitions",
        reading="One line a point, from the smallest to the largest maximum of its repetitions (in virtual time: "
        "seeds), the dot at the median of the maxima. The cross is the median of their medians: half of the "
        f"{things(points[0].column)} of a typical repetition came sooner. Lines that do not overlap differ in every "
        "repetition.",
        x_title=column_title(points[0].column),
        y_title="",
        panels=tuple(_panel(title, rows, x) for title, rows in panels),
        keys=(
            Key("c-median", "median of the medians", "plus"),
            Key("c-p99", "smallest maximum", "square"),
            Key("c-max", "median of the maxima", "circle"),
            Key("c-p999", "largest maximum", "diamond"),
        ),
    )


def _panel(title: str, rows: Sequence[Point], x: Scale) -> Panel:
    height = ROW * len(rows)
    marks: list[str] = []
    notes: list[Note] = []
    series: list[dict[str, object]] = []
    for i, point in enumerate(rows):
        y = 1 - (ROW * i + 32) / height
        at = f"{height * (1 - y):g}"
        found = _dots(point)
        low, high = (x.at(v) * WIDTH for v in (point.spread.maxima.smallest, point.spread.maxima.largest))
        marks.append(el("path", {"class": "range c-max", "d": f"M{low:.1f},{at}H{max(high, low + 0.1):.1f}"}))
        partly = f" ({point.said})" if "of" in point.said else ""
        notes.append(
            Note(0, 1 - (ROW * i + 12) / height, f"{point.name}{partly}: {_range(point)}", "", "row")
        )
        for _, value, marker, classes in found:
            notes.append(Note(x.at(value), y, "", marker, classes))
        series.append(
            {
                "name": point.name,
                "names": [name for name, _, _, _ in found],
                "x": pack(round(v) for _, v, _, _ in found),
                "y": pack([round(y * 10000)] * len(found)),
            }
        )
    best = min(rows, key=lambda p: p.spread.maxima.largest)
    worst = max(rows, key=lambda p: p.spread.maxima.largest)
    return Panel(
        label=title,
        picture=Picture(
            x=x, y_ticks=(), marks="".join(marks), width=WIDTH, height=float(height), notes=notes
        ),
        height=height,
        summary=f"The largest maximum is {time_text(worst.spread.maxima.largest)}, of {worst.name}; the smallest "
        f"of the largest is {time_text(best.spread.maxima.largest)}, of {best.name}.",
        data={"kind": "points", "y": {"low": 0, "high": 10000, "log": False}, "series": series},
        link="spread",
    )


def _range(point: Point) -> str:
    low, high = time_text(point.spread.maxima.smallest), time_text(point.spread.maxima.largest)
    return low if low == high else f"{low} to {high}"


def _dots(point: Point) -> list[tuple[str, float, str, str]]:
    """(name, value, marker, classes)."""
    maxima = point.spread.maxima
    medians = point.spread.medians
    return [
        *([("median of the medians", medians, "plus", "c-median")] if medians is not None else []),
        ("smallest maximum", maxima.smallest, "square", "c-p99"),
        ("median of the maxima", maxima.median, "circle", "c-max"),
        ("largest maximum", maxima.largest, "diamond", "c-p999"),
    ]


CHART = Chart("kernels", 5, draw, "points")
