"""Every measured column of a cell against time in one picture: an interrupt's handler and the process that it wakes
are of the same event, and their courses belong together. What it hides: all but the largest value of each block."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._data import pack
from howlate.charts._figure import Chart, Figure, Key, Note, Panel, Picture, Subject
from howlate.charts._scale import OWN_AXES, Axes, Scale, asked, from_zero
from howlate.charts._svg import el, line_path
from howlate.charts._words import time_text, title_of_column
from howlate.charts.course import outside
from howlate.language import _
from howlate.model.bins import CellBins

WIDTH = 1000.0
HEIGHT = 220
TESTS = ("irq", "uio")
"""Whose columns are of the same event."""
MOST = 12

Series = Sequence[tuple[str, CellBins]]
"""What each line is called, and what it is of."""


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    rows = [(s.label, series) for s in subjects if s.summary.test in TESTS and len(series := _series(s)) > 1]
    if not rows:
        return None
    kept = sorted(rows, key=lambda row: -max(max(b.blocks.max_ns) for _, b in row[1]))[:MOST]
    rows = [row for row in rows if row in kept]
    x, y = scales([series for _, series in rows], axes)
    return figure_of("together", _("Over time, together"), rows, x, y)


def _series(subject: Subject) -> list[tuple[str, CellBins]]:
    """The columns that were measured at the same events."""
    bins = subject.bins
    if bins is None:
        return []
    names = [bins.column, *(other.column for other in bins.others)]
    found = [(title_of_column(name), its) for name in names if (its := bins.of(name)) is not None]
    return [(name, its) for name, its in found if its.blocks.start_s]


def scales(some: Sequence[Series], axes: Axes) -> tuple[Scale, Scale]:
    """Both linear and from zero on, as in the studies that have such figures."""
    every = [bins for series in some for _, bins in series]
    end = max(b.blocks.start_s[-1] + b.blocks.width_s for b in every)
    x = asked(Scale(0.0, end, False, "s"), axes.get("time"))
    return x, asked(from_zero(max(max(b.blocks.max_ns) for b in every), "ns"), axes.get("latency"))


def figure_of(
    name: str, title: str, rows: Sequence[tuple[str, Series]], x: Scale, y: Scale, more: str = ""
) -> Figure:
    """A panel a row, with a line for each of its series."""
    names = list(dict.fromkeys(line for _, series in rows for line, _ in series))
    return Figure(
        name=name,
        title=title,
        reading=_(
            "Lines through the largest value of each block of time, of what was measured at the same events; the "
            "axes are linear. What lies outside of them is counted beside each panel."
        )
        + more,
        x_title=_("Time since the start"),
        y_title=_("Latency"),
        panels=tuple(_panel(label, series, names, x, y) for label, series in rows),
        keys=tuple(Key(f"c{i + 1}", line, "line", i) for i, line in enumerate(names)),
    )


def _panel(label: str, series: Series, names: Sequence[str], x: Scale, y: Scale) -> Panel:
    marks = "".join(_line(bins, names.index(name), x, y) for name, bins in series)
    name, worst = max(series, key=lambda line: max(line[1].blocks.max_ns))
    largest = max(worst.blocks.max_ns)
    at = worst.blocks.start_s[worst.blocks.max_ns.index(largest)] + worst.blocks.width_s / 2
    said = [text for line, bins in series if (text := _outside(line, bins, y))]
    note = Note(
        x.at(at),
        min(1.0, y.at(largest)),
        _("max {largest}").format(largest=time_text(largest)),
        "circle",
        "c-max",
    )
    return Panel(
        label=label,
        aside="; ".join(said),
        picture=Picture(x, y.ticks(5), marks, WIDTH, 2.0 * HEIGHT, (note,)),
        height=HEIGHT,
        summary=_("{names} over time: the largest is {largest}, of {name}.").format(
            names=", ".join(line for line, _ in series), largest=time_text(largest), name=name
        ),
        data=_exact(series, names),
        link=f"time {label}",
    )


def _outside(name: str, bins: CellBins, y: Scale) -> str:
    said = outside(bins, y).removeprefix("; ")
    return f"{name}: {said}" if said else ""


def _line(bins: CellBins, place: int, x: Scale, y: Scale) -> str:
    blocks = bins.blocks
    middles = [start + blocks.width_s / 2 for start in blocks.start_s]
    points = [
        (x.at(at) * WIDTH, 2.0 * HEIGHT * (1 - y.at(value)))
        for at, value in zip(middles, blocks.max_ns, strict=True)
    ]
    return el("path", {"class": f"line c{place + 1} s{place}", "d": line_path(points)})


def _exact(series: Series, names: Sequence[str]) -> dict[str, object]:
    """What hover reads: by the blocks of the first, with those that have the same."""
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
