"""Scales and ticks. The page's script (document/page.js) computes the same ticks for a zoomed axis; a browser
test compares them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from howlate.words.quantities import NARROW_SPACE
from howlate.words.say import Text

AxisKind = Literal["ns", "s", "count", "share", "names"]
LINEAR_UP_TO = 8
"""An axis whose ends differ by a smaller factor is linear."""
MOST_LINEAR_NS = 1000.0
"""So far from zero an axis with values below it is linear at most: a microsecond."""


class Scale(Struct, frozen=True):
    """Maps values to a share (0..1) of an axis."""

    low: float
    high: float
    log: bool
    kind: AxisKind
    names: tuple[Text, ...] = ()
    """For the kind "names": the texts at 0.5, 1.5, ... of the axis."""
    knee: float = 0.0
    """Of a logarithmic axis with values of 0 or below: it is nearly linear from -knee to knee, and logarithmic beyond
    on both sides. 0: all values are above zero."""

    def at(self, value: float) -> float:
        """The share of the axis at which the value lies; not clamped."""
        if self.log and self.knee:
            first, last, here = (octaves(v, self.knee) for v in (self.low, self.high, value))
            return (here - first) / (last - first)
        if self.log:
            return math.log(max(value, 1e-300) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, about: int) -> tuple[tuple[float, Text], ...]:
        """Places (shares) and texts of about this many ticks; all ticks for names."""
        if self.kind == "names":
            return tuple((self.at(i + 0.5), name) for i, name in enumerate(self.names))
        if self.log and self.knee:
            values = bent_ticks(self.low, self.high, self.knee, about)
        else:
            values = (log_ticks if self.log else linear_ticks)(self.low, self.high, about)
        return tuple((self.at(v), tick_text(v, self.kind, self.high)) for v in values)


def linear_ticks(low: float, high: float, about: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within [low, high]."""
    step = _step((high - low) / max(1, about))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def log_ticks(low: float, high: float, about: int) -> list[float]:
    """Powers of ten, with 2 and 5 between if there is room, every n-th if there is not; linear within less
    than a decade."""
    decades = math.log10(high / low)
    if decades < 0.9:
        return linear_ticks(low, high, about)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    factors = (1, 2, 5) if decades * 3 <= about + 1 else (1,)
    every = max(1, math.ceil(decades / max(1, about) - 1e-9)) if len(factors) == 1 else 1
    values = [f * 10.0**e for e in range(first, last + 1) if e % every == 0 for f in factors]
    return [v for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]


def bent_ticks(low: float, high: float, knee: float, about: int) -> list[float]:
    """Zero, and powers of ten from the knee on, on both sides; those of a plain axis where all values lie on one side
    beyond the knee, or hardly any beyond it."""
    near, far = sorted((abs(low), abs(high)))
    if (low > 0 or high < 0) and near >= knee:
        return log_ticks(low, high, about) if low > 0 else [-v for v in reversed(log_ticks(near, far, about))]
    if far <= LINEAR_UP_TO * knee:
        return linear_ticks(low, high, about)
    powers = range(math.floor(math.log10(knee / 2)), math.ceil(math.log10(far)) + 1)
    places = [f * 10.0**e for e in powers for f in (1, 2, 5) if f * 10.0**e >= knee / 2]
    values = [v for v in (*(-p for p in reversed(places)), 0.0, *places) if low <= v <= high]
    if len(values) <= about + 1:
        return values
    tens = [v for v in values if v == 0 or _is_power(v)]
    every = max(1, math.ceil(len(tens) / max(1, about) - 1e-9))
    return [v for v in tens if v == 0 or round(math.log10(abs(v))) % every == 0]


def _is_power(value: float) -> bool:
    return math.isclose(abs(value), 10.0 ** round(math.log10(abs(value))))


def octaves(value: float, knee: float) -> float:
    """The place of a value on an axis with a knee: twice as far from zero is 1 further where it is logarithmic."""
    return math.asinh(value / knee) / math.log(2)


def knee_of(low: float, high: float) -> float:
    """Where an axis of these values becomes logarithmic; 0 if it is so everywhere, because all are above zero."""
    if low > 0:
        return 0.0
    return 1.0 if high < 0 else max(1.0, min(-low, high, MOST_LINEAR_NS))


def _step(rough: float) -> float:
    base = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return next((f * base for f in (1, 2, 5) if rough <= f * base * (1 + 1e-9)), 10 * base)


def tick_text(value: float, kind: AxisKind, largest: float) -> str:
    if kind == "ns":
        return time_tick(value)
    if kind == "s":
        return clock_tick(value, largest)
    if kind == "share":
        return percent_text(value)
    return count_tick(value)


def percent_text(share: float) -> str:
    """A share in per cent, to a tenth."""
    return f"{shortest(round(share * 100, 1))}{NARROW_SPACE}%"


