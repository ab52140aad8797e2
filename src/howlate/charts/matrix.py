"""The whole matrix as a heat map: a row a side, a column a point, the median of the maxima as colour and number. What
it hides: everything but the maximum, and the spread over the repetitions (the pointer tells it)."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._data import pack
from howlate.charts._figure import Chart, Figure, Note, Panel, Picture, Subject
from howlate.charts._scale import Scale
from howlate.charts._sides import Spot, columns_of, maxima, measured, sides_of, spots_of, title_of
from howlate.charts._svg import el
from howlate.charts._words import time_text
from howlate.model.columns import column_title
from howlate.stats.sides import Range

CELL = 30
MOST = 12
"""So many columns in one panel; more go on below."""
FAINTEST, STRONGEST = 0.06, 0.75

Entry = tuple[str, str, Range]
"""Side, point, maxima."""


def draw(subjects: Sequence[Subject]) -> Figure | None:
    spots = measured(spots_of(subjects))
    names = list(dict.fromkeys(name for spot in spots for name in columns_of(spot)))
    entries = {name: _entries(spots, name) for name in names}
    if not any(len(rows) > 3 for rows in entries.values()):
        return None
    panels = [
        panel
        for name, rows in entries.items()
        for panel in _panels(name, rows, sides_of(spots), len(names) > 1)
    ]
    return Figure(
        name="matrix",
        title="Every point at once",
        reading="The number is the median of the maxima over the repetitions (one where nothing is repeated); the "
        "stronger the colour, the larger, on a logarithmic scale. An empty place was not measured, or has no valid "
        "repetition.",
        x_title="",
        y_title="",
        panels=tuple(panels),
    )


def _entries(spots: Sequence[Spot], column: str) -> list[Entry]:
    held = [(spot, its) for spot in spots if (its := maxima(spot, column)) is not None]
    those = [spot for spot, _ in held]
    return [(spot.side, title_of(spot.rest, those) or "every point", its) for spot, its in held]


def _panels(column: str, rows: Sequence[Entry], sides: Sequence[str], several: bool) -> list[Panel]:
    points = list(dict.fromkeys(point for _, point, _ in rows))
    low = min(its.median for _, _, its in rows)
    high = max(its.median for _, _, its in rows)
    shade = Scale(max(1.0, low), max(low * 1.001, high, 2.0), True, "ns")
    held = {(side, point): its for side, point, its in rows}
    # Sides are as few as points are many: the longer list goes downwards.
    down, across = (list(points), list(sides)) if len(points) > len(sides) else (list(sides), list(points))
    turned = len(points) > len(sides)
    panels = []
    for begin in range(0, len(across), MOST):
        some = across[begin : begin + MOST]
        grid = [(r, c, held.get((c, r) if turned else (r, c))) for r in down for c in some]
        panels.append(_panel(column, down, some, grid, shade, several))
    return panels


def _panel(
    column: str,
    down: Sequence[str],
    across: Sequence[str],
    grid: Sequence[tuple[str, str, Range | None]],
    shade: Scale,
    several: bool,
) -> Panel:
    x = Scale(0.0, float(len(across)), False, "names", tuple(across))
    height = float(CELL * 2 * len(down))
    marks: list[str] = []
    notes: list[Note] = []
    series: list[dict[str, object]] = []
    for i, row in enumerate(down):
        notes.append(Note(0, 1 - (2 * i + 0.55) / (2 * len(down)), row, "", "row"))
        here = [(across.index(c), its) for r, c, its in grid if r == row and its is not None]
        for at, its in here:
            share = min(1.0, max(0.0, shade.at(its.median)))
            marks.append(
                el(
                    "rect",
                    {
                        "class": "heat",
                        "x": at + 0.03,
                        "y": CELL * (2 * i + 1),
                        "width": 0.94,
                        "height": CELL - 2,
                        "fill-opacity": FAINTEST + (STRONGEST - FAINTEST) * share,
                    },
                )
            )
            place = 1 - (2 * i + 1.5) / (2 * len(down))
            notes.append(Note(x.at(at + 0.5), place, time_text(its.median), "", "mid"))
        series.append(
            {
                "name": row,
                "names": [across[at] for at, _ in here],
                "says": [f"{time_text(r.smallest)} to {time_text(r.largest)}" for _, r in here],
                "per": 1000,
                "x": pack(round((at + 0.5) * 1000) for at, _ in here),
                "y": pack([round((1 - (2 * i + 1.5) / (2 * len(down))) * 10000)] * len(here)),
            }
        )
    worst = max(
        ((r, c, its) for r, c, its in grid if its is not None), key=lambda e: e[2].largest, default=None
    )
    said = (
        f"The largest maximum is {time_text(worst[2].largest)}, at {worst[0]}, {worst[1]}."
        if worst is not None
        else "Nothing was measured here."
    )
    return Panel(
        label=column_title(column) if several else "Largest latency",
        picture=Picture(
            x=x, y_ticks=(), marks="".join(marks), width=float(len(across)), height=height, notes=notes
        ),
        height=CELL * 2 * len(down),
        summary=f"{len(down)} rows and {len(across)} columns. {said}",
        data={"kind": "points", "y": {"low": 0, "high": 10000, "log": False}, "series": series},
        link=f"matrix {column}",
    )


CHART = Chart("matrix", 4, draw, "sides")
