"""How often which latency, as a sheet for the terminal: a row for each logarithmic bin, a column for each row of the
tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from howlate.charts._figure import Subject
from howlate.charts._words import names_of
from howlate.charts.histogram import FINEST, place_of
from howlate.model.bins import Histogram
from howlate.report.sheet import Column, Row, Sheet, SheetCell, numbers
from howlate.words.language import _
from howlate.words.quantities import time_text
from howlate.words.say import text_of

ROWS = 16
"""So many bins at most; more only where the values span more octaves."""


def sheet(subjects: Sequence[Subject]) -> Sheet | None:
    """The same bins for all subjects, empty ones between others included; None where nothing has bins."""
    drawn = [
        (text_of(s.label), s.bins.histogram)
        for s in subjects
        if s.bins is not None and s.bins.histogram.counts
    ]
    if not drawn:
        return None
    bits = _bits_for(min(h.lower_ns[0] for _, h in drawn), max(h.upper_ns[-1] for _, h in drawn))
    counted = [(label, _counts(histogram, bits)) for label, histogram in drawn]
    places = range(min(min(counts) for _, counts in counted), max(max(counts) for _, counts in counted) + 1)
    edges = [2.0 ** (place / (1 << bits)) for place in places]
    low = (SheetCell(time_text(edge), round(edge)) for edge in edges)
    title, what, things = map(text_of, names_of(subjects))
    return Sheet(
        "histogram",
        _("{what}: {things} per bin").format(what=title, things=things),
        (
            Column("from", _("from"), tuple(low), label=True),
            *(
                numbers(f"count-{i}", label, [counts[place] for place in places])
                for i, (label, counts) in enumerate(counted)
            ),
        ),
        tuple(Row() for _ in places),
        (_("A bin ends where the next one begins. The bars are logarithmic; the shortest is 1."),),
        kind="histogram",
        about=what,
    )


def _bits_for(low_ns: int, high_ns: int) -> int:
    """Bins per octave, as a power of two."""
    octaves = math.log2(max(high_ns, 2) / max(low_ns, 1))
    return max(0, min(FINEST, math.floor(math.log2(ROWS / max(octaves, 0.5)))))


def _counts(histogram: Histogram, bits: int) -> Counter[int]:
    """Of the equal bins; no sample is lost."""
    counts: Counter[int] = Counter()
    for low, high, count in zip(histogram.lower_ns, histogram.upper_ns, histogram.counts, strict=True):
        counts[place_of(low, high, bits)] += count
    return counts
