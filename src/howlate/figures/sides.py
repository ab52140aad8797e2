"""Shared code of charts over sides: the sides, the labels that distinguish the pictures, and lines against a
load's number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from howlate.figures.figure import Key, Note, Panel, Subject
from howlate.figures.frame import Piece, exact_of, from_bottom, picture_of
from howlate.figures.scale import OWN_AXES, Axes, Scale, from_zero, with_range
from howlate.figures.svg import MARKERS, el, line_path, pack
from howlate.model.study import numbered
from howlate.statistics.spread import Spread, spread_of
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Caption

WIDTH = 1000.0
HEIGHT = 260
UNMEASURED = "unmeasured"
"""The test that measures only how long a load's own runs take."""
LINES = 8
"""More lines in one picture cannot be told apart."""


class Spot(Struct, frozen=True):
    """A point on one side."""

    side: str
    rest: Mapping[str, str]
    """Its labels without the kernel."""
    subject: Subject


def spots_of(subjects: Sequence[Subject]) -> list[Spot]:
    spots = []
    for subject in subjects:
        group = subject.group
        if group is not None and group.counted:
            rest = {name: text for name, text in group.labels.items() if name != "kernel"}
            spots.append(Spot(group.labels.get("kernel", ""), rest, subject))
    return spots


def measured(spots: Sequence[Spot]) -> list[Spot]:
    return [spot for spot in spots if spot.subject.summary.test != UNMEASURED]


def sides_of(spots: Sequence[Spot]) -> list[str]:
    return list(dict.fromkeys(spot.side for spot in spots))


def titles_of(spots: Sequence[Spot], without: Sequence[str] = ()) -> Callable[[Mapping[str, str]], str]:
    """What names each of these spots by its labels that distinguish it from the others: "load none, period 1ms"; ""
    if there are none."""
    names = dict.fromkeys(name for spot in spots for name in spot.rest)
    vary = [n for n in names if n not in without and len({spot.rest.get(n) for spot in spots}) > 1]
    return lambda rest: ", ".join(f"{name} {rest[name]}" for name in vary if name in rest)


def columns_of(spot: Spot) -> list[str]:
    assert spot.subject.group is not None
    columns: dict[str, bool] = {}
    for cell in spot.subject.group.counted:
        for name, column in cell.columns.items():
            columns[name] = columns.get(name, False) or bool(column.max or column.min)
    return [name for name, says in columns.items() if says] or list(columns)[:1]


def maxima(spot: Spot, column: str) -> Spread | None:
    assert spot.subject.group is not None
    return spread_of(
        [
            largest
            for cell in spot.subject.group.counted
            if column in cell.columns and (largest := cell.columns[column].max) is not None
        ]
    )


class Curve(Struct, frozen=True):
    """One line: its name, and (number, spread) in increasing numbers."""

    name: Text
    points: tuple[tuple[float, Spread], ...]


def curves(
    spots: Sequence[Spot],
    lines: Callable[[Spot], Mapping[Text, Spread]],
    fewest: int = 3,
    without: Sequence[str] = (),
) -> dict[str, list[Curve]]:
    """By panel (the load, and the other constant labels), the lines that have enough numbers. `lines`: the
    name and value of each line of a spot; `without`: labels that the lines' names contain already."""
    panels: dict[str, dict[Text, list[tuple[float, Spread]]]] = {}
    title = titles_of(spots, ("load", *without))
    for spot in spots:
        load = numbered(spot.rest.get("load", ""))
        if load is None:
            continue
        more = title(spot.rest)
        panel = ", ".join(part for part in (load[0], more) if part)
        for name, value in lines(spot).items():
            panels.setdefault(panel, {}).setdefault(name, []).append((load[1], value))
    kept: dict[str, list[Curve]] = {}
    for panel, by_name in panels.items():
        drawn = [
            Curve(name, tuple(sorted(points, key=lambda p: p[0])))
            for name, points in by_name.items()
            if len({number for number, _ in points}) >= fewest
        ]
        if drawn:
            kept[panel] = drawn
    return kept


def scales(
    panels: Mapping[str, Sequence[Curve]], axes: Axes = OWN_AXES, times: str = "latency"
) -> tuple[Scale, Scale]:
    """Axes that all panels share, linear and from zero on (or from the smallest value, if that is below zero), as in
    the studies with such figures: half as late again is half as high again. `times`: which of the axes shows the
    times."""
    points = [point for drawn in panels.values() for curve in drawn for point in curve.points]
    last = max(number for number, _ in points)
    x = with_range(from_zero(last, "count", 0.04), axes.get("number"))
    inside = [r for number, r in points if x.low <= number <= x.high]
    largest = max((r.largest for r in inside), default=1.0)
    smallest = min((r.smallest for r in inside), default=0.0)
    return x, with_range(from_zero(largest, "ns", smallest=smallest), axes.get(times))


def keys_of(panels: Mapping[str, Sequence[Curve]]) -> dict[Text, int]:
    """A place among the colours, dashes and markers for each line's name, the same in all panels."""
    return {
        name: i for i, name in enumerate(dict.fromkeys(c.name for drawn in panels.values() for c in drawn))
    }


def legend(places: Mapping[Text, int]) -> tuple[Key, ...]:
    """No legend for more lines than can be told apart: the pointer names them."""
    if len(places) > LINES:
        return ()
    return tuple(Key(f"c{i + 1} dash{i + 1}", name, list(MARKERS)[i], i) for name, i in places.items())


def panel_of(
    title: str, drawn: Sequence[Curve], x: Scale, y: Scale, places: Mapping[Text, int], what: Text
) -> Panel:
    """Lines through the medians, a bar from the smallest to the largest at each number."""
    pieces = [_piece(curve, places[curve.name], x, y) for curve in drawn]
    worst = max(((c.name, n, r) for c in drawn for n, r in c.points), key=lambda row: row[2].largest)
    return Panel(
        label=title,
        picture=picture_of(pieces, x, y.ticks(7 if y.log else 5), WIDTH, 2.0 * HEIGHT),
        height=HEIGHT,
        summary=Caption(
            "{some} lines, {title}. The largest {what} is {largest}, of {worst} at {worst2:g}.",
            some=len(drawn),
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
    line = line_path([(x.at(n) * WIDTH, height * (1 - y.at(spread.median))) for n, spread in curve.points])
    marks = [el("path", {"class": f"line {colour} dash{shown + 1} s{place}", "d": line})]
    for number, spread in curve.points:
        foot, top = (height * (1 - y.at(v)) for v in (spread.smallest, spread.largest))
        if foot - top > 0.5:
            bar = f"M{x.at(number) * WIDTH:.1f},{foot:.1f}V{top:.1f}"
            marks.append(el("path", {"class": f"range {colour}", "d": bar}))
    marker = list(MARKERS)[shown]
    return Piece(
        "".join(marks),
        [Note(x.at(n), y.at(spread.median), "", marker, f"{colour} s{place}") for n, spread in curve.points],
        {
            "name": curve.name,
            "key": colour,
            "names": [f"{n:g}" for n, _ in curve.points],
            "says": [_range(spread) for _, spread in curve.points],
            "per": 1000,
            "x": pack(round(n * 1000) for n, _ in curve.points),
            "y": pack(from_bottom(y.at(spread.median)) for _, spread in curve.points),
        },
    )


def _range(spread: Spread) -> Text:
    if spread.smallest == spread.largest:
        return time_text(spread.median)
    return Caption(
        "{median} ({smallest} to {largest})",
        median=time_text(spread.median),
        smallest=time_text(spread.smallest),
        largest=time_text(spread.largest),
    )
