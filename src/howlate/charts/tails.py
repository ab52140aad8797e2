"""The tails of several sides in one picture, a picture for everything else that varies: which side is later, and how
rarely. All repetitions of a point are drawn as one. What it hides: the repetitions' spread."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts.tail import tail_piece, tails_panel
from howlate.figures.figure import Chart, Figure, Key, Panel, Subject, around_zero, columns_of, names_of
from howlate.figures.scale import Scale, spread
from howlate.figures.sides import LINES, Spot, measured, sides_of, spots_of, titles_of
from howlate.figures.svg import MARKERS
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Caption

MOST = 12
"""Pictures; if there are more, those with the largest latencies are shown."""
MOST_POINTS = 150
"""Points of a line that are embedded in the page, always including the largest."""


def draw(subjects: Sequence[Subject]) -> Figure | None:
    spots = [
        s
        for s in measured(spots_of(subjects))
        if s.subject.bins is not None and s.subject.bins.tail.latency_ns
    ]
    sides = sides_of(spots)
    panels: dict[Text, list[Spot]] = {}
    named = titles_of(spots)
    for spot in spots:
        panels.setdefault(named(spot.rest) or Caption("All sides"), []).append(spot)
    panels = {title: spots for title, spots in panels.items() if len(spots) > 1}
    if not panels or len(sides) > LINES:
        return None
    kept = sorted(panels, key=lambda title: -max(_largest(spot) for spot in panels[title]))[:MOST]
    left = len(panels) - len(kept)
    drawn = [spot for title in kept for spot in panels[title]]
    x = spread(min(_smallest(s) for s in drawn), max(_largest(s) for s in drawn), "ns", 0.02)
    y = Scale(0.6 / max(_total(s) for s in drawn), 1.0, log=True, kind="share")
    title, _value, of = names_of([spot.subject for spot in drawn])
    more = (
        Caption(
            "Of {panels} points the {most} with the largest values are drawn.", panels=len(panels), most=MOST
        )
        if left
        else ""
    )
    return Figure(
        name="tails",
        title=Caption("The tails of the sides"),
        reading=(
            Caption(
                "Read across: at a value x, the line tells what share of the {of} was larger. Each "
                "line ends at the largest value seen; what lies beyond the end was not measured. All "
                "panels share both axes.",
                of=of,
            ),
            around_zero(x),
            more,
        ),
        x_title=title,
        y_title=Caption("Share of {of} that were larger", of=of),
        panels=tuple(_panel(t, spots, x, y, sides) for t, spots in panels.items() if t in kept),
        keys=tuple(Key(f"c{i + 1} dash{i + 1}", s, list(MARKERS)[i], i) for i, s in enumerate(sides)),
        columns=columns_of(len(kept), 2),
    )


def _total(spot: Spot) -> int:
    return sum(spot.subject.bins.histogram.counts) if spot.subject.bins is not None else 0


def _smallest(spot: Spot) -> int:
    return spot.subject.bins.tail.latency_ns[0] if spot.subject.bins is not None else 0


def _largest(spot: Spot) -> int:
    return spot.subject.bins.tail.latency_ns[-1] if spot.subject.bins is not None else 0


def _panel(title: Text, drawn: Sequence[Spot], x: Scale, y: Scale, sides: Sequence[str]) -> Panel:
    pieces = [
        tail_piece(sides.index(spot.side), spot.side, spot.subject.bins, x, y, MOST_POINTS)
        for spot in drawn
        if spot.subject.bins is not None
    ]
    worst = max(drawn, key=_largest)
    summary = Caption(
        "Tails of {count} sides, {title}; the largest, {latency}, was seen on {side}.",
        count=len(drawn),
        title=title,
        latency=time_text(_largest(worst)),
        side=worst.side,
    )
    return tails_panel(title, pieces, x, y, summary, "tails")


CHART = Chart("tails", 42, draw, "sides", every=True)
