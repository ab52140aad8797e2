"""Panels that are drawn line by line or row by row: what one of them adds, and the picture of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from howlate.charts._figure import Note, Picture
from howlate.charts._scale import Scale

TOP = 10_000
"""Where the upper edge of a picture stands in its exact numbers; the lower edge stands at 0."""


@dataclass(frozen=True)
class Piece:
    """What a line or a row adds to its panel."""

    marks: str
    notes: Sequence[Note]
    series: Mapping[str, object]
    """The exact numbers that hover reads (_data.py)."""


def from_bottom(share: float) -> int:
    """A place between the edges, as the exact numbers have it."""
    return round(share * TOP)


def picture_of(
    pieces: Sequence[Piece], x: Scale, y_ticks: Sequence[tuple[float, str]], width: float, height: float
) -> Picture:
    """All pieces, one upon the other."""
    return Picture(
        x=x,
        y_ticks=y_ticks,
        marks="".join(piece.marks for piece in pieces),
        width=width,
        height=height,
        notes=[note for piece in pieces for note in piece.notes],
    )


def exact_of(
    pieces: Sequence[Piece], low: float = 0, high: float = TOP, log: bool = False
) -> dict[str, object]:
    """The exact numbers of all pieces, "points" of _data.py. `low`, `high`, `log`: the axis that their y are on."""
    return {
        "kind": "points",
        "y": {"low": low, "high": high, "log": log},
        "series": [piece.series for piece in pieces],
    }
