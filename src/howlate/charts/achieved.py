"""The load that was there: busy share of the CPUs, steal, and each load's own share, beside the latencies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

from howlate.charts._data import pack
from howlate.charts._figure import Chart, Figure, Key, Panel, Picture, Subject
from howlate.charts._scale import Scale, percent_text
from howlate.charts._svg import el
from howlate.charts._words import seconds_text
from howlate.language import N_, _
from howlate.model.bins import LoadCourse

WIDTH = 2000.0
HEIGHT = 76
OWN = N_("the load's own share")
BESIDE = 4
"""Lines of one value are so far apart, in units of the plane (half a pixel)."""
LINES = 4
"""More CPUs than this are drawn as their mean and their largest."""
POINTS = 240
"""Longer courses are joined: means for busy shares and loads, the largest for steal."""


def draw(subjects: Sequence[Subject]) -> Figure | str | None:
    drawn = [(s, gather(s.bins.loads)) for s in subjects if s.bins is not None and s.bins.loads]
    drawn = [(s, courses) for s, courses in drawn if courses]
    if all(len([c for c in courses if not of_machine(c)]) <= 1 for _, courses in drawn):
        drawn = [
            (s, [c if of_machine(c) else replace(c, name=_(OWN)) for c in courses]) for s, courses in drawn
        ]
    if not drawn:
        return _("No course of the load was recorded in these cells.")
    end = max(c.time_s[-1] for _, courses in drawn for c in courses)
    x = Scale(0.0, end if end > 0 else 1.0, False, "s")
    y = Scale(-0.14, 1.04, False, "share")
    names = list(dict.fromkeys(c.name for _, courses in drawn for c in courses))
    classes = {name: style(name, names) for name in names}
    return Figure(
        name="achieved",
        title=_("Load achieved"),
        reading=_(
            "What the machine was doing meanwhile, once a second: the busy share of the CPUs, "
            "the share that a hypervisor took away (steal), and what each load got of the CPUs "
            "given to it. Lines of the same value are drawn one below the other, so that none is hidden."
        ),
        x_title=_("Time since the first release"),
        y_title=_("Share of the CPU time"),
        panels=tuple(_panel(s, courses, x, y, classes) for s, courses in drawn),
        keys=tuple(Key(classes[name], name) for name in names),
    )


def of_machine(course: LoadCourse) -> bool:
    """A course of the CPUs, in contrast to one of a load."""
    return re.search(r"\b(busy|steal)\b", course.name) is not None


def style(name: str, names: Sequence[str]) -> str:
    """Steal is always drawn alike; other courses take the next colour and dash."""
    if "steal" in name:
        same = [n for n in names if "steal" in n]
        return f"c-steal dash{2 + same.index(name) % 3}"
    same = [n for n in names if "steal" not in n]
    return f"c{same.index(name) % 8 + 1} dash{same.index(name) % 8 + 1}"


def gather(loads: Sequence[LoadCourse]) -> list[LoadCourse]:
    """Few enough lines to read: many CPUs become "mean of n CPUs" and "largest of n CPUs"."""
    courses = [thin(c) for c in loads if c.time_s]
    for kind in ("busy", "steal"):
        same = [c for c in courses if re.fullmatch(rf"cpu \d+ {kind}", c.name)]
        if len(same) <= LINES:
            continue
        length = min(len(c.time_s) for c in same)
        rows = [[c.share[i] for c in same] for i in range(length)]
        joined = [
            LoadCourse(
                _("{kind}, largest of {same} CPUs").format(kind=kind, same=len(same)),
                same[0].time_s[:length],
                tuple(map(max, rows)),
            )
        ]
        if kind == "busy":
            joined.append(
                LoadCourse(
                    _("{kind}, mean of {same} CPUs").format(kind=kind, same=len(same)),
                    same[0].time_s[:length],
                    tuple(map(fmean, rows)),
                )
            )
        courses = joined + [c for c in courses if c not in same]
    return courses


def thin(course: LoadCourse) -> LoadCourse:
    """At most POINTS points."""
    every = -(-len(course.time_s) // POINTS)
    if every == 1:
        return course
    join = max if "steal" in course.name else fmean
    parts = [slice(i, i + every) for i in range(0, len(course.time_s), every)]
    return LoadCourse(
        course.name,
        tuple(course.time_s[part][-1] for part in parts),
        tuple(join(course.share[part]) for part in parts),
    )


def edges(course: LoadCourse) -> list[float]:
    """A value counts for the time since the one before it: the edges of these stretches."""
    times = course.time_s
    step = times[1] - times[0] if len(times) > 1 else 1.0
    return [max(0.0, times[0] - step), *times]


def _panel(
    subject: Subject, courses: Sequence[LoadCourse], x: Scale, y: Scale, classes: dict[str, str]
) -> Panel:
    return Panel(
        label=subject.label,
        aside="; ".join(_said(subject)),
        picture=Picture(
            x=x,
            y_ticks=[(y.at(v), percent_text(v)) for v in (0.0, 0.5, 1.0)],
            marks="".join(
                el("path", {"class": f"line {classes[c.name]}", "d": _staircase(c, x, y, i)})
                for i, c in enumerate(courses)
            ),
            width=WIDTH,
            height=2 * HEIGHT,
        ),
        height=HEIGHT,
        summary=_("Shares of CPU time over {high}; means: ").format(high=seconds_text(x.high))
        + ", ".join(f"{c.name} {percent_text(fmean(c.share))}" for c in courses)
        + ".",
        data=_exact(courses, classes),
        link=f"time {subject.label} {subject.summary.id}",
    )


def _staircase(course: LoadCourse, x: Scale, y: Scale, place: int) -> str:
    """A level for each stretch; what is above one stands at one. `place`: among the lines of the panel."""
    plane, beside = 2 * HEIGHT, BESIDE * place
    at_x = round(x.at(edges(course)[0]) * WIDTH)
    at_y = round(plane * (1 - y.at(min(1.0, course.share[0])))) + beside
    out = [f"M{at_x},{at_y}"]
    for right, share in zip(course.time_s, course.share, strict=True):
        px, py = round(x.at(right) * WIDTH), round(plane * (1 - y.at(min(1.0, share)))) + beside
        out.append((f"v{py - at_y}" if py != at_y else "") + f"h{px - at_x}")
        at_x, at_y = px, py
    return "".join(out)


def _exact(courses: Sequence[LoadCourse], classes: dict[str, str]) -> dict[str, object]:
    """What hover reads: the stretches of the longest course, and every course's share in each."""
    grid = edges(max(courses, key=lambda c: len(c.time_s)))
    rounded = [round(t * 1000) for t in grid]
    return {
        "kind": "intervals",
        "base": 0,
        "unit": 0.001,
        "low": pack(rounded[:-1]),
        "size": pack(b - a for a, b in pairwise(rounded)),
        "series": [
            {
                "name": c.name,
                "kind": "permille",
                "key": classes[c.name],
                "values": pack(round(1000 * _share_at(c, (a + b) / 2)) for a, b in pairwise(grid)),
            }
            for c in courses
        ],
    }


def _share_at(course: LoadCourse, time_s: float) -> float:
    return next(
        (s for t, s in zip(course.time_s, course.share, strict=True) if t >= time_s), course.share[-1]
    )


def _said(subject: Subject) -> list[str]:
    """What each load was to achieve and did."""
    said = []
    for load in subject.summary.loads:
        if load.achieved_cpu is None:
            continue
        wanted = (
            _(" of {target_cpu} wanted").format(target_cpu=percent_text(load.target_cpu))
            if load.target_cpu is not None
            else ""
        )
        said.append(f"{load.name}: {percent_text(load.achieved_cpu)}{wanted}")
    return said


CHART = Chart("achieved", 50, draw)
