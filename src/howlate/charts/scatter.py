"""Every value against its index: shows bands (values that come in steps), drift and periods. Counted on a grid, so
that a million points stay small; a cell of the grid is the more opaque the more values it holds. What it hides: the
order of values within a column of the grid, and which of several threads a value is of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from howlate.figures.deadline import with_level
from howlate.figures.figure import (
    Chart,
    Figure,
    Note,
    Panel,
    Picture,
    Subject,
    names_of,
    things_of,
    title_of_column,
)
from howlate.figures.png import COLOUR, png, thickened
from howlate.figures.scale import (
    OWN_AXES,
    Axes,
    AxisRange,
    Scale,
    linear_ticks,
    log_ticks,
    time_tick,
    with_range,
)
from howlate.figures.svg import el, pack
from howlate.model.bins import CellBins, Scatter
from howlate.words.quantities import grouped, time_text
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed

WIDTH, HEIGHT = 1000.0, 600.0
TALL, LOW = 300, 150
"""Pixels of a panel; of one among many panels."""
FEW_PANELS = 4
MOST = 12
"""More cells than this would crowd the page: then those with the largest values are drawn."""
FEWER = 4
BODY = 0.76
"""The share of the height that the values up to the knee have."""
FLAT = 0.12
"""The same share if all values are equal."""
FINE = 200
"""With more columns than this, each is hardly wider than a pixel."""
NEARLY = 1e-9
"""The edges of rows of equal ratio are rounded."""
APART = 0.075
"""Ticks that are closer than this would overlap."""


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    drawn = [
        (s, s.bins, s.bins.scatter) for s in subjects if s.bins is not None and s.bins.scatter is not None
    ]
    if not drawn:
        return None
    every = len(drawn)
    if every > MOST:
        largest = sorted(drawn, key=lambda row: -max(row[2].largest_ns))[:FEWER]
        drawn = [row for row in drawn if any(row is kept for kept in largest)]
    title, value, things = names_of(subjects)
    x = Scale(0.0, float(max(c.columns * c.per_column for _, _, c in drawn)), log=False, kind="count")
    axis = axes.get("latency")
    bent = axis is None and any(c.rows > c.linear for _, _, c in drawn)
    height = TALL if len(drawn) <= FEW_PANELS else LOW
    return Figure(
        name="scatter",
        title=Caption("One by one: {said}", said=value),
        reading=(
            Caption(
                "Every one of the {of}, in the order in which they came; overlapping marks are more opaque. "
                "Bands are values that come in steps. The panels share the "
                "index, each has an axis of its own for the values.",
                of=things,
            ),
            Caption(
                "Up to the dashed line, where 99 % of the values are, that axis is linear, above it logarithmic "
                "up to the largest."
            )
            if bent
            else "",
            Caption(
                "Of {every} cells the {drawn} with the largest values are drawn.",
                every=every,
                drawn=len(drawn),
            )
            if every > len(drawn)
            else "",
        ),
        x_title=Caption("Index"),
        y_title=title,
        panels=tuple(
            with_level(_panel(s, b, c, x, height), s, partial(_within, c))
            if axis is None
            else with_level(_unbent(s, b, c, x, axis, height), s, own_scale([c], axis).at)
            for s, b, c in drawn
        ),
    )


def up(scatter: Scatter, value: float) -> float:
    """The share of the height at which a value lies."""
    body = _body(scatter)
    if value <= scatter.knee_ns:
        return body * (value - scatter.low_ns + 0.5) / (scatter.knee_ns - scatter.low_ns + 1)
    start = max(scatter.knee_ns, 1)
    return body + (1 - body) * 0.94 * math.log(max(value, start) / start) / math.log(scatter.high_ns / start)


def _within(scatter: Scatter, value: float) -> float:
    """Like `up`, but without limits: this axis ends at the cell's own values."""
    return up(scatter, value) if scatter.low_ns <= value <= scatter.high_ns else 2.0


def _body(scatter: Scatter) -> float:
    if scatter.rows == scatter.linear:
        return 0.94  # a little room for the label of the largest
    return FLAT if scatter.linear == 1 else BODY


