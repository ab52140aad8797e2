"""Every measured column of a cell against time in one picture: an interrupt's handler and the process that it wakes
are of the same event, and their courses belong together. What it hides: all but the largest value of each block."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts.course import outside
from howlate.figures.figure import Chart, Figure, Key, Note, Panel, Picture, Subject, title_of_column
from howlate.figures.scale import OWN_AXES, Axes, Scale, from_zero, with_range
from howlate.figures.svg import el, line_path, pack
from howlate.model.bins import CellBins
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed

WIDTH = 1000.0
HEIGHT = 220
TESTS = ("irq", "uio")
"""Tests whose columns belong to the same event."""
MOST = 12

Series = Sequence[tuple[Text, CellBins]]
"""The name of each line, and its bins."""


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    rows = [(s.label, series) for s in subjects if s.summary.test in TESTS and len(series := _series(s)) > 1]
    if not rows:
        return None
    kept = sorted(rows, key=lambda row: -max(max(b.blocks.max_ns) for _, b in row[1]))[:MOST]
    rows = [row for row in rows if row in kept]
    x, y = scales([series for _, series in rows], axes)
    return figure_of("together", Caption("Over time, together"), rows, x, y)


def _series(subject: Subject) -> list[tuple[Text, CellBins]]:
    """The columns that were measured at the same events."""
    bins = subject.bins
    if bins is None:
        return []
    names = [bins.column, *(other.column for other in bins.others)]
    columns = [(name, own) for name in names if (own := bins.of(name)) is not None]
    return [(title_of_column(name), own) for name, own in columns if own.blocks.start_s]


def scales(rows: Sequence[Series], axes: Axes) -> tuple[Scale, Scale]:
    """Both are linear and begin at zero, or below it where values do, as in the studies with such figures."""
    every = [bins for series in rows for _, bins in series]
    end = max(b.blocks.start_s[-1] + b.blocks.width_s for b in every)
    x = with_range(Scale(0.0, end, log=False, kind="s"), axes.get("time"))
    largest = [ns for b in every for ns in b.blocks.max_ns]
    return x, with_range(from_zero(max(largest), "ns", smallest=min(largest)), axes.get("latency"))


def figure_of(
    name: str, title: Text, rows: Sequence[tuple[Text, Series]], x: Scale, y: Scale, more: Text = ""
) -> Figure:
    """A panel for each row, with a line for each of its series."""
    names = list(dict.fromkeys(line for _, series in rows for line, _ in series))
    return Figure(
        name=name,
        title=title,
        reading=(
            Caption(
                "Lines through the largest value of each block of time, of what was measured at the same events; the "
                "axes are linear. What lies outside of them is counted next to each panel."
            ),
            more,
        ),
        x_title=Caption("Time since the start"),
        y_title=Caption("Latency"),
        panels=tuple(_panel(label, series, names, x, y) for label, series in rows),
        keys=tuple(Key(f"c{i + 1}", line, "line", i) for i, line in enumerate(names)),
    )


def _panel(label: Text, series: Series, names: Sequence[Text], x: Scale, y: Scale) -> Panel:
    marks = "".join(_line(bins, names.index(name), x, y) for name, bins in series)
    name, worst = max(series, key=lambda line: max(line[1].blocks.max_ns))
    largest = max(worst.blocks.max_ns)
    at = worst.blocks.start_s[worst.blocks.max_ns.index(largest)] + worst.blocks.width_s / 2
    note = Note(
        x.at(at),
        min(1.0, y.at(largest)),
        Caption("max {largest}", largest=time_text(largest)),
        "circle",
        "c-max",
    )
    return Panel(
        label=label,
        aside=Listed(tuple(_outside(line, bins, y) for line, bins in series), "; "),
        picture=Picture(x, y.ticks(5), marks, WIDTH, 2.0 * HEIGHT, (note,)),
        height=HEIGHT,
        summary=Caption(
            "{names} over time: the largest is {largest}, of {name}.",
            names=Listed(tuple(line for line, _ in series)),
            largest=time_text(largest),
            name=name,
        ),
        data=_exact(series, names),
        link=Listed(("time", label), " "),
    )


def _outside(name: Text, bins: CellBins, y: Scale) -> Text:
    counts = outside(bins, y)
    return Listed((name, Listed(tuple(counts), "; ")), ": ") if counts else ""


def _line(bins: CellBins, place: int, x: Scale, y: Scale) -> str:
    blocks = bins.blocks
    middles = [start + blocks.width_s / 2 for start in blocks.start_s]
    points = [
        (x.at(at) * WIDTH, 2.0 * HEIGHT * (1 - y.at(value)))
        for at, value in zip(middles, blocks.max_ns, strict=True)
    ]
    return el("path", {"class": f"line c{place + 1} s{place}", "d": line_path(points)})


def _exact(series: Series, names: Sequence[Text]) -> dict[str, object]:
    """The exact numbers for hovering: by the blocks of the first series, with those that have the same."""
    first = series[0][1].blocks
    index = [round((start - first.start_s[0]) / first.width_s) for start in first.start_s]
    same = [(name, bins) for name, bins in series if bins.blocks.start_s == first.start_s]
    return {
        "kind": "intervals",
        "base": first.start_s[0],
        "unit": first.width_s,
        "low": pack(index),
        "size": 1,
        "series": [
            {
                "name": name,
                "kind": "ns",
                "key": f"c{names.index(name) + 1}",
                "values": pack(bins.blocks.max_ns),
            }
            for name, bins in same
        ],
    }


CHART = Chart("together", 31, draw, "worst", axes=("latency", "time"))
