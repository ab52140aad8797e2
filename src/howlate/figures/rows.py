"""Rows of dots on a line, one below the other, over one axis: the cells at a glance, the spread over repetitions."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from howlate.figures.figure import Note
from howlate.figures.frame import Piece, from_bottom
from howlate.figures.scale import Scale
from howlate.figures.svg import el, pack
from howlate.words.say import Text

WIDTH = 1000.0
ROW = 46
"""The row's share of the picture's height, with the name at 12 and the dots at 32 from above."""


class Dot(Struct, frozen=True):
    """A value on a row."""

    name: Text
    value: float
    marker: str
    classes: str


class DotRow(Struct, frozen=True):
    """The row's name, its dots, and their line."""

    name: Text
    dots: Sequence[Dot]
    line: str
    """The line's classes."""
    low: float
    """The start of the line, in units of the picture."""
    high: float
    heading: Text = ""
    """The text above it; its name if that is all."""
    end: Text = ""
    """The text at the right end of the line above it."""
    ruling: str = ""
    """The class of that text."""


def above(rows: int) -> float:
    """The share of the height just above the first row: between the rows a word would cover a mark or an end."""
    return 1 + 6 / (ROW * rows)


def pieces_of(rows: Sequence[DotRow], x: Scale) -> list[Piece]:
    """The rows from above, in a picture of `ROW` for each."""
    return [_piece(row, ROW * i, ROW * len(rows), x) for i, row in enumerate(rows)]


def _piece(row: DotRow, above: int, height: int, x: Scale) -> Piece:
    y = 1 - (above + 32) / height
    line = f"M{row.low:.1f},{height * (1 - y):g}H{row.high:.1f}"
    return Piece(
        el("path", {"class": row.line, "d": line}),
        [
            Note(0, 1 - (above + 12) / height, row.heading or row.name, "", "row"),
            *(Note(x.at(d.value), y, "", d.marker, d.classes) for d in row.dots),
            *([Note(1, 1 - (above + 12) / height, row.end, "", f"row {row.ruling}")] if row.end else []),
        ],
        {
            "name": row.name,
            "names": [d.name for d in row.dots],
            "x": pack(round(d.value) for d in row.dots),
            "y": pack([from_bottom(y)] * len(row.dots)),
        },
    )
