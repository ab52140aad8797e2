"""The line at a deadline that the user stated, in every picture of values to which the deadline applies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from howlate.figures.figure import Note, Panel, Subject
from howlate.figures.scale import time_tick
from howlate.figures.svg import el
from howlate.model.columns import LATENCY
from howlate.words.statement import Caption

LINE = 18
"""Of text, in pixels."""


def deadlines(subjects: Sequence[Subject]) -> list[int]:
    """The deadlines of the drawn values, each once: an axis has to reach them."""
    return sorted({ns for s in subjects if (ns := _deadline_of(s)) is not None})


def _deadline_of(subject: Subject) -> int | None:
    stated = subject.summary.deadline
    drawn = subject.bins.column if subject.bins is not None else LATENCY
    return stated.deadline_ns or None if stated is not None and drawn in subject.summary.judged else None


def with_upright(panel: Panel, subjects: Sequence[Subject], word_at: float = 0.9) -> Panel:
    """The panel, whose x axis has the values, with a line at each deadline. `word_at`: the label's share of
    the height."""
    picture = panel.picture
    places = [(at, ns) for ns in deadlines(subjects) if 0 <= (at := picture.x.at(ns)) <= 1]
    lines = [f"M{at * picture.width:.1f},0V{picture.height:g}" for at, _ns in places]
    return _with(panel, lines, [Note(at, word_at, _words(ns), classes="deadline") for at, ns in places])


def with_level(panel: Panel, subject: Subject, up: Callable[[float], float]) -> Panel:
    """The same for values on the y axis, its word on the side where none stands. `up`: the share of the height of a
    value."""
    picture = panel.picture
    left = [note.y for note in picture.notes if note.text and note.x < 0.4]
    places = [(up(ns), ns) for ns in deadlines([subject]) if up(ns) <= 1]
    lines = [f"M0,{(1 - at) * picture.height:.1f}H{picture.width:g}" for at, _ns in places]
    sides = [any(abs(at - y) * panel.height < LINE for y in left) for at, _ns in places]
    notes = [
        Note(1 if taken else 0.004, at, _words(ns), classes="deadline")
        for (at, ns), taken in zip(places, sides, strict=True)
    ]
    return _with(panel, lines, notes)


def _with(panel: Panel, lines: Sequence[str], notes: Sequence[Note]) -> Panel:
    if not lines:
        return panel
    marks = panel.picture.marks + "".join(el("path", {"class": "deadline", "d": line}) for line in lines)
    return replace(panel, picture=replace(panel.picture, marks=marks, notes=[*panel.picture.notes, *notes]))


def _words(ns: int) -> Caption:
    return Caption("deadline {time}", time=time_tick(ns))
