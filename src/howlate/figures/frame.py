"""The frame around every picture: grid, ticks with their units, direct labels, title and description; and panels that
are drawn line by line or row by row, each from a `Piece`.

The frame is an SVG without a viewBox, as wide as its place: text keeps its size on every screen. The picture
lies in a plane inside, stretched and clipped by its own viewBox, with strokes that do not scale. Zooming
changes that viewBox, the ticks and the places of the labels; no picture has to be redrawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from howlate.figures.figure import Note, Panel, Picture
from howlate.figures.scale import Scale
from howlate.figures.svg import MARKERS, el, percent, words
from howlate.words.say import Text

OWN = ("row", "deadline")
"""Classes of notes that also apply to the element around mark and label."""
TICKS_ABOUT = 8
"""Ticks of the x axis as the page is written; the script takes fewer on narrow screens."""


def frame(panel: Panel, ident: str) -> str:
    picture = panel.picture
    return el(
        "svg",
        {
            "class": "frame",
            "role": "group" if any(note.link for note in picture.notes) else "img",
            "aria-labelledby": f"{ident}-t {ident}-d",
            "width": "100%",
            "height": panel.height,
        },
        el("title", {"id": f"{ident}-t"}, words(panel.label)),
        el("desc", {"id": f"{ident}-d"}, words(panel.summary)),
        el("g", {"class": "y"}, *(_y_tick(share, text) for share, text in picture.y_ticks)),
        el(
            "g",
            {"class": "x"},
            *(_x_tick(i, share, text) for i, (share, text) in enumerate(picture.x.ticks(TICKS_ABOUT))),
        ),
        el(
            "svg",
            {
                "class": "plane",
                "width": "100%",
                "height": "100%",
                "viewBox": f"0 0 {picture.width:g} {picture.height:g}",
                "preserveAspectRatio": "none",
            },
            picture.marks,
        ),
        el("line", {"class": "base", "x1": "0", "x2": "100%", "y1": "100%", "y2": "100%"}),
        el("g", {"class": "notes"}, *(_note(note) for note in picture.notes)),
    )


def _y_tick(share: float, text: Text) -> str:
    y = percent(1 - share)
    line = el("line", {"x1": "0", "x2": "100%", "y1": y, "y2": y})
    return line + el("text", {"x": -8, "y": y, "dy": "0.35em"}, words(text)) if text else line


def _x_tick(i: int, share: float, text: Text) -> str:
    x = percent(share)
    second = {"class": "second"} if i % 2 else {}
    return el("line", {"x1": x, "x2": x, "y1": "0", "y2": "100%"}) + el(
        "text", {"x": x, "y": "100%", "dy": "1.4em", **second}, words(text)
    )


def _note(note: Note) -> str:
    inside: list[str] = []
    if note.marker:
        inside.append(
            el("path", {"class": f"marker {note.marker} {note.classes}", "d": MARKERS[note.marker]})
        )
    if note.text:
        left = note.x > 0.6
        middle = "mid" in note.classes.split()
        gap = 0 if not note.marker or middle else -9 if left else 9
        inside.append(
            el(
                "text",
                {"x": gap, "dy": "0.35em", "class": note.classes if middle else "left" if left else "right"},
                words(note.text),
            )
        )
    if note.link:
        named = {} if note.text else {"aria-label": words(note.says)}
        inside = [el("a", {"href": f"#{note.link}", **named}, *inside)]
    return el(
        "svg",
        {
            "class": f"note {note.classes}" if note.classes.partition(" ")[0] in OWN else "note",
            "x": percent(note.x),
            "y": percent(1 - note.y),
            "data-at": f"{note.x:.6f}",
            "overflow": "visible",
            **({"id": note.ident} if note.ident else {}),
        },
        *inside,
    )


TOP = 10_000
"""The upper edge of a picture in its exact numbers; the lower edge is 0."""


class Piece(Struct, frozen=True):
    """The contribution of a line or a row to its panel."""

    marks: str
    notes: Sequence[Note]
    series: Mapping[str, object]
    """The exact numbers for hovering (svg.py)."""


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
    """The exact numbers of all pieces, "points" of svg.py. `low`, `high`, `log`: the axis of their y
    values."""
    return {
        "kind": "points",
        "y": {"low": low, "high": high, "log": log},
        "series": [piece.series for piece in pieces],
    }
