"""The load that was achieved: busy share of the CPUs, steal, and each load's own share, next to the latencies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from howlate.figures.figure import Chart, Figure, Key, Panel, Picture, Subject
from howlate.figures.scale import Scale, percent_text
from howlate.figures.svg import el, pack
from howlate.model.bins import LoadCourse
from howlate.words.quantities import seconds_text
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed

WIDTH = 2000.0
HEIGHT = 76
OWN = Caption("the load's own share")
BESIDE = 4
"""The distance between lines of equal value, in units of the plane (half a pixel)."""
LINES = 4
"""If there are more CPUs, their mean and their largest are drawn."""
POINTS = 240
"""Longer courses are joined: means for busy shares and loads, the largest for steal."""


def draw(subjects: Sequence[Subject]) -> Figure | Text | None:
    drawn = [(s, gather(s.bins.loads)) for s in subjects if s.bins is not None and s.bins.loads]
    drawn = [(s, lines) for s, lines in drawn if lines]
    if all(sum(line.kind == "load" for line in lines) <= 1 for _, lines in drawn):
        drawn = [
            (s, [replace(line, name=OWN) if line.kind == "load" else line for line in lines])
            for s, lines in drawn
        ]
    if not drawn:
        return Caption("These cells have no record of the load over time.")
    end = max(line.time_s[-1] for _, lines in drawn for line in lines)
    x = Scale(0.0, end if end > 0 else 1.0, log=False, kind="s")
    y = Scale(-0.14, 1.04, log=False, kind="share")
    classes = style([line for _, lines in drawn for line in lines])
    return Figure(
        name="achieved",
        title=Caption("Load achieved"),
        reading=Caption(
            "What the machine was doing, once a second: the busy share of the CPUs, "
            "the share that a hypervisor took away (steal), and what each load got of the CPUs "
            "given to it. Lines of the same value are drawn one below the other, so that none is hidden."
        ),
        x_title=Caption("Time since the first release"),
        y_title=Caption("Share of the CPU time"),
        panels=tuple(_panel(s, lines, x, y, classes) for s, lines in drawn),
        keys=tuple(Key(css, name) for name, css in classes.items()),
    )


class ShareLine(Struct, frozen=True):
    """A line of a panel: the share that CPUs were busy, that was stolen from them, or that a load got."""

    name: Text
    kind: str
    """"busy", "steal" or "load"."""
    time_s: tuple[float, ...]
    share: tuple[float, ...]


def style(lines: Sequence[ShareLine]) -> dict[Text, str]:
    """The CSS classes of each line by its name. Steal is always drawn alike; others take the next colour and dash."""
    stolen = {line.name: line.kind == "steal" for line in lines}
    steals, others = ([name for name, steal in stolen.items() if steal is wanted] for wanted in (True, False))
    return {
        name: f"c-steal dash{2 + steals.index(name) % 3}"
        if steal
        else f"c{others.index(name) % 8 + 1} dash{others.index(name) % 8 + 1}"
        for name, steal in stolen.items()
    }


def gather(loads: Sequence[LoadCourse]) -> list[ShareLine]:
    """Few enough lines to read: many CPUs become "mean of n CPUs" and "largest of n CPUs"."""
    lines = [
        ShareLine(c.name, _kind(c.name), c.time_s, c.share) for c in (thin(c) for c in loads if c.time_s)
    ]
    for kind in ("busy", "steal"):
        cpus = [line for line in lines if line.kind == kind and re.match(r"cpu \d+ ", str(line.name))]
        if len(cpus) <= LINES:
            continue
        length = min(len(line.time_s) for line in cpus)
        rows = [[line.share[i] for line in cpus] for i in range(length)]
        joined = [(Caption("{kind}, largest of {same} CPUs", kind=kind, same=len(cpus)), map(max, rows))]
        if kind == "busy":
            mean = map(fmean, rows)
            joined.append((Caption("{kind}, mean of {same} CPUs", kind=kind, same=len(cpus)), mean))
        times = cpus[0].time_s[:length]
        lines = [
            *(ShareLine(name, kind, times, tuple(shares)) for name, shares in joined),
            *(line for line in lines if line not in cpus),
        ]
    return lines


def _kind(name: str) -> str:
    """A course of the CPUs says in its name what it is, as the probe wrote it; any other is of a load."""
    kind = re.search(r"\b(busy|steal)\b", name)
    return kind[1] if kind else "load"


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


def edges(line: ShareLine) -> list[float]:
    """A value counts for the time since the previous one: the edges of these stretches."""
    times = line.time_s
    step = times[1] - times[0] if len(times) > 1 else 1.0
    return [max(0.0, times[0] - step), *times]


def _panel(
    subject: Subject, lines: Sequence[ShareLine], x: Scale, y: Scale, classes: dict[Text, str]
) -> Panel:
    return Panel(
        label=subject.label,
        aside=Listed(tuple(_targets(subject)), "; "),
        picture=Picture(
            x=x,
            y_ticks=[(y.at(v), percent_text(v)) for v in (0.0, 0.5, 1.0)],
            marks="".join(
                el("path", {"class": f"line {classes[line.name]}", "d": _staircase(line, x, y, i)})
                for i, line in enumerate(lines)
            ),
            width=WIDTH,
            height=2 * HEIGHT,
        ),
        height=HEIGHT,
        summary=Caption(
            "Shares of CPU time over {high}; means: {means}.",
            high=seconds_text(x.high),
            means=Listed(tuple(Listed((line.name, percent_text(fmean(line.share))), " ") for line in lines)),
        ),
        data=_exact(lines, classes),
        link=Listed(("time", subject.label, subject.summary.id), " "),
    )


def _staircase(line: ShareLine, x: Scale, y: Scale, place: int) -> str:
    """A level for each interval; levels above one are drawn at one. `place`: among the lines of the panel."""
    plane, beside = 2 * HEIGHT, BESIDE * place
    at_x = round(x.at(edges(line)[0]) * WIDTH)
    at_y = round(plane * (1 - y.at(min(1.0, line.share[0])))) + beside
    out = [f"M{at_x},{at_y}"]
    for right, share in zip(line.time_s, line.share, strict=True):
        px, py = round(x.at(right) * WIDTH), round(plane * (1 - y.at(min(1.0, share)))) + beside
        out.append((f"v{py - at_y}" if py != at_y else "") + f"h{px - at_x}")
        at_x, at_y = px, py
    return "".join(out)


def _exact(lines: Sequence[ShareLine], classes: dict[Text, str]) -> dict[str, object]:
    """The exact numbers for hovering: the intervals of the longest line, and every line's share in each."""
    grid = edges(max(lines, key=lambda line: len(line.time_s)))
    rounded = [round(t * 1000) for t in grid]
    return {
        "kind": "intervals",
        "base": 0,
        "unit": 0.001,
        "low": pack(rounded[:-1]),
        "size": pack(b - a for a, b in pairwise(rounded)),
        "series": [
            {
                "name": line.name,
                "kind": "permille",
                "key": classes[line.name],
                "values": pack(round(1000 * _share_at(line, (a + b) / 2)) for a, b in pairwise(grid)),
            }
            for line in lines
        ],
    }


def _share_at(line: ShareLine, time_s: float) -> float:
    return next((s for t, s in zip(line.time_s, line.share, strict=True) if t >= time_s), line.share[-1])


def _targets(subject: Subject) -> Iterator[Text]:
    for load in subject.summary.loads:
        if load.achieved_cpu is None:
            continue
        achieved = percent_text(load.achieved_cpu)
        if load.target_cpu is not None:
            target = percent_text(load.target_cpu)
            yield Caption(
                "{load}: {achieved} of {target} wanted", load=load.name, achieved=achieved, target=target
            )
        else:
            yield f"{load.name}: {achieved}"


CHART = Chart("achieved", 50, draw, folded=True)
