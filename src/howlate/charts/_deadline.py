"""The line at a deadline that the user stated, in every picture of what the deadline is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from howlate.charts._figure import Note, Panel, Subject
from howlate.charts._scale import time_tick
from howlate.charts._svg import el
from howlate.language import _
from howlate.model.columns import LATENCY, RESPONSE


def deadlines(subjects: Sequence[Subject]) -> list[int]:
    """Those that the drawn values are held against, each once: an axis has to reach them."""
    return sorted({its for s in subjects if (its := _deadline_of(s)) is not None})


def _deadline_of(subject: Subject) -> int | None:
    """None where there is none. Where the task works the response time is held against it, not the latency."""
    its = subject.summary.deadline
    judged = RESPONSE if RESPONSE in subject.summary.columns else LATENCY
    drawn = subject.bins.column if subject.bins is not None else LATENCY
    return its.deadline_ns if its is not None and its.deadline_ns and drawn == judged else None


def with_upright(panel: Panel, subjects: Sequence[Subject], word_at: float = 0.9) -> Panel:
    """The panel, whose x axis has the values, with a line at each deadline. `word_at`: the word's share of the
    height."""
    picture = panel.picture
    places = [(at, ns) for ns in deadlines(subjects) if 0 <= (at := picture.x.at(ns)) <= 1]
    lines = [f"M{at * picture.width:.1f},0V{picture.height:g}" for at, _ns in places]
    return _with(panel, lines, [Note(at, word_at, _words(ns), classes="deadline") for at, ns in places])


def with_level(panel: Panel, subject: Subject, up: Callable[[float], float]) -> Panel:
    """The same where the y axis has the values. `up`: the share of the height at which a value stands."""
    picture = panel.picture
    places = [(up(ns), ns) for ns in deadlines([subject]) if up(ns) <= 1]
    lines = [f"M0,{(1 - at) * picture.height:.1f}H{picture.width:g}" for at, _ns in places]
    return _with(panel, lines, [Note(0.004, at, _words(ns), classes="deadline") for at, ns in places])


def _with(panel: Panel, lines: Sequence[str], notes: Sequence[Note]) -> Panel:
    if not lines:
        return panel
    marks = panel.picture.marks + "".join(el("path", {"class": "deadline", "d": line}) for line in lines)
    return replace(panel, picture=replace(panel.picture, marks=marks, notes=[*panel.picture.notes, *notes]))


def _words(ns: int) -> str:
    return _("deadline {time}").format(time=time_tick(ns))
