"""Panels that are drawn line by line or row by row: the contribution of each, and the picture of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from howlate.figures.figure import Note, Picture
from howlate.figures.scale import Scale
from howlate.words.say import Text

TOP = 10_000
"""The upper edge of a picture in its exact numbers; the lower edge is 0."""


class Piece(Struct, frozen=True):
    """The contribution of a line or a row to its panel."""

    marks: str
    notes: Sequence[Note]
    series: Mapping[str, object]
    """The exact numbers for hovering (data.py)."""


def from_bottom(share: float) -> int:
    """A place between the edges, in the exact numbers' units."""
    return round(share * TOP)


def picture_of(
    pieces: Sequence[Piece], x: Scale, y_ticks: Sequence[tuple[float, Text]], width: float, height: float
) -> Picture:
    return Picture(
        x=x,
        y_ticks=y_ticks,
        marks="".join(piece.marks for piece in pieces),
        width=width,
        height=height,
        notes=[note for piece in pieces for note in piece.notes],
    )


def exact_of(
    pieces: Sequence[Piece], low: float = 0, high: float = TOP, *, log: bool = False
) -> dict[str, object]:
    """The exact numbers of all pieces, "points" of data.py. `low`, `high`, `log`: the axis of their y
    values."""
    return {
        "kind": "points",
        "y": {"low": low, "high": high, "log": log},
        "series": [piece.series for piece in pieces],
    }
