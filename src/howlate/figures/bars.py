"""Histograms on axes that the user sets: the bins are equally wide there, samples outside are counted and
reported, and a bar too low to be visible is drawn as a mark at the foot."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from howlate.figures.figure import Note, Picture
from howlate.figures.scale import Scale, tick_text
from howlate.figures.svg import el
from howlate.model.bins import Histogram
from howlate.words.quantities import grouped, time_text
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed

WIDTH = 1000.0
ACROSS = 250
"""Bars of a linear axis: with 0 to 1000 us each is 4 us wide."""
SEEN = 1.5
"""Pixels; a lower bar is drawn as a mark."""
MARK = 4
"""Pixels of such a mark."""
FEW = Caption("A bar too low to be seen is a mark at the foot.")


class ClippedHistogram(Struct, frozen=True):
    """The part of a histogram that lies in a range. A given bin (at most 0.8 % wide) is never split: its
    middle decides."""

    inside: Histogram
    below: int
    beyond: int

    @classmethod
    def of(cls, histogram: Histogram, x: Scale) -> ClippedHistogram:
        below = beyond = 0
        kept: list[tuple[int, int, int]] = []
        for low, high, count in zip(histogram.lower_ns, histogram.upper_ns, histogram.counts, strict=True):
            middle = (low + high - 1) / 2
            if middle < x.low:
                below += count
            elif middle > x.high:
                beyond += count
            else:
                kept.append((low, high, count))
        low_ns, high_ns, counts = zip(*kept, strict=True) if kept else ((), (), ())
        return cls(Histogram(low_ns, high_ns, counts), below, beyond)


def equal_bins(histogram: Histogram, width: int) -> Histogram:
    """Bins of at least this width, from zero on: the given bins are never split, so that no count is moved."""
    lower: list[int] = []
    upper: list[int] = []
    counts: list[int] = []
    place = None
    for low, high, count in zip(histogram.lower_ns, histogram.upper_ns, histogram.counts, strict=True):
        if low // width == place:
            upper[-1], counts[-1] = high, counts[-1] + count
        else:
            lower.append(low)
            upper.append(high)
            counts.append(count)
        place = low // width
    for i in range(len(lower)):  # a bar is as wide as its bin, if its neighbours leave room
        lower[i] = max(
            min(lower[i], lower[i] // width * width), upper[i - 1] if i else lower[i] // width * width
        )
        end = max(upper[i], (lower[i] // width + 1) * width)
        upper[i] = max(upper[i], min(end, lower[i + 1] if i + 1 < len(lower) else end))
    return Histogram(tuple(lower), tuple(upper), tuple(counts))


def width_on(x: Scale) -> int:
    """The width on a linear axis, in nanoseconds."""
    return max(1, round((x.high - x.low) / ACROSS))


def picture_on(binned: Histogram, x: Scale, y: Scale, largest: int, height: int) -> Picture:
    """The bars, with a label at the largest value, which says so if it is beyond the axis."""
    high, low = _outlines(binned, x, y, height)
    there = min(1.0, max(0.0, x.at(largest)))
    shown = time_text(largest)
    text = (
        Caption("max {largest}", largest=shown)
        if largest <= x.high
        else Caption("max {largest}, beyond the axis", largest=shown)
    )
    return Picture(
        x=x,
        y_ticks=y.ticks(3 if y.log else 4),
        marks=el("path", {"class": "bars", "d": high})
        + (el("path", {"class": "few", "d": low}) if low else ""),
        width=WIDTH,
        height=2.0 * height,
        notes=[
            Note(there, 0.06, "", "down", "c-max"),
            Note(there, 0.42, text),
        ],
    )


def _outlines(binned: Histogram, x: Scale, y: Scale, height: int) -> tuple[str, str]:
    tall: list[str] = []
    few: list[str] = []
    for low, high, count in zip(binned.lower_ns, binned.upper_ns, binned.counts, strict=True):
        left, right = (round(min(1.0, max(0.0, x.at(v))) * WIDTH, 1) for v in (low, high))
        up = min(1.0, y.at(count)) * height
        here, pixels = (tall, up) if up >= SEEN else (few, MARK)
        here.append(
            f"M{left:g},{2 * height}V{2 * (height - pixels):.0f}H{max(right, left + 1):g}V{2 * height}z"
        )
    return "".join(tall), "".join(few)


def left_out(
    within: ClippedHistogram, binned: Histogram, x: Scale, y: Scale, largest: int, things: Text
) -> Listed:
    """How many samples there are, and what a panel does not show of them: those outside the axis, and bars cut off
    above it."""
    total = sum(binned.counts) + within.beyond + within.below
    texts: list[Text] = [Listed((grouped(total), things), " ")]
    if within.beyond:
        count, edge = grouped(within.beyond), time_text(x.high)
        texts.append(
            Caption(
                "{count} beyond {edge}, up to {largest}", count=count, edge=edge, largest=time_text(largest)
            )
        )
    if within.below:
        texts.append(Caption("{count} below {edge}", count=grouped(within.below), edge=time_text(x.low)))
    if over := [count for count in binned.counts if count > y.high]:
        top, most = tick_text(y.high, "count", y.high), grouped(max(over))
        texts.append(
            Caption("bars cut off at {top}: {bars}, up to {most}", bars=len(over), top=top, most=most)
        )
    return Listed(tuple(texts), "; ")


def most_in_a_bar(histograms: Sequence[Histogram]) -> int:
    return max((count for histogram in histograms for count in histogram.counts), default=1)
