"""What charts over sides share: who is a side, what tells the pictures apart, and lines against a load's number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from howlate.charts._data import pack
from howlate.charts._figure import Key, Note, Panel, Subject
from howlate.charts._pieces import Piece, exact_of, from_bottom, picture_of
from howlate.charts._scale import OWN_AXES, Axes, Scale, asked, from_zero
from howlate.charts._svg import MARKERS, el, line_path
from howlate.charts._words import time_text
from howlate.language import _
from howlate.model.study import numbered
from howlate.stats.sides import Range

WIDTH = 1000.0
HEIGHT = 260
UNMEASURED = "unmeasured"
"""The test that measures nothing but how long a load's own runs take."""
LINES = 8
"""More lines in one picture cannot be told apart."""


@dataclass(frozen=True)
class Spot:
    """A point on one side."""

    side: str
    rest: Mapping[str, str]
    """Its labels without the kernel."""
    subject: Subject


def spots_of(subjects: Sequence[Subject]) -> list[Spot]:
    """Those that have a valid repetition."""
    found = []
    for subject in subjects:
        group = subject.group
        if group is not None and group.counted:
            rest = {name: text for name, text in group.labels.items() if name != "kernel"}
            found.append(Spot(group.labels.get("kernel", ""), rest, subject))
    return found


def measured(spots: Sequence[Spot]) -> list[Spot]:
    """Those whose columns are latencies."""
    return [spot for spot in spots if spot.subject.summary.test != UNMEASURED]


def sides_of(spots: Sequence[Spot]) -> list[str]:
    """In the order in which they come."""
    return list(dict.fromkeys(spot.side for spot in spots))


def title_of(rest: Mapping[str, str], spots: Sequence[Spot], without: Sequence[str] = ()) -> str:
    """What tells these labels from the other spots': "load none, period 1ms"; "" where nothing does."""
    names = dict.fromkeys(name for spot in spots for name in spot.rest)
    vary = [n for n in names if n not in without and len({spot.rest.get(n) for spot in spots}) > 1]
    return ", ".join(f"{name} {rest[name]}" for name in vary if name in rest)


def columns_of(spot: Spot) -> list[str]:
    """Measured columns that say something."""
    assert spot.subject.group is not None
    found: dict[str, bool] = {}
    for cell in spot.subject.group.counted:
        for name, column in cell.columns.items():
            found[name] = found.get(name, False) or bool(column.max)
    return [name for name, says in found.items() if says]


def maxima(spot: Spot, column: str) -> Range | None:
    """Of the valid repetitions' maxima."""
    assert spot.subject.group is not None
    return Range.of(
        [
            largest
            for cell in spot.subject.group.counted
            if column in cell.columns and (largest := cell.columns[column].max) is not None
        ]
    )


@dataclass(frozen=True)
class Curve:
    """One line: what it is called, and (number, spread) in increasing numbers."""

    name: str
    points: tuple[tuple[float, Range], ...]


def curves(
    spots: Sequence[Spot],
    lines: Callable[[Spot], Mapping[str, Range]],
    fewest: int = 3,
    without: Sequence[str] = (),
) -> dict[str, list[Curve]]:
    """By panel (the load, and what else is the same) the lines that have enough numbers. `lines`: of a spot each
    line's name and value; `without`: labels that the lines' names tell already."""
    found: dict[str, dict[str, list[tuple[float, Range]]]] = {}
    for spot in spots:
        load = numbered(spot.rest.get("load", ""))
        if load is None:
            continue
        more = title_of(spot.rest, spots, ("load", *without))
        panel = ", ".join(part for part in (load[0], more) if part)
        for name, value in lines(spot).items():
            found.setdefault(panel, {}).setdefault(name, []).append((load[1], value))
    kept: dict[str, list[Curve]] = {}
    for panel, by_name in found.items():
        some = [
            Curve(name, tuple(sorted(points, key=lambda p: p[0])))
            for name, points in by_name.items()
            if len({number for number, _ in points}) >= fewest
        ]
        if some:
            kept[panel] = some
    return kept


