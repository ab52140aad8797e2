"""The whole matrix as a heat map: a row a side, a column a point (where one side was measured: an axis each), the
median of the maxima as colour and number, and the verdict as a mark where a deadline was stated. What it hides:
everything but the maximum, and the spread over the repetitions (the pointer tells it)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from howlate.figures.figure import Chart, Figure, Key, Note, Panel, Subject, title_of_column
from howlate.figures.frame import Piece, exact_of, from_bottom, picture_of
from howlate.figures.scale import Scale, knee_of
from howlate.figures.sides import Spot, columns_of, maxima, measured, sides_of, spots_of, titles_of
from howlate.figures.svg import el, pack
from howlate.statistics.spread import Spread
from howlate.verdict.ruling import Ruling
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed

CELL = 30
MOST = 12
"""Columns in one panel; further columns continue below."""
FAINTEST, STRONGEST = 0.06, 0.75

MARKS = {Ruling.PASS: "circle", Ruling.FAIL: "cross", Ruling.INCONCLUSIVE: "diamond"}
"""The verdict's mark; shapes differ, so that a print in black and white tells them apart."""
MEANINGS = {
    Ruling.PASS: Caption("PASS: keeps the deadline"),
    Ruling.FAIL: Caption("FAIL: misses the deadline"),
    Ruling.INCONCLUSIVE: Caption("INCONCLUSIVE: not decided"),
}


class MatrixCell(Struct, frozen=True):
    maxima: Spread
    ruling: str
    """The verdict on the deadline; "" if none was stated, or it applies to another column."""


Entry = tuple[str, Text, MatrixCell]
"""Side, point, and what was measured there."""


class MatrixRow(Struct, frozen=True):
    """The place of row `row` of `of`: its name above, its values below."""

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
        """The top of the values, in units of the plane."""
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
        for panel in _panels(name, rows, _across(rows, sides_of(spots)), several=len(names) > 1)
    ]
    return Figure(
        name="matrix",
        title=Caption("Every point at once"),
        reading=Caption(
            "The number is the median of the maxima over the repetitions (one where nothing is "
            "repeated); the stronger the colour, the larger, on a logarithmic scale. An empty "
            "place was not measured, or has no valid repetition."
        ),
        x_title="",
        y_title="",
        panels=tuple(panels),
        keys=_keys([cell.ruling for rows in entries.values() for _, _, cell in rows]),
    )


def _keys(rulings: Sequence[str]) -> tuple[Key, ...]:
    return tuple(Key("verdict", MEANINGS[each], mark) for each, mark in MARKS.items() if each in rulings)


def _entries(spots: Sequence[Spot], column: str) -> list[Entry]:
    held = [
        (spot, MatrixCell(spread, spot.subject.ruling if column in spot.subject.summary.judged else ""))
        for spot in spots
        if (spread := maxima(spot, column)) is not None
    ]
    those = [spot for spot, _ in held]
    if len({spot.side for spot in those}) == 1:
        axes = [name for name in those[0].rest if len({spot.rest.get(name) for spot in those}) > 1]
        return (
            [(s.rest.get(axes[0], "-"), s.rest.get(axes[1], "-"), cell) for s, cell in held]
            if len(axes) == 2
            else []
        )
    title = titles_of(those)
    return [(spot.side, title(spot.rest) or Caption("every point"), cell) for spot, cell in held]


def _is_matrix(rows: Sequence[Entry]) -> bool:
    """True for several rows and several columns: a single line of places says no more than the table."""
    return min(len({side for side, _, _ in rows}), len({point for _, point, _ in rows})) > 1


def _across(rows: Sequence[Entry], sides: Sequence[str]) -> list[str]:
    measured = list(dict.fromkeys(side for side, _, _ in rows))
    return [side for side in sides if side in measured] or measured


def _panels(column: str, rows: Sequence[Entry], sides: Sequence[str], *, several: bool) -> list[Panel]:
    points = list(dict.fromkeys(point for _, point, _ in rows))
    low = min(cell.maxima.median for _, _, cell in rows)
    high = max(cell.maxima.median for _, _, cell in rows)
    shade = shade_of(low, high)
    held: dict[tuple[Text, Text], MatrixCell] = {(side, point): cell for side, point, cell in rows}
    # Sides are few and points are many: the longer list goes downwards.
    down, across = (list(points), list(sides)) if len(points) > len(sides) else (list(sides), list(points))
    turned = len(points) > len(sides)
    panels = []
    for begin in range(0, len(across), MOST):
        shown = across[begin : begin + MOST]
        grid = [(r, c, held.get((c, r) if turned else (r, c))) for r in down for c in shown]
        panels.append(_panel(column, down, shown, grid, shade, several=several))
    return panels