def _panel(subject: Subject, bins: CellBins, scatter: Scatter, x: Scale, height: int) -> Panel:
    body = _body(scatter)
    marks = [_image(scatter, x, 0, scatter.linear, 0.0, body)]
    if scatter.rows > scatter.linear:
        marks.append(_image(scatter, x, scatter.linear, scatter.rows, body, body + (1 - body) * 0.94))
        at = HEIGHT * (1 - body)
        marks.append(el("path", {"class": "knee", "d": f"M0,{at:.1f}H{WIDTH:g}"}))
    largest = max(scatter.largest_ns)
    where = scatter.at[scatter.largest_ns.index(largest)]
    middle = (where + 0.5) * scatter.per_column
    total = sum(scatter.counts)
    of = things_of(bins.column, total)
    return Panel(
        label=subject.label,
        aside=Listed((grouped(total), of), " "),
        picture=Picture(
            x=x,
            y_ticks=ticks(scatter),
            marks="".join(marks),
            width=WIDTH,
            height=HEIGHT,
            notes=(
                Note(
                    x.at(middle),
                    up(scatter, largest),
                    Caption("max {largest}", largest=time_text(largest)),
                    "circle",
                    "c-max",
                ),
            ),
        ),
        height=height,
        summary=Caption(
            "{column} against its index: {total} {of} from {time_text} to {largest}; 99 % are "
            "within {knee_ns}.",
            column=title_of_column(bins.column),
            total=total,
            of=of,
            time_text=time_text(min(scatter.smallest_ns)),
            largest=time_text(largest),
            knee_ns=time_text(scatter.knee_ns),
        ),
        data=exact_of(scatter, things_of(bins.column)),
        link=f"index {subject.summary.id}",
    )


def own_scale(scatters: Sequence[Scatter], axis: AxisRange | None) -> Scale:
    """The whole range of the values on one linear axis, unless the user sets another."""
    low, high = min(c.low_ns for c in scatters), max(c.high_ns for c in scatters)
    room = (high - low) * 0.06 or abs(high) * 0.05 or 1.0
    return with_range(
        Scale(max(0.0, low - room) if low >= 0 else low - room, high + room, log=False, kind="ns"), axis
    )


def cells_on(scatter: Scatter, y: Scale, rows: int) -> tuple[dict[tuple[int, int], int], int]:
    """The grid's values on rows of another axis, and how many lie outside it. The smallest and the largest of
    each column are at their exact places, the others in the middle of their row of the grid."""
    ends = {c: (s, v) for c, s, v in zip(scatter.at, scatter.smallest_ns, scatter.largest_ns, strict=True)}
    found: dict[tuple[int, int], int] = {}
    outside = 0
    for cell, count in zip(scatter.cells, scatter.counts, strict=True):
        column, row = divmod(cell, scatter.rows)
        low, high = _row_ends(scatter, row)
        smallest, largest = ends[column]
        value = (
            largest
            if largest <= high + abs(high) * NEARLY
            else smallest
            if smallest >= low - abs(low) * NEARLY
            else (low + high) / 2
        )
        place = y.at(value)
        if 0 <= place <= 1:
            where = (column, min(rows - 1, int(place * rows)))
            found[where] = found.get(where, 0) + count
        else:
            outside += count
    return found, outside


def _row_ends(scatter: Scatter, row: int) -> tuple[float, float]:
    if row < scatter.linear:
        step = (scatter.knee_ns - scatter.low_ns + 1) / scatter.linear
        return scatter.low_ns + row * step, scatter.low_ns + (row + 1) * step
    start, many = max(scatter.knee_ns, 1), scatter.rows - scatter.linear
    ratio = (scatter.high_ns / start) ** (1 / many)
    return start * ratio ** (row - scatter.linear), start * ratio ** (row - scatter.linear + 1)


def image_on(
    scatter: Scatter, x: Scale, y: Scale, height: int, colour: tuple[int, int, int] = COLOUR
) -> tuple[str, int]:
    """The values on an axis without a bend, and how many lie outside it."""
    rows = height // 2
    cells, outside = cells_on(scatter, y, rows)
    thick = thickened(scatter.columns, rows, cells, int(scatter.columns > FINE), 1)
    href = png(scatter.columns, rows, thick, max(cells.values(), default=1), colour)
    wide = x.at(scatter.columns * scatter.per_column) * WIDTH
    place = {"x": "0", "y": "0", "width": f"{wide:.2f}", "height": f"{HEIGHT:g}"}
    return el("image", {"class": "grid", "href": href, **place, "preserveAspectRatio": "none"}), outside


