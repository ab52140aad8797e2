"""The latency histogram: counts on a logarithmic axis, so that a single late wake-up is as visible as a
million."""

from __future__ import annotations

import math
from collections.abc import Sequence

from howlate.figures.bars import FEW, ClippedHistogram, equal_bins, left_out, picture_on, width_on
from howlate.figures.deadline import deadlines, with_upright
from howlate.figures.figure import (
    Chart,
    Figure,
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
)
from howlate.figures.scale import (
    OWN_AXES,
    Axes,
    Scale,
    count_tick,
    log_ticks,
    octaves,
    spread,
    value_at,
    with_range,
)
from howlate.figures.svg import el, pack
from howlate.model.bins import CellBins, Histogram
from howlate.words.quantities import grouped, time_text
from howlate.words.say import Text
from howlate.words.statement import Capitalised, Caption, Listed

FLOOR = 0.6
"""The count at the bottom of the axis: below 1, so that a bin with one sample has a height."""
WIDTH = 1000.0
FINEST = 5
"""With finer bins, the equal bins would be hardly wider than the data's own (at most 0.8 %), and their counts
ragged."""
NATIVE = 7


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    drawn = [(s, s.bins) for s in subjects if s.bins is not None and s.bins.histogram.counts]
    if not drawn:
        return None
    limits = deadlines([s for s, _ in drawn])
    x = spread(
        min(*(b.histogram.lower_ns[0] for _, b in drawn), *limits, math.inf),
        max(*(b.histogram.upper_ns[-1] for _, b in drawn), *limits, -math.inf),
        "ns",
        0.02,
    )
    x = with_range(x, axes.get("latency"))
    bits = bits_for(x)
    merged = [binned_on(b.histogram, x, on_axes=bool(axes)) for _, b in drawn]
    y = with_range(counts_of(merged), axes.get("counts"))
    height = 104
    (title, value, things), column = names_of(subjects), column_of(subjects)
    return Figure(
        name="histogram",
        title=Caption(
            "Histogram: {what}", what=Caption("latency") if column.endswith("latency_ns") else value
        ),
        reading=(_reading(subjects, on_axes=bool(axes), log=y.log), around_zero(x)),
        x_title=title,
        y_title=Capitalised(Caption("{things} per bin", things=things)),
        panels=tuple(
            with_upright(
                panel_on(s.label, s, b, h, x, y, height, b.column)
                if axes
                else _panel(s, b, h, x, y, height, bits),
                [s],
            )
            for (s, b), h in zip(drawn, merged, strict=True)
        ),
        columns=columns_of(len(drawn)),
    )


def _reading(subjects: Sequence[Subject], *, on_axes: bool, log: bool) -> Text:
    """`on_axes`: the user set them; `log`: the axis of counts is logarithmic."""
    things, thing = (things_of(column_of(subjects), count) for count in (2, 1))
    if on_axes:
        bars = Caption(
            "Each bar counts the {things} of that size, on the given axes. What lies outside of them is counted "
            "next to each panel.",
            things=things,
        )
        return bars if log else (bars, FEW)
    if are_wake_ups(subjects):
        return Caption(
            "Each bar counts the {things} that were so late. Counts are logarithmic: the lowest bar is one {thing}.",
            things=things,
            thing=thing,
        )
    return Caption(
        "Each bar counts the {things} of that size. Counts are logarithmic: the lowest bar is one {thing}.",
        things=things,
        thing=thing,
    )


def counts_of(histograms: Sequence[Histogram]) -> Scale:
    """The logarithmic axis that contains all bars."""
    return Scale(
        FLOOR, max((max(h.counts, default=1) for h in histograms), default=1) * 1.4, log=True, kind="count"
    )


def binned_on(histogram: Histogram, x: Scale, *, on_axes: bool = True) -> Histogram:
    """The bars of an axis; for a requested axis those that lie within."""
    inside = ClippedHistogram.of(histogram, x).inside if on_axes else histogram
    return merge(inside, bits_for(x), x.knee) if x.log or not on_axes else equal_bins(inside, width_on(x))


def panel_on(
    label: Text,
    subject: Subject,
    bins: CellBins,
    binned: Histogram,
    x: Scale,
    y: Scale,
    height: int,
    link: str,
) -> Panel:
    """A histogram on axes that the user set."""
    within, largest = ClippedHistogram.of(bins.histogram, x), largest_of(subject, bins)
    things = things_of(bins.column)
    counts = left_out(within, binned, x, y, largest, things)
    return Panel(
        label=label,
        aside=counts,
        picture=picture_on(binned, x, y, largest, height),
        height=height,
        summary=Caption(
            "Histogram from {low} to {high}: {said}.",
            low=time_text(x.low),
            high=time_text(x.high),
            said=counts,
        ),
        data=bars_exact(binned, things),
        link=link,
    )


def largest_of(subject: Subject, bins: CellBins) -> int:
    column = subject.summary.columns.get(bins.column)
    if column is not None and column.max is not None:
        return column.max
    return max(bins.tail.latency_ns, default=bins.histogram.upper_ns[-1])


def bits_for(x: Scale) -> int:
    """Bins per octave, as a power of two, so that a bar is some pixels wide; NATIVE if the data are coarser, as
    they are away from zero."""
    span = max(0.5, place_at(x.high, x.knee) - place_at(x.low, x.knee))
    bits = max(3, round(math.log2(260 / span)))
    return bits if bits <= FINEST else FINEST if x.low <= 0 <= x.high else NATIVE


