"""Latency against the kernel's version: series in order, standard and RT kernels as two marks, the interval from the
smallest to the largest maximum over the seeds. What it hides: kernels with boot parameters of their own, which are in
the other charts."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._data import pack
from howlate.charts._figure import Chart, Figure, Key, Note, Panel, Picture, Subject
from howlate.charts._points import Point, Version, points_of, varying, version_of
from howlate.charts._scale import Scale, linear_ticks, log_ticks, spread, time_tick
from howlate.charts._svg import el
from howlate.charts._words import time_text
from howlate.model.columns import column_title

WIDTH = 1000.0
HEIGHT = 260
FEWEST = 3
"""Of fewer series there is no course over versions."""
ASIDE = 0.14
"""Standard and RT stand beside each other, so far from the middle of their series."""

Row = tuple[Version, Point]


def draw(subjects: Sequence[Subject]) -> Figure | None:
    points = points_of(subjects)
    rows = [(v, p) for p in points if (v := version_of(p.labels.get("kernel", ""))) and not v.parameters]
    panels = _panels(rows, varying(points))
    panels = {title: some for title, some in panels.items() if len({v.series for v, _ in some}) >= FEWEST}
    if not panels:
        return None
    shown = [p for some in panels.values() for _, p in some]
    y = spread(
        min(p.spread.maxima.smallest for p in shown), max(p.spread.maxima.largest for p in shown), "ns", 0.08
    )
    series = sorted({v.series: v for some in panels.values() for v, _ in some}.values(), key=lambda v: v.key)
    x = Scale(0.0, float(len(series)), False, "names", tuple(v.series for v in series))
    return Figure(
        name="versions",
        title="Latency against kernel version",
        reading="Each mark is the median of the maxima over the repetitions (in virtual time: seeds), its line "
        "reaches from the smallest to the largest of them. All panels share both axes. A version that is missing "
        "was not measured or has no valid repetition.",
        x_title="Kernel series",
        y_title=column_title(shown[0].column),
        panels=tuple(_panel(title, some, x, y) for title, some in panels.items()),
        keys=(Key("c2", "standard", "circle"), Key("c1", "RT", "square")),
    )


def _panels(rows: Sequence[Row], vary: Sequence[str]) -> dict[str, list[Row]]:
    """By architecture, and by everything else that varies; those without a load first."""
    archs = {v.arch for v, _ in rows}
    found: dict[str, list[Row]] = {}
    for version, point in sorted(rows, key=lambda row: row[1].labels.get("load") != "none"):
        rest = [f"{name} {point.labels.get(name, '-')}" for name in vary if name != "kernel"]
        title = ", ".join([*([version.arch] if len(archs) > 1 else []), *rest]) or "All kernels"
        found.setdefault(title, []).append((version, point))
    return found


def _panel(title: str, rows: Sequence[Row], x: Scale, y: Scale) -> Panel:
    marks: list[str] = []
    notes: list[Note] = []
    series: list[dict[str, object]] = []
    for rt, name, marker, classes in ((False, "standard", "circle", "c2"), (True, "RT", "square", "c1")):
        some = [(v, p) for v, p in rows if v.rt is rt]
        places = [x.names.index(v.series) + 0.5 + (ASIDE if rt else -ASIDE) for v, _ in some]
        for place, (_, point) in zip(places, some, strict=True):
            maxima = point.spread.maxima
            at, low, high = x.at(place), y.at(maxima.smallest), y.at(maxima.largest)
            top, foot = (2 * HEIGHT * (1 - share) for share in (high, low))
            line = f"M{at * WIDTH:.1f},{foot:.1f}V{min(top, foot - 0.1):.1f}"
            marks.append(el("path", {"class": f"range {classes}", "d": line}))
            notes.append(Note(at, y.at(maxima.median), "", marker, classes))
        if some:
            series.append(_series(name, classes, places, [p for _, p in some], y))
    worst = max((p for _, p in rows), key=lambda p: p.spread.maxima.largest)
    return Panel(
        label=title,
        picture=Picture(
            x=x,
            y_ticks=[(y.at(v), time_tick(v)) for v in (log_ticks(y.low, y.high, 7) if y.log else _linear(y))],
            marks="".join(marks),
            width=WIDTH,
            height=2.0 * HEIGHT,
            notes=notes,
        ),
        height=HEIGHT,
        summary=f"{len(rows)} kernels, {title}. The largest maximum, {time_text(worst.spread.maxima.largest)}, is of "
        f"{worst.labels.get('kernel', worst.name)}.",
        data={
            "kind": "points",
            "y": {"low": 0, "high": 10000, "log": False},
            "series": series,
        },
        link="versions",
    )


def _series(
    name: str, classes: str, places: Sequence[float], points: Sequence[Point], y: Scale
) -> dict[str, object]:
    maxima = [p.spread.maxima for p in points]
    return {
        "name": name,
        "key": classes,
        "names": [p.labels.get("kernel", p.name) for p in points],
        "says": [
            f"{time_text(m.median)} ({time_text(m.smallest)} to {time_text(m.largest)}, n = {p.said})"
            for m, p in zip(maxima, points, strict=True)
        ],
        "per": 1000,
        "x": pack(round(place * 1000) for place in places),
        "y": pack(round(y.at(m.median) * 10000) for m in maxima),
    }


def _linear(y: Scale) -> list[float]:
    return linear_ticks(y.low, y.high, 5)


CHART = Chart("versions", 7, draw, "points")
