"""Latency against the kernel's version: series in order, standard and RT kernels as two marks, the interval from the
smallest to the largest maximum over the seeds. What it hides: kernels with boot parameters of their own, which are in
the other charts."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.figures.figure import Chart, Figure, Key, Note, Panel, Subject, around_zero, title_of_column
from howlate.figures.frame import Piece, exact_of, from_bottom, picture_of
from howlate.figures.points import KernelVersion, Point, points_of, varying, version_of
from howlate.figures.scale import Scale, spread
from howlate.figures.svg import el, pack
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Caption

WIDTH = 1000.0
HEIGHT = 260
FEWEST = 3
"""With fewer series there is no course over versions."""
ASIDE = 0.14
"""The distance of standard and RT from the middle of their series."""

Row = tuple[KernelVersion, Point]


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
    x = Scale(0.0, float(len(series)), log=False, kind="names", names=tuple(v.series for v in series))
    return Figure(
        name="versions",
        title=Caption("Latency against kernel version"),
        reading=(
            Caption(
                "Each mark is the median of the maxima over the repetitions (in virtual time: "
                "seeds), its line reaches from the smallest to the largest of them. All panels share "
                "both axes. A version that is missing was not measured or has no valid repetition."
            ),
            around_zero(y),
        ),
        x_title=Caption("Kernel series"),
        y_title=title_of_column(shown[0].column),
        panels=tuple(_panel(title, some, x, y) for title, some in panels.items()),
        keys=(Key("c2", Caption("standard"), "circle"), Key("c1", "RT", "square")),
    )


def _panels(rows: Sequence[Row], vary: Sequence[str]) -> dict[Text, list[Row]]:
    """By architecture, and by everything else that varies; panels without a load first."""
    archs = {v.arch for v, _ in rows}
    found: dict[Text, list[Row]] = {}
    for version, point in sorted(rows, key=lambda row: row[1].labels.get("load") != "none"):
        rest = [f"{name} {point.labels.get(name, '-')}" for name in vary if name != "kernel"]
        title: Text = ", ".join([*([version.arch] if len(archs) > 1 else []), *rest]) or Caption(
            "All kernels"
        )
        found.setdefault(title, []).append((version, point))
    return found


def _panel(title: Text, rows: Sequence[Row], x: Scale, y: Scale) -> Panel:
    kinds = ((False, Caption("standard"), "circle", "c2"), (True, "RT", "square", "c1"))
    pieces = [
        _piece(name, marker, classes, [(_place(v, x), p) for v, p in rows if v.rt is rt], x, y)
        for rt, name, marker, classes in kinds
        if any(v.rt is rt for v, _ in rows)
    ]
    worst = max((p for _, p in rows), key=lambda p: p.spread.maxima.largest)
    return Panel(
        label=title,
        picture=picture_of(pieces, x, y.ticks(7 if y.log else 5), WIDTH, 2.0 * HEIGHT),
        height=HEIGHT,
        summary=Caption(
            "{rows} kernels, {title}. The largest maximum, {largest}, is of {name}.",
            rows=len(rows),
            title=title,
            largest=time_text(worst.spread.maxima.largest),
            name=worst.labels.get("kernel", worst.name),
        ),
        data=exact_of(pieces),
        link="versions",
    )


def _place(version: KernelVersion, x: Scale) -> float:
    return x.names.index(version.series) + 0.5 + (ASIDE if version.rt else -ASIDE)


def _piece(
    name: Text, marker: str, classes: str, placed: Sequence[tuple[float, Point]], x: Scale, y: Scale
) -> Piece:
    marks, notes = [], []
    for place, point in placed:
        maxima = point.spread.maxima
        at, low, high = x.at(place), y.at(maxima.smallest), y.at(maxima.largest)
        top, foot = (2 * HEIGHT * (1 - share) for share in (high, low))
        line = f"M{at * WIDTH:.1f},{foot:.1f}V{min(top, foot - 0.1):.1f}"
        marks.append(el("path", {"class": f"range {classes}", "d": line}))
        notes.append(Note(at, y.at(maxima.median), "", marker, classes))
    places = [place for place, _ in placed]
    return Piece("".join(marks), notes, _series(name, classes, places, [p for _, p in placed], y))


def _series(
    name: Text, classes: str, places: Sequence[float], points: Sequence[Point], y: Scale
) -> dict[str, object]:
    maxima = [p.spread.maxima for p in points]
    return {
        "name": name,
        "key": classes,
        "names": [p.labels.get("kernel", p.name) for p in points],
        "says": [
            Caption(
                "{median} ({smallest} to {largest}, n = {said})",
                median=time_text(m.median),
                smallest=time_text(m.smallest),
                largest=time_text(m.largest),
                said=p.repetitions,
            )
            for m, p in zip(maxima, points, strict=True)
        ],
        "per": 1000,
        "x": pack(round(place * 1000) for place in places),
        "y": pack(from_bottom(y.at(m.median)) for m in maxima),
    }


CHART = Chart("versions", 7, draw, "points")