def _unbent(
    subject: Subject, bins: CellBins, scatter: Scatter, x: Scale, axis: AxisRange, height: int
) -> Panel:
    y = own_scale([scatter], axis)
    marks, outside = image_on(scatter, x, y, height)
    largest, total = max(scatter.largest_ns), sum(scatter.counts)
    where = (scatter.at[scatter.largest_ns.index(largest)] + 0.5) * scatter.per_column
    of = things_of(bins.column, total)
    low, high = time_text(y.low), time_text(y.high)
    beyond = Caption("{count} outside of {low} to {high}", count=grouped(outside), low=low, high=high)
    counts = Listed((Caption("{total} {of}", total=grouped(total), of=of), beyond if outside else ""), "; ")
    word = Caption("max {largest}", largest=time_text(largest))
    note = Note(x.at(where), min(1.0, y.at(largest)), word, "circle", "c-max")
    return Panel(
        label=subject.label,
        aside=counts,
        picture=Picture(x, y.ticks(5), marks, WIDTH, HEIGHT, (note,)),
        height=height,
        summary=Caption(
            "{column} against its index: {said}, {largest} the largest.",
            column=title_of_column(bins.column),
            said=counts,
            largest=time_text(largest),
        ),
        data=exact_of(scatter, things_of(bins.column)),
        link=f"index {subject.summary.id}",
    )


def exact_of(scatter: Scatter, things: Text) -> dict[str, object]:
    """The exact numbers for hovering. `things`: what the counts of a column of the grid count."""
    return {
        "kind": "intervals",
        "base": 0,
        "unit": scatter.per_column,
        "low": len(scatter.at) if scatter.at[-1] == len(scatter.at) - 1 else pack(scatter.at),
        "size": 1,
        "series": [
            {"name": Caption("largest"), "kind": "ns", "key": "c-max", "values": pack(scatter.largest_ns)},
            {"name": Caption("smallest"), "kind": "ns", "values": pack(scatter.smallest_ns)},
            {"name": things, "kind": "count", "values": pack(_counts(scatter))},
        ],
    }


def _image(scatter: Scatter, x: Scale, first: int, behind: int, foot: float, top: float) -> str:
    """The rows from `first` up to, but excluding, `behind`, between two shares of the height."""
    counts = {
        (cell // scatter.rows, cell % scatter.rows - first): count
        for cell, count in zip(scatter.cells, scatter.counts, strict=True)
        if first <= cell % scatter.rows < behind
    }
    rows, high = behind - first, (top - foot) * TALL
    thick = thickened(scatter.columns, rows, counts, int(scatter.columns > FINE), int(high < 3 * rows))
    return el(
        "image",
        {
            "class": "grid",
            "href": png(scatter.columns, behind - first, thick, max(scatter.counts)),
            "x": "0",
            "y": f"{HEIGHT * (1 - top):.1f}",
            "width": f"{x.at(scatter.columns * scatter.per_column) * WIDTH:.2f}",
            "height": f"{HEIGHT * (top - foot):.1f}",
            "preserveAspectRatio": "none",
        },
    )


def ticks(scatter: Scatter) -> list[tuple[float, str]]:
    """Places (shares of the height) and texts: of the linear rows first, then of those above."""
    low, knee, high = scatter.low_ns, scatter.knee_ns, scatter.high_ns
    wanted: list[float] = [low] if knee == low else [v for v in linear_ticks(low, knee, 4) if v <= knee]
    if scatter.rows > scatter.linear:
        wanted += [v for v in log_ticks(max(knee, 1), high, 3) if v > knee]
    kept: list[tuple[float, str]] = []
    for value in wanted:
        place = up(scatter, value)
        if all(abs(place - other) >= APART for other, _ in kept):
            kept.append((place, time_tick(value)))
    return kept


def _counts(scatter: Scatter) -> list[int]:
    found = dict.fromkeys(scatter.at, 0)
    for cell, count in zip(scatter.cells, scatter.counts, strict=True):
        found[cell // scatter.rows] += count
    return list(found.values())


CHART = Chart("scatter", 25, draw, "worst", every=True, axes=("latency",), folded=True)
