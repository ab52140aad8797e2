"""A distribution as one line of text: how many samples lie in each column of an axis that several lines share.

The signs are logarithmic: the lowest stands for one sample, the highest for the fullest column of the line. The
deadline has a column of its own, so that no column holds values on both sides of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec import Struct
from rich.cells import cell_len

from howlate.figures.scale import Scale, knee_of, octaves, value_at
from howlate.model.bins import Histogram
from howlate.words.say import text_of

BLOCKS = "▁▂▃▄▅▆▇█"
LETTERS = ".:-=+*#%@"
"""Where the terminal has no UTF-8."""
LARGEST = "X"


class StripAxis(Struct, frozen=True, dict=True):
    """A logarithmic axis over a number of characters; nearly linear around zero where there are values below."""

    scale: Scale
    width: int
    deadline_ns: int = 0
    """0: none is marked."""

    @classmethod
    def around(cls, values: Iterable[int], width: int, deadline_ns: int = 0) -> StripAxis:
        """From the smallest to the largest of the values."""
        known = [*values, *([deadline_ns] if deadline_ns else [])] or [1000]
        low, high = float(min(known)), float(max(known))
        if knee := knee_of(low, high):
            first, last = octaves(low, knee), octaves(high, knee)
            gap = 0.0 if last - first >= 1 else 1.0
            scale = Scale(
                value_at(first - gap, knee), value_at(last + gap, knee), log=True, kind="ns", knee=knee
            )
        else:
            scale = (
                Scale(low, high, log=True, kind="ns")
                if high >= 2 * low
                else Scale(low / 2, high * 2, log=True, kind="ns")
            )
        return cls(scale, width, deadline_ns)

    @cached_property
    def mark(self) -> int | None:
        return self._plain(self.deadline_ns) if self.deadline_ns else None

    def place(self, ns: float) -> int:
        """The column of a value: on its side of the deadline, however near."""
        mark = self.mark
        if mark is None:
            return self._plain(ns)
        columns = self.width - 1
        here = min(columns - 1, max(0, int(self.scale.at(ns) * columns + 1e-9)))
        return max(here, mark) + 1 if ns > self.deadline_ns else min(here, mark - 1)

    def _plain(self, ns: float) -> int:
        first, last = (1, self.width - 2) if self.deadline_ns else (0, self.width - 1)
        return min(last, max(first, int(self.scale.at(ns) * self.width + 1e-9)))

    def ticks(self) -> str:
        """The line above: each text begins at its value."""
        line = ""
        for share, caption in self.scale.ticks(max(2, self.width // 10)):
            text = plain(text_of(caption))
            at = min(self.width - 1, max(0, int(share * self.width + 1e-9)))
            if at > cell_len(line) + (1 if line else -1) and at + cell_len(text) <= self.width:
                line += " " * (at - cell_len(line)) + text
        return line


def plain(text: str) -> str:
    """A time as it is typed: "100us"."""
    return text.replace("\u202f", "").replace("µ", "u")


def strip(
    axis: StripAxis, histograms: Sequence[Histogram], max_ns: int | None, *, letters: bool = False
) -> list[tuple[str, str]]:
    """The line as texts with what each is: "in time", "late", "deadline", "max"; "late" only behind a deadline.
    Nothing for an axis without columns."""
    if not axis.width:
        return []
    signs = LETTERS if letters else BLOCKS
    counts = [0] * axis.width
    for each in histograms:
        for low, high, count in zip(each.lower_ns, each.upper_ns, each.counts, strict=True):
            counts[axis.place(min((low + high - 1) / 2, high if max_ns is None else max_ns))] += count
    most = max(counts, default=0)
    mark, largest = axis.mark, None if max_ns is None else axis.place(max_ns)
    drawn: list[tuple[str, str]] = []
    for column, count in enumerate(counts):
        kind = "late" if mark is not None and column > mark else "in time"
        sign = signs[_level(count, most, len(signs))] if count else " "
        if column == mark:
            sign, kind = "|" if letters else "│", "deadline"
        elif column == largest:
            sign, kind = LARGEST, "max"
        if drawn and drawn[-1][1] == kind:
            drawn[-1] = (drawn[-1][0] + sign, kind)
        else:
            drawn.append((sign, kind))
    return drawn


def _level(count: int, most: int, levels: int) -> int:
    """One sample is the lowest, the fullest column the highest."""
    return round((levels - 1) * math.log(count) / math.log(most)) if most > 1 else 0
