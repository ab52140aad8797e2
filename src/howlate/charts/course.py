"""Latency against time: maximum, p99 and median of each block of a pixel's width, so that no picture hides
the worst."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from howlate.figures.bars import ClippedHistogram
from howlate.figures.cases import drawn_cases, time_axis, with_course
from howlate.figures.deadline import deadlines, with_level
from howlate.figures.figure import (
    Chart,
    Figure,
    Key,
    Note,
    Panel,
    Picture,
    Subject,
    are_wake_ups,
    around_zero,
    column_of,
    columns_of,
    names_of,
    things_of,
    title_of_column,
)
from howlate.figures.scale import OWN_AXES, Axes, Scale, spread, with_range
from howlate.figures.svg import area_path, el, number, pack, step_path
from howlate.model.bins import CellBins, TimeBlocks
from howlate.words.quantities import grouped, seconds_text, time_text
from howlate.words.statement import Caption, Listed

WIDTH = 1000.0
EXPLAINED = Key("c-case", Caption("explained: leads to its bar"), "square")
JOINED = 3
"""Blocks that are drawn as one where panels are side by side."""
HEIGHT = 104
KEYS = (
    Key("c-max", Caption("largest of the block"), "area"),
    Key("c-p99", Caption("99 % of the block below")),
    Key("c-median", Caption("half of the block below")),
)


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    drawn, x = with_course(subjects), time_axis(subjects, axes)
    if x is None:
        return None
    limits = deadlines([s for _, s, _ in drawn])
    found = spread(
        min(*(min(b.blocks.median_ns) for _, _, b in drawn), *limits, math.inf),
        max(*(max(b.blocks.max_ns) for _, _, b in drawn), *limits, -math.inf),
        "ns",
        0.08,
    )
    y = with_range(found, axes.get("latency"))
    joined = 1 if len(drawn) == 1 else JOINED
    title, value, _things = names_of(subjects)
    late = are_wake_ups(subjects)
    return Figure(
        name="course",
        title=Caption("Latency over time") if late else Caption("Over time: {said}", said=value),
        reading=(
            Caption(
                "The filled edge is the largest {value} of each moment, so the picture cannot hide the worst; a gap "
                "is time without a {of}.",
                value=value if late else Caption("value"),
                of=things_of(column_of(subjects), 1),
            ),
            around_zero(y),
        ),
        x_title=Caption("Time since the first release") if late else Caption("Time since the start"),
        y_title=title,
        panels=tuple(with_level(_panel(s, b, x, y, joined, place), s, y.at) for place, s, b in drawn),
        keys=(*KEYS, EXPLAINED) if any(s.cases for _, s, _ in drawn) else KEYS,
        columns=columns_of(len(drawn)),
    )


def _panel(subject: Subject, bins: CellBins, x: Scale, y: Scale, joined: int, place: int) -> Panel:
    """`place`: of the subject among all."""
    blocks = bins.blocks
    largest = max(blocks.max_ns)
    middle = blocks.start_s[blocks.max_ns.index(largest)] + blocks.width_s / 2
    text = Caption("max {largest}", largest=time_text(largest))
    peak = Note(x.at(middle), min(1.0, y.at(largest)), text, "circle", "c-max")
    return Panel(
        label=subject.label,
        aside=Listed((_block_width(blocks), *outside(bins, y)), "; "),
        picture=Picture(
            x=x,
            y_ticks=y.ticks(5),
            marks=_marks(blocks, x, y, 2 * HEIGHT, joined),
            width=WIDTH,
            height=2 * HEIGHT,
            notes=(peak, *_explained(subject, x, y, place)),
        ),
        height=HEIGHT,
        summary=Caption(
            "{column} over {high}: the largest, {largest}, was seen after {middle}.",
            column=title_of_column(bins.column),
            high=seconds_text(x.high),
            largest=time_text(largest),
            middle=seconds_text(middle),
        ),
        data=_exact(blocks, things_of(bins.column)),
        link=Listed(("time", subject.label, subject.summary.id), " "),
    )


def _block_width(blocks: TimeBlocks) -> Caption:
    return Caption(
        "{seconds_text} in blocks of {time_text}",
        seconds_text=seconds_text(blocks.width_s * (block_numbers(blocks)[-1] + 1)),
        time_text=time_text(blocks.width_s * 1000000000.0),
    )


def _explained(subject: Subject, x: Scale, y: Scale, place: int) -> Iterator[Note]:
    for drawn in drawn_cases(place, subject, x):
        if drawn.at is not None:
            up = min(1.0, max(0.0, y.at(drawn.explained.case.latency_ns)))
            yield Note(drawn.at, up, "", "square", "c-case small", drawn.point, drawn.bar, EXPLAINED.text)


def _marks(blocks: TimeBlocks, x: Scale, y: Scale, plane: int, joined: int) -> str:
    """Three lines in units of blocks across, which a transformation maps to the axis."""
    index = block_numbers(blocks)
    drawn = sorted({i // joined for i in index})

    def ys(values: Sequence[int]) -> list[int]:
        return [round(plane * (1 - y.at(v))) for v in largest_of(index, values, joined)]

    scale = blocks.width_s * joined / (x.high - x.low) * WIDTH
    shift = x.at(blocks.start_s[0]) * WIDTH
    return el(
        "g",
        {"transform": f"translate({number(shift)}) scale({scale:.6g},1)"},
        el("path", {"class": "line c-p99", "d": step_path(drawn, ys(blocks.p99_ns))}),
        el("path", {"class": "area c-max", "d": area_path(drawn, ys(blocks.max_ns), plane)}),
        el("path", {"class": "line c-median", "d": step_path(drawn, ys(blocks.median_ns))}),
    )


def outside(bins: CellBins, y: Scale) -> list[Caption]:
    """How many values lie outside an axis; [] if none do."""
    within = ClippedHistogram.of(bins.histogram, y)
    counts = []
    if within.below:
        count = grouped(within.below)
        counts.append(Caption("values below {edge}: {count}", count=count, edge=time_text(y.low)))
    if within.beyond:
        count = grouped(within.beyond)
        counts.append(Caption("values beyond {edge}: {count}", count=count, edge=time_text(y.high)))
    return counts


def _exact(blocks: TimeBlocks, things: Caption) -> dict[str, object]:
    """The exact numbers for hovering. `things`: what the counts of a block count."""
    index = block_numbers(blocks)
    return {
        "kind": "intervals",
        "base": blocks.start_s[0],
        "unit": blocks.width_s,
        "low": len(index) if index[-1] == len(index) - 1 else pack(index),
        "size": 1,
        "series": [
            {"name": Caption("largest"), "kind": "ns", "key": "c-max", "values": pack(blocks.max_ns)},
            {"name": "p99", "kind": "ns", "key": "c-p99", "values": pack(blocks.p99_ns)},
            {"name": Caption("median"), "kind": "ns", "key": "c-median", "values": pack(blocks.median_ns)},
            {"name": things, "kind": "count", "values": pack(blocks.counts)},
        ],
    }


def largest_of(index: Sequence[int], values: Sequence[int], joined: int) -> list[int]:
    """The largest value of each group of `joined` neighbouring blocks."""
    largest: dict[int, int] = {}
    for i, value in zip(index, values, strict=True):
        largest[i // joined] = max(value, largest.get(i // joined, value))
    return [largest[i] for i in sorted(largest)]


def block_numbers(blocks: TimeBlocks) -> list[int]:
    """The index of the block of each entry: integers, with gaps where nothing was measured."""
    return [round((start - blocks.start_s[0]) / blocks.width_s) for start in blocks.start_s]


CHART = Chart("course", 30, draw, every=True, axes=("latency", "time"))