def merge(histogram: Histogram, bits: int, knee: float = 0.0) -> Histogram:
    """Bins of equal width on a logarithmic axis, 2^bits an octave (`knee`: Scale.knee). Their edges are the nearest
    edges of the given bins, so counts add up and no sample is lost or split. NATIVE: the given bins unchanged."""
    if bits == NATIVE:
        return histogram
    lower: list[int] = []
    upper: list[int] = []
    counts: list[int] = []
    place = None
    for low, high, count in zip(histogram.lower_ns, histogram.upper_ns, histogram.counts, strict=True):
        here = place_of(low, high, bits, knee)
        if here == place:
            upper[-1] = max(upper[-1], high)
            counts[-1] += count
        else:
            lower.append(max(min(low, edge(here, bits, knee)), upper[-1] if upper else -(1 << 63)))
            upper.append(max(high, edge(here + 1, bits, knee)))
            counts.append(count)
        place = here
    return Histogram(tuple(lower), tuple(upper), tuple(counts))


def place_at(value: float, knee: float) -> float:
    """In octaves."""
    return octaves(value, knee) if knee else math.log2(max(1.0, value))


def place_of(low: int, high: int, bits: int, knee: float = 0.0) -> int:
    """The equal bin that contains the middle of a given one."""
    return math.floor(place_at((low + high) / 2, knee) * (1 << bits))


def edge(place: int, bits: int, knee: float = 0.0) -> int:
    """The edge between given bins that is nearest to the start of an equal bin."""
    octave = place / (1 << bits)
    wanted = value_at(octave, knee) if knee else 2.0**octave
    size = 1 << max(0, int(abs(wanted)).bit_length() - 8)
    low = int(abs(wanted)) // size * size
    if wanted < 0:  # mirrored: the bin whose middle is the start belongs to this one
        return -low if low + size / 2 > -wanted else -(low + size)
    return low if low + size / 2 >= wanted else low + size


def _panel(
    subject: Subject, bins: CellBins, merged: Histogram, x: Scale, y: Scale, height: int, bits: int
) -> Panel:
    native = bins.histogram
    things = things_of(bins.column)
    total = sum(native.counts)
    largest = largest_of(subject, bins)
    return Panel(
        label=subject.label,
        aside=Listed((grouped(total), things), " "),
        picture=bars_picture(merged, x, y, largest, height),
        height=height,
        summary=Caption(
            "Histogram of {total} {of} from {time_text} to {largest}.",
            total=total,
            of=things,
            time_text=time_text(native.lower_ns[0]),
            largest=time_text(largest),
        ),
        data={
            **bars_exact(native, things),
            "merge": {**_equal(native, bits, x.knee), "floor": FLOOR, "top": y.high},
        },
        link=bins.column,
    )


def _equal(histogram: Histogram, bits: int, knee: float) -> dict[str, object]:
    """What the page needs to join bins as `merge` does, for this and every finer number of bits: the place of each
    among the finest equal ones, and where those begin."""
    if bits > FINEST:
        return {"bits": bits, "finest": FINEST}
    bins = zip(histogram.lower_ns, histogram.upper_ns, strict=True)
    places = [place_of(low, high, FINEST, knee) for low, high in bins]
    widest = 1 << (FINEST - bits)
    first, last = places[0] // widest * widest, (places[-1] // widest + 1) * widest
    edges = (edge(place, FINEST, knee) for place in range(first, last + 1))
    return {"bits": bits, "finest": FINEST, "first": first, "places": pack(places), "edges": pack(edges)}


def bars_picture(histogram: Histogram, x: Scale, y: Scale, largest: int, height: int) -> Picture:
    return Picture(
        x=x,
        y_ticks=[(y.at(v), count_tick(v)) for v in log_ticks(y.low, y.high, 3)],
        marks=el("path", {"class": "bars", "d": bars(histogram, x, y, 2 * height)}),
        width=WIDTH,
        height=2.0 * height,
        notes=[
            Note(x.at(largest), y.at(1) + 0.06, "", "down", "c-max"),
            Note(x.at(largest), 0.42, Caption("max {largest}", largest=time_text(largest))),
        ],
    )


def bars_exact(histogram: Histogram, things: Text) -> dict[str, object]:
    """The exact numbers for hovering. `things`: what the counts of a bin count."""
    return {
        "kind": "intervals",
        "base": 0,
        "unit": 1,
        "low": pack(histogram.lower_ns),
        "size": pack(u - v for v, u in zip(histogram.lower_ns, histogram.upper_ns, strict=True)),
        "series": [{"name": things, "kind": "count", "values": pack(histogram.counts)}],
    }


def bars(histogram: Histogram, x: Scale, y: Scale, height: int) -> str:
    """One outline for all bars; document/page.js draws the same when the user zooms."""
    out: list[str] = []
    end = None
    for low, high, count in zip(histogram.lower_ns, histogram.upper_ns, histogram.counts, strict=True):
        left, right = (round(x.at(max(v, x.low)) * WIDTH, 1) for v in (low, high))
        top = round(height * (1 - y.at(count)))
        if low != end:
            out.append(f"{'' if end is None else f'V{height}z'}M{left:g},{height}")
        out.append(f"V{top}H{right:g}")
        end = high
    return "".join([*out, f"V{height}z"])


CHART = Chart("histogram", 20, draw, "pooled", every=True, axes=("latency", "counts"))
