"""The delays of several timers in one picture, each value against its index: absolute and relative sleeps of the test
`timer` under one load of one kernel. Linear, so that sizes compare; what it hides: bands within the one while the
other has far larger values (the scatter of each alone shows those)."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts.scatter import HEIGHT, WIDTH, exact_of, image_on, own_scale
from howlate.figures.figure import Chart, Figure, Key, Note, Panel, Picture, Subject
from howlate.figures.scale import OWN_AXES, Axes, Scale
from howlate.figures.sides import spots_of, titles_of
from howlate.figures.svg import pack
from howlate.model.bins import Scatter
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed

TEST, TIMER, PART = "timer", "timer", "part"
COLOURS = ((0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00), (0x00, 0x82, 0x5D), (0xA8, 0x49, 0x8A))
"""The colours of the page's first classes (page.css)."""
TALL = 240
MOST = 12


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    spots = [spot for spot in spots_of(subjects) if spot.subject.summary.test == TEST]
    panels: dict[str, list[tuple[str, Scatter]]] = {}
    title = titles_of(spots, (TIMER, PART))
    for spot in spots:
        cell = spot.subject.one
        if cell is not None and cell.scatter is not None:
            panels.setdefault(" · ".join(part for part in (spot.side, title(spot.rest)) if part), []).append(
                (spot.rest.get(TIMER, ""), cell.scatter)
            )
    panels = {title: scatters for title, scatters in panels.items() if 1 < len(scatters) <= len(COLOURS)}
    if not panels:
        return None
    kept = sorted(panels, key=lambda title: -max(c.high_ns for _, c in panels[title]))[:MOST]
    drawn = {title: scatters for title, scatters in panels.items() if title in kept}
    end = max(c.columns * c.per_column for scatters in drawn.values() for _, c in scatters)
    names = list(dict.fromkeys(name for scatters in drawn.values() for name, _ in scatters))
    return Figure(
        name="timers",
        title=Caption("One by one: absolute and relative timers"),
        reading=Caption(
            "Every delay against its index, a colour a timer; each panel has a linear axis of its own. Where more "
            "lie upon each other they are more opaque. Of repetitions the one with the largest delay is drawn."
        ),
        x_title=Caption("Index"),
        y_title=Caption("Delay"),
        panels=tuple(
            _panel(title, scatters, names, Scale(0.0, float(end), log=False, kind="count"), axes)
            for title, scatters in drawn.items()
        ),
        keys=tuple(Key(f"c{i + 1}", name, "area") for i, name in enumerate(names[: len(COLOURS)])),
    )


def _panel(
    title: str, scatters: Sequence[tuple[str, Scatter]], names: Sequence[str], x: Scale, axes: Axes
) -> Panel:
    y = own_scale([scatter for _, scatter in scatters], axes.get("latency"))
    images = [image_on(scatter, x, y, TALL, COLOURS[names.index(name)]) for name, scatter in scatters]
    most = max(scatter.high_ns for _, scatter in scatters)
    notes: list[Note] = []
    lines: list[Text] = []
    for (name, scatter), (_marks, outside) in zip(scatters, images, strict=True):
        largest = max(scatter.largest_ns)
        where = (scatter.at[scatter.largest_ns.index(largest)] + 0.5) * scatter.per_column
        colour = f"c{names.index(name) + 1}"
        text = Caption("max {largest}", largest=time_text(largest))
        shown = text if largest == most else ""  # two labels would overlap
        notes.append(Note(x.at(where), min(1.0, y.at(largest)), shown, "circle", colour))
        beyond = Caption("{count} outside of the axis", count=outside) if outside else ""
        lines.append(Listed((name, Listed((text, beyond))), ": "))
    counts = Listed(tuple(lines), "; ")
    return Panel(
        label=title,
        aside=counts,
        picture=Picture(x, y.ticks(5), "".join(marks for marks, _ in images), WIDTH, HEIGHT, notes),
        height=TALL,
        summary=Caption("Delays against their index, {title}: {said}.", title=title, said=counts),
        data=_exact(scatters, names),
        link="",
    )


def _exact(scatters: Sequence[tuple[str, Scatter]], names: Sequence[str]) -> dict[str, object]:
    """The exact numbers for hovering: by the columns of the first timer's grid, with those timers whose grid
    is equal."""
    first = scatters[0][1]
    same = [(n, c) for n, c in scatters if (c.at, c.per_column) == (first.at, first.per_column)]
    series = [
        {
            "name": Listed((name, what)),
            "kind": "ns",
            "key": f"c{names.index(name) + 1}",
            "values": pack(values),
        }
        for name, scatter in same
        for what, values in (
            (Caption("largest"), scatter.largest_ns),
            (Caption("smallest"), scatter.smallest_ns),
        )
    ]
    return {**exact_of(first, ""), "series": series}


CHART = Chart("timers", 24, draw, "sides", axes=("latency",), folded=True)
