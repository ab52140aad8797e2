"""The whole matrix as a heat map: a row a side, a column a point (where one side was measured: an axis each), the
median of the maxima as colour and number. What it hides: everything but the maximum, and the spread over the
repetitions (the pointer tells it)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from howlate.charts._data import pack
from howlate.charts._figure import Chart, Figure, Note, Panel, Subject
from howlate.charts._pieces import Piece, exact_of, from_bottom, picture_of
from howlate.charts._scale import Scale
from howlate.charts._sides import Spot, columns_of, maxima, measured, sides_of, spots_of, title_of
from howlate.charts._svg import el
from howlate.charts._words import time_text, title_of_column
from howlate.language import _
from howlate.stats.sides import Range

CELL = 30
MOST = 12
"""So many columns in one panel; more go on below."""
FAINTEST, STRONGEST = 0.06, 0.75

Entry = tuple[str, str, Range]
"""Side, point, maxima."""


@dataclass(frozen=True)
class Place:
    """Where the row number `row` of `of` stands: its name above, its values below."""

    row: int
    of: int

    @property
    def name(self) -> float:
        """As a share of the height, from the bottom."""
        return 1 - (2 * self.row + 0.55) / (2 * self.of)

    @property
    def values(self) -> float:
        """Likewise."""
        return 1 - (2 * self.row + 1.5) / (2 * self.of)

    @property
    def top(self) -> int:
        """Of the values, in units of the plane, from the top."""
        return CELL * (2 * self.row + 1)


def draw(subjects: Sequence[Subject]) -> Figure | None:
    spots = measured(spots_of(subjects))
    names = list(dict.fromkeys(name for spot in spots for name in columns_of(spot)))
    entries = {name: _entries(spots, name) for name in names}
    entries = {name: rows for name, rows in entries.items() if _is_matrix(rows)}
    if not entries:
        return None
    panels = [
        panel
        for name, rows in entries.items()
        for panel in _panels(name, rows, _across(rows, sides_of(spots)), len(names) > 1)
    ]
    return Figure(
        name="matrix",
        title=_("Every point at once"),
        reading=_(
            "The number is the median of the maxima over the repetitions (one where nothing is "
            "repeated); the stronger the colour, the larger, on a logarithmic scale. An empty "
            "place was not measured, or has no valid repetition."
        ),
        x_title="",
        y_title="",
        panels=tuple(panels),
    )


def _entries(spots: Sequence[Spot], column: str) -> list[Entry]:
    held = [(spot, its) for spot in spots if (its := maxima(spot, column)) is not None]
    those = [spot for spot, _ in held]
    if len({spot.side for spot in those}) == 1:
        axes = [name for name in those[0].rest if len({spot.rest.get(name) for spot in those}) > 1]
        return (
            [(s.rest.get(axes[0], "-"), s.rest.get(axes[1], "-"), its) for s, its in held]
            if len(axes) == 2
            else []
        )
    return [(spot.side, title_of(spot.rest, those) or _("every point"), its) for spot, its in held]


def _is_matrix(rows: Sequence[Entry]) -> bool:
    """Several rows and several columns: a single line of places says no more than the table."""
    return min(len({side for side, _, _ in rows}), len({point for _, point, _ in rows})) > 1


def _across(rows: Sequence[Entry], sides: Sequence[str]) -> list[str]:
    """The sides in their order; of one side alone the values of the first axis."""
    found = list(dict.fromkeys(side for side, _, _ in rows))
    return [side for side in sides if side in found] or found


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
    held = [(row, name, its) for row, name, its in grid if its is not None]
    pieces = [
        _row(
            row,
            Place(i, len(down)),
            [(across.index(name), its) for r, name, its in held if r == row],
            x,
            shade,
        )
        for i, row in enumerate(down)
    ]
    worst = max(held, key=lambda entry: entry[2].largest, default=None)
    said = (
        _("The largest maximum is {largest}, at {worst}, {worst2}.").format(
            largest=time_text(worst[2].largest), worst=worst[0], worst2=worst[1]
        )
        if worst is not None
        else _("Nothing was measured here.")
    )
    height = CELL * 2 * len(down)
    return Panel(
        label=title_of_column(column) if several else _("Largest latency"),
        picture=picture_of(pieces, x, (), float(len(across)), float(height)),
        height=height,
        summary=_("{down} rows and {across} columns. {said}").format(
            down=len(down), across=len(across), said=said
        ),
        data=exact_of(pieces),
        link=f"matrix {column}",
    )


def _row(name: str, place: Place, here: Sequence[tuple[int, Range]], x: Scale, shade: Scale) -> Piece:
    """Its name, and below that the places that were measured. `here`: each one's column and maxima."""
    return Piece(
        "".join(_heat(at, place.top, shade.at(its.median)) for at, its in here),
        [
            Note(0, place.name, name, "", "row"),
            *(Note(x.at(at + 0.5), place.values, time_text(its.median), "", "mid") for at, its in here),
        ],
        {
            "name": name,
            "names": [x.names[at] for at, _ in here],
            "says": [
                _("{smallest} to {largest}").format(
                    smallest=time_text(its.smallest), largest=time_text(its.largest)
                )
                for _at, its in here
            ],
            "per": 1000,
            "x": pack(round((at + 0.5) * 1000) for at, _ in here),
            "y": pack([from_bottom(place.values)] * len(here)),
        },
    )


def _heat(column: int, top: int, share: float) -> str:
    """A place's colour. `share`: of the scale, kept within it."""
    strength = FAINTEST + (STRONGEST - FAINTEST) * min(1.0, max(0.0, share))
    return el(
        "rect",
        {
            "class": "heat",
            "x": column + 0.03,
            "y": top,
            "width": 0.94,
            "height": CELL - 2,
            "fill-opacity": strength,
        },
    )


CHART = Chart("matrix", 4, draw, "sides")