def shortest(value: float) -> str:
    """At most seven significant digits, none of them needless, never an exponent."""
    text = f"{value:.7g}"
    return text if "e" not in text else f"{value:f}".rstrip("0").rstrip(".")


def time_tick(ns: float) -> str:
    """Nanoseconds in the unit that reads best."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(ns) >= size * (1 - 1e-9):
            return f"{shortest(ns / size)}{NARROW_SPACE}{unit}"
    return f"{shortest(ns)}{NARROW_SPACE}ns" if ns else "0"


def clock_tick(seconds: float, largest: float) -> str:
    """Seconds since the start; minutes and hours for a long run."""
    size, unit = (3600.0, "h") if largest >= 3 * 3600 else (60.0, "min") if largest >= 600 else (1.0, "s")
    return f"{shortest(seconds / size)}{NARROW_SPACE}{unit}" if seconds else "0"


def count_tick(value: float) -> str:
    """1, 10, 100, 1k, 10k, 1M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{shortest(value / size)}{unit}"
    return shortest(value)


def spread(low: float, high: float, kind: AxisKind, room: float = 0.03) -> Scale:
    """A scale around values of any sign, with a little room at both ends: linear if all are on one side of zero and
    span at most a factor of 8, otherwise logarithmic."""
    high = max(high, low)
    knee, (near, far) = knee_of(low, high), sorted((abs(low), abs(high)))
    if (low > 0 or high < 0) and far <= LINEAR_UP_TO * near:
        gap = (high - low) * room or far * 0.05
        ends = (max(0.0, low - gap), high + gap) if low > 0 else (low - gap, min(0.0, high + gap))
        return Scale(*ends, log=False, kind=kind, knee=knee)
    if not knee:
        factor = (high / low) ** room
        return Scale(low / factor, high * factor, log=True, kind=kind)
    first, last = octaves(low, knee), octaves(high, knee)
    gap = (last - first) * room or 0.5
    return Scale(value_at(first - gap, knee), value_at(last + gap, knee), log=True, kind=kind, knee=knee)


def value_at(place: float, knee: float) -> float:
    """The inverse of `octaves`."""
    return knee * math.sinh(place * math.log(2))


class AxisRange(Struct, frozen=True):
    """A range that the user requests for an axis; None: as the chart finds it in the data."""

    low: float | None = None
    high: float | None = None
    log: bool | None = None


Axes = Mapping[str, AxisRange]
"""By the names of AXES."""
AXES: Mapping[str, AxisKind] = {
    "latency": "ns",
    "counts": "count",
    "time": "s",
    "number": "count",
    "runtime": "ns",
}
"""The axes that the user can set, and their values: times of samples, samples in a bin, time since the start,
the number of a load (`hackbench:10`), the duration of a load's own runs."""
OWN_AXES: Axes = {}
LEAST: Mapping[AxisKind, float] = {"ns": 1.0, "count": 0.6, "s": 1e-3}
"""The minimum start of a logarithmic axis: below a count of 1, so that a bin with one sample has a height."""


def with_range(chosen: Scale, axis: AxisRange | None) -> Scale:
    """A chart's own scale, with the user's changes. A linear one begins at 0, or at the smallest value if that is
    negative, unless told otherwise; a range that contains 0 makes it linear, unless it is to be logarithmic beyond a
    knee."""
    if axis is None or axis == AxisRange():
        return chosen
    from_zero = axis.low is not None and axis.low <= 0
    log = axis.log if axis.log is not None else chosen.log and not from_zero
    bent = axis.low is None and (chosen.low < 0 or chosen.knee > 0)
    first = LEAST.get(chosen.kind, 1.0) if log else 0.0
    if axis.low is not None:
        low = axis.low
    elif log:
        low = chosen.low if bent else max(chosen.low, first)
    else:
        low = min(chosen.low, first)
    high = axis.high if axis.high is not None else chosen.high
    if high <= low:  # all values lie on the other side of the end that was asked for
        if axis.low is None:
            low = high / 2 if high > 0 else high * 2 or -1.0
        else:
            high = low * 2 if low > 0 else low / 2 or 1.0
    return Scale(low, high, log, chosen.kind, chosen.names, knee_of(low, high) if low <= 0 else 0.0)


def from_zero(largest: float, kind: AxisKind, room: float = 0.05, smallest: float = 0.0) -> Scale:
    """A linear scale with zero in it, with a little room above the largest value and below a smallest one that is
    negative."""
    low, high = min(0.0, smallest, largest), max(0.0, largest)
    gap = (high - low) * room or 1.0
    return Scale(
        low - gap if low < 0 else 0.0, high + gap if high > 0 or low == 0 else 0.0, log=False, kind=kind
    )