def scales(
    panels: Mapping[str, Sequence[Curve]], axes: Axes = OWN_AXES, times: str = "latency"
) -> tuple[Scale, Scale]:
    """Axes that all panels share, linear and from zero on, as the studies that have such figures draw them: half as
    late again is half as high again. `times`: which of the axes the times are on."""
    points = [point for some in panels.values() for curve in some for point in curve.points]
    last = max(number for number, _ in points)
    x = asked(from_zero(last, "count", 0.04), axes.get("number"))
    inside = [r.largest for number, r in points if x.low <= number <= x.high]
    return x, asked(from_zero(max(inside, default=1.0), "ns"), axes.get(times))


def keys_of(panels: Mapping[str, Sequence[Curve]]) -> dict[str, int]:
    """A place among the colours, dashes and markers for each line's name, the same in all panels."""
    return {name: i for i, name in enumerate(dict.fromkeys(c.name for some in panels.values() for c in some))}


def legend(places: Mapping[str, int]) -> tuple[Key, ...]:
    """None of more lines than can be told apart: the pointer names them."""
    if len(places) > LINES:
        return ()
    return tuple(Key(f"c{i + 1} dash{i + 1}", name, list(MARKERS)[i], i) for name, i in places.items())


def panel_of(
    title: str, some: Sequence[Curve], x: Scale, y: Scale, places: Mapping[str, int], what: str
) -> Panel:
    """Lines through the medians, a bar from the smallest to the largest at each number."""
    pieces = [_piece(curve, places[curve.name], x, y) for curve in some]
    worst = max(((c.name, n, r) for c in some for n, r in c.points), key=lambda row: row[2].largest)
    return Panel(
        label=title,
        picture=picture_of(pieces, x, y.ticks(7 if y.log else 5), WIDTH, 2.0 * HEIGHT),
        height=HEIGHT,
        summary=_("{some} lines, {title}. The largest {what} is {largest}, of {worst} at {worst2:g}.").format(
            some=len(some),
            title=title,
            what=what,
            largest=time_text(worst[2].largest),
            worst=worst[0],
            worst2=worst[1],
        ),
        data=exact_of(pieces),
        link="numbers",
    )


def _piece(curve: Curve, place: int, x: Scale, y: Scale) -> Piece:
    """A line with its bars and markers. `place`: among the colours, dashes and markers."""
    height = 2.0 * HEIGHT
    shown = place % LINES
    colour = f"c{shown + 1}"
    line = line_path([(x.at(n) * WIDTH, height * (1 - y.at(its.median))) for n, its in curve.points])
    marks = [el("path", {"class": f"line {colour} dash{shown + 1} s{place}", "d": line})]
    for number, its in curve.points:
        foot, top = (height * (1 - y.at(v)) for v in (its.smallest, its.largest))
        if foot - top > 0.5:
            bar = f"M{x.at(number) * WIDTH:.1f},{foot:.1f}V{top:.1f}"
            marks.append(el("path", {"class": f"range {colour}", "d": bar}))
    marker = list(MARKERS)[shown]
    return Piece(
        "".join(marks),
        [Note(x.at(n), y.at(its.median), "", marker, f"{colour} s{place}") for n, its in curve.points],
        {
            "name": curve.name,
            "key": colour,
            "names": [f"{n:g}" for n, _ in curve.points],
            "says": [_said(its) for _, its in curve.points],
            "per": 1000,
            "x": pack(round(n * 1000) for n, _ in curve.points),
            "y": pack(from_bottom(y.at(its.median)) for _, its in curve.points),
        },
    )


def _said(its: Range) -> str:
    if its.smallest == its.largest:
        return time_text(its.median)
    return _("{median} ({smallest} to {largest})").format(
        median=time_text(its.median), smallest=time_text(its.smallest), largest=time_text(its.largest)
    )