def shade_of(low: float, high: float) -> Scale:
    """Logarithmic, with the smallest median at its beginning and the largest at its end."""
    high = max(high, low + max(1.0, abs(low) * 0.001))
    return Scale(low, high, log=True, kind="ns", knee=knee_of(low, high))


def _panel(
    column: str,
    down: Sequence[Text],
    across: Sequence[Text],
    grid: Sequence[tuple[Text, Text, MatrixCell | None]],
    shade: Scale,
    *,
    several: bool,
) -> Panel:
    x = Scale(0.0, float(len(across)), log=False, kind="names", names=tuple(across))
    held = [(row, name, cell) for row, name, cell in grid if cell is not None]
    at = {name: i for i, name in reversed([*enumerate(across)])}
    rows: dict[Text, list[tuple[int, MatrixCell]]] = {}
    for row, name, cell in held:
        rows.setdefault(row, []).append((at[name], cell))
    pieces = [
        _row(
            row,
            MatrixRow(i, len(down)),
            rows.get(row, []),
            x,
            shade,
        )
        for i, row in enumerate(down)
    ]
    worst = max(held, key=lambda entry: entry[2].maxima.largest, default=None)
    largest = (
        Caption(
            "The largest maximum is {largest}, at {worst}, {worst2}.",
            largest=time_text(worst[2].maxima.largest),
            worst=worst[0],
            worst2=worst[1],
        )
        if worst is not None
        else Caption("Nothing was measured here.")
    )
    height = CELL * 2 * len(down)
    return Panel(
        label=title_of_column(column) if several else Caption("Largest latency"),
        picture=picture_of(pieces, x, (), float(len(across)), float(height)),
        height=height,
        summary=(
            Caption(
                "{down} rows and {across} columns. {said}", down=len(down), across=len(across), said=largest
            ),
            *_verdicts([cell.ruling for *_, cell in held]),
        ),
        data=exact_of(pieces),
        link=f"matrix {column}",
    )


def _verdicts(rulings: Sequence[str]) -> Iterator[Caption]:
    counts = [f"{rulings.count(ruling)} {ruling}" for ruling in MARKS if ruling in rulings]
    if counts:
        yield Caption("Verdicts on the deadline: {counts}.", counts=", ".join(counts))


def _row(
    name: Text, place: MatrixRow, here: Sequence[tuple[int, MatrixCell]], x: Scale, shade: Scale
) -> Piece:
    """Its name, and below that the places that were measured, each with its column."""
    return Piece(
        "".join(_heat(at, place.top, shade.at(cell.maxima.median), cell.ruling) for at, cell in here),
        [
            Note(0, place.name, name, "", "row"),
            *(
                Note(
                    x.at(at + (0.56 if cell.ruling else 0.5)),
                    place.values,
                    time_text(cell.maxima.median),
                    "",
                    "mid",
                )
                for at, cell in here
            ),
            *(
                Note(x.at(at + 0.09), place.values, "", MARKS[Ruling(cell.ruling)], "verdict")
                for at, cell in here
                if cell.ruling
            ),
        ],
        {
            "name": name,
            "names": [x.names[at] for at, _ in here],
            "says": [Listed((_range(cell.maxima), cell.ruling)) for _at, cell in here],
            "per": 1000,
            "x": pack(round((at + 0.5) * 1000) for at, _ in here),
            "y": pack([from_bottom(place.values)] * len(here)),
        },
    )


def _range(maxima: Spread) -> Caption:
    smallest, largest = time_text(maxima.smallest), time_text(maxima.largest)
    return Caption("{smallest} to {largest}", smallest=smallest, largest=largest)


def _heat(column: int, top: int, share: float, ruling: str) -> str:
    """A place's colour, with an outline if it breaks the deadline. `share`: of the scale, clamped to it."""
    strength = FAINTEST + (STRONGEST - FAINTEST) * min(1.0, max(0.0, share))
    return el(
        "rect",
        {
            "class": "heat fails" if ruling == Ruling.FAIL else "heat",
            "x": column + 0.03,
            "y": top,
            "width": 0.94,
            "height": CELL - 2,
            "fill-opacity": strength,
        },
    )


CHART = Chart("matrix", 4, draw, "sides")
