"""Small multiples of histograms, a column for each side and a row for each load, as the published studies
have them."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts.histogram import (
    FLOOR,
    bars_exact,
    bars_picture,
    binned_on,
    bits_for,
    counts_of,
    merge,
    panel_on,
)
from howlate.figures.bars import FEW, equal_bins
from howlate.figures.figure import Figure, Panel, Subject, around_zero, column_of, names_of, things_of
from howlate.figures.scale import OWN_AXES, Axes, Scale, from_zero, spread, with_range
from howlate.figures.sides import Spot, maxima, measured, sides_of, spots_of, titles_of
from howlate.model.bins import CellBins, Histogram
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Capitalised, Caption, Listed

ACROSS = 4
"""More sides than this do not fit in one row."""
MOST = 24
"""Panels; if there are more rows, those with the largest values are shown."""
HEIGHT = 100


def multiples(subjects: Sequence[Subject], *, own: bool, axes: Axes = OWN_AXES) -> Figure | None:
    """`own`: each panel has linear values from zero to its largest; otherwise all share the same two axes."""
    spots = [
        s
        for s in measured(spots_of(subjects))
        if s.subject.bins is not None and s.subject.bins.histogram.counts
    ]
    sides = sides_of(spots)
    rows: dict[str, dict[str, Spot]] = {}
    named = titles_of(spots)
    for spot in spots:
        rows.setdefault(named(spot.rest), {})[spot.side] = spot
    if len(sides) < 2 or len(sides) > ACROSS:
        return None
    most = max(1, MOST // len(sides))
    kept = sorted(rows, key=lambda row: -max(_largest(spot) for spot in rows[row].values()))[:most]
    drawn = [
        (row, side, rows[row][side]) for row in rows if row in kept for side in sides if side in rows[row]
    ]
    title, _value, things = names_of([spot.subject for _, _, spot in drawn])
    more = Caption("Of {rows} rows the {most} with the largest values are drawn.", rows=len(rows), most=most)
    left_out = (more,) if len(kept) < len(rows) else ()
    of = things_of(column_of(subjects), 1)
    name, heading, reading, panels = _own(drawn, of) if own else _shared(drawn, axes, of)
    return Figure(
        name=name,
        title=heading,
        reading=(*reading, *left_out),
        x_title=title,
        y_title=Capitalised(Caption("{things} per bin", things=things)),
        panels=tuple(panels),
        columns=len(sides) if all(len(rows[row]) == len(sides) for row in kept) else 0,
    )


NamedSpots = Sequence[tuple[str, str, Spot]]
Parts = tuple[str, Caption, tuple[Text, ...], list[Panel]]
"""Of a figure: its name, title, reading and panels."""


def _own(drawn: NamedSpots, of: Caption) -> Parts:
    """Each on axes of its own. `of`: a single of what is counted."""
    how = Caption(
        "Each panel has axes of its own, the values linear from zero to its largest (from its smallest, if that is "
        "below zero): shapes compare, sizes do not."
    )
    title = Caption("Histograms side by side, each on its own scale")
    return "multiples-own", title, (how, _logarithmic(of)), _on_own(drawn)


def _shared(drawn: NamedSpots, axes: Axes, of: Caption) -> Parts:
    """All on the same axes: those requested, or those of the data."""
    title, how = Caption("Histograms side by side"), Caption("All panels share both axes: sizes compare.")
    if not axes:
        panels = _on_found(drawn)
        return "multiples", title, (how, _logarithmic(of), around_zero(panels[0].picture.x)), panels
    outside = Caption(
        "What lies outside of the axes is counted next to each panel. All repetitions of a point are one."
    )
    panels = _on_axes(drawn, axes)
    return "multiples", title, (how, outside, FEW, around_zero(panels[0].picture.x)), panels


def _logarithmic(of: Caption) -> Caption:
    return Caption(
        "Counts are logarithmic: the lowest bar is a single {of}. All repetitions of a point are one.", of=of
    )


def _largest(spot: Spot) -> int:
    """The largest sample. A further column's bins have no tail, and the edge of the last bin lies above it."""
    bins = _bins(spot)
    exact = maxima(spot, bins.column)
    return round(exact.largest) if exact is not None else bins.histogram.upper_ns[-1]


def _bins(spot: Spot) -> CellBins:
    assert spot.subject.bins is not None
    return spot.subject.bins


def _on_found(drawn: NamedSpots) -> list[Panel]:
    held = [_bins(spot).histogram for _, _, spot in drawn]
    x = spread(min(h.lower_ns[0] for h in held), max(h.upper_ns[-1] for h in held), "ns", 0.02)
    bits = bits_for(x)
    merged = [merge(h, bits, x.knee) for h in held]
    y = Scale(FLOOR, max(max(h.counts) for h in merged) * 1.4, log=True, kind="count")
    return [
        _panel(row, side, spot, m, x, y, "multiples")
        for (row, side, spot), m in zip(drawn, merged, strict=True)
    ]


def _on_axes(drawn: NamedSpots, axes: Axes) -> list[Panel]:
    held = [_bins(spot).histogram for _, _, spot in drawn]
    found = spread(min(h.lower_ns[0] for h in held), max(h.upper_ns[-1] for h in held), "ns", 0.02)
    x = with_range(found, axes.get("latency"))
    binned = [binned_on(h, x) for h in held]
    y = with_range(counts_of(binned), axes.get("counts"))
    return [
        panel_on(_label(row, side), spot.subject, _bins(spot), bars, x, y, HEIGHT, "multiples")
        for (row, side, spot), bars in zip(drawn, binned, strict=True)
    ]


def _label(row: str, side: str) -> Listed:
    return Listed((side, row), " · ")


def _on_own(drawn: NamedSpots) -> list[Panel]:
    panels = []
    for row, side, spot in drawn:
        histogram = _bins(spot).histogram
        x = from_zero(histogram.upper_ns[-1], "ns", 0.02, histogram.lower_ns[0])
        bins = equal_bins(histogram, max(1, round((x.high - x.low) / 122)))
        y = Scale(FLOOR, max(bins.counts) * 1.4, log=True, kind="count")
        panels.append(_panel(row, side, spot, bins, x, y, ""))
    return panels


def _panel(row: str, side: str, spot: Spot, merged: Histogram, x: Scale, y: Scale, link: str) -> Panel:
    bins = _bins(spot)
    native, of, largest = bins.histogram, things_of(bins.column), _largest(spot)
    total = sum(native.counts)
    return Panel(
        label=_label(row, side),
        picture=bars_picture(merged, x, y, largest, HEIGHT),
        height=HEIGHT,
        summary=Caption(
            "Histogram of {total} {of} from {time_text} to {largest}.",
            total=total,
            of=of,
            time_text=time_text(native.lower_ns[0]),
            largest=time_text(largest),
        ),
        data=bars_exact(merged, of),
        link=link,
    )
