"""Histograms on axes that somebody asks for: bins that are equally wide there, what lies outside is counted and said,
and a bar too low to be seen is drawn as a mark at the foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from howlate.charts._figure import Note, Picture
from howlate.charts._scale import Scale, text_of
from howlate.charts._svg import el
from howlate.charts._words import grouped, time_text
from howlate.language import N_, _
from howlate.model.bins import Histogram

WIDTH = 1000.0
ACROSS = 250
"""Bars of a linear axis: of 0 to 1000 us each is 4 us wide."""
SEEN = 1.5
"""Pixels; a bar that is lower is drawn as a mark."""
MARK = 4
"""Pixels of such a mark."""
FEW = N_(" A bar too low to be seen is a mark at the foot.")


@dataclass(frozen=True)
class Within:
    """A histogram as far as it lies in a range. A given bin (at most 0.8 % wide) is never split: it is
    where its middle is."""

    inside: Histogram
    below: int
    beyond: int

    @classmethod
    def of(cls, histogram: Histogram, x: Scale) -> Within:
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
    """Bins at least so wide, from zero on: the given ones are never split, so that no count is moved."""
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
    for i in range(len(lower)):  # a bar is as wide as its bin, where its neighbours leave room
        lower[i] = max(
            min(lower[i], lower[i] // width * width), upper[i - 1] if i else lower[i] // width * width
        )
        end = max(upper[i], (lower[i] // width + 1) * width)
        upper[i] = max(upper[i], min(end, lower[i + 1] if i + 1 < len(lower) else end))
    return Histogram(tuple(lower), tuple(upper), tuple(counts))


def width_on(x: Scale) -> int:
    """Of a bin on a linear axis, in nanoseconds."""
    return max(1, round((x.high - x.low) / ACROSS))


def picture_on(binned: Histogram, x: Scale, y: Scale, largest: int, height: int) -> Picture:
    """The bars, with a word at the largest value, which says so where it is beyond the axis."""
    high, low = _outlines(binned, x, y, height)
    there = min(1.0, max(0.0, x.at(largest)))
    text = _("max {largest}") if largest <= x.high else _("max {largest}, beyond the axis")
    return Picture(
        x=x,
        y_ticks=y.ticks(3 if y.log else 4),
        marks=el("path", {"class": "bars", "d": high})
        + (el("path", {"class": "few", "d": low}) if low else ""),
        width=WIDTH,
        height=2.0 * height,
        notes=[
            Note(there, 0.06, "", "down", "c-max"),
            Note(there, 0.42, text.format(largest=time_text(largest))),
        ],
    )


def _outlines(binned: Histogram, x: Scale, y: Scale, height: int) -> tuple[str, str]:
    """The bars that can be seen, and marks for the others."""
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


def said_of_range(within: Within, binned: Histogram, x: Scale, y: Scale, largest: int, of: str) -> str:
    """What a panel does not show as it is: samples outside of the axis, bars that end above it. "" where all is."""
    said: list[str] = []
    if within.beyond:
        text = _("{count} beyond {edge}, up to {largest}")
        said.append(
            text.format(count=grouped(within.beyond), edge=time_text(x.high), largest=time_text(largest))
        )
    if within.below:
        said.append(_("{count} below {edge}").format(count=grouped(within.below), edge=time_text(x.low)))
    if over := [count for count in binned.counts if count > y.high]:
        text = _("bars that go on above {top}: {bars}, up to {most}")
        top = text_of(y.high, "count", y.high)
        said.append(text.format(bars=len(over), top=top, most=grouped(max(over))))
    return "; ".join([f"{grouped(total_of(binned) + within.beyond + within.below)} {of}", *said])


def total_of(histogram: Histogram) -> int:
    return sum(histogram.counts)


def most_in_a_bar(some: Sequence[Histogram]) -> int:
    return max((count for one in some for count in one.counts), default=1)
