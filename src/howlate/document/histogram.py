"""The latency histogram, as a sheet for the terminal: a row for each logarithmic bin, a column for each row of the
tables."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

from howlate.charts.histogram import FINEST, edge, place_at, place_of
from howlate.document.sheet import Column, Sheet, SheetCell, numbers
from howlate.figures.figure import Subject, names_of
from howlate.figures.scale import knee_of
from howlate.model.bins import Histogram
from howlate.words.language import _
from howlate.words.quantities import exact_text, time_text
from howlate.words.say import text_of

ROWS = 16
"""Largest number of bins; more only where the values span more octaves."""


def sheet(subjects: Sequence[Subject]) -> Sheet | None:
    """The same bins for all subjects, empty ones between others included; None where nothing has bins."""
    drawn = [
        (text_of(s.label), s.bins.histogram)
        for s in subjects
        if s.bins is not None and s.bins.histogram.counts
    ]
    if not drawn:
        return None
    low_ns, high_ns = min(h.lower_ns[0] for _, h in drawn), max(h.upper_ns[-1] for _, h in drawn)
    edges = _edges(low_ns, high_ns)
    counted = [(label, _counts(histogram, edges)) for label, histogram in drawn]
    texts = [time_text(ns) for ns in edges]
    if len({*texts}) < len(edges):  # narrow, and far from zero
        texts = [exact_text(ns) for ns in edges]
    low = (SheetCell(text, ns) for text, ns in zip(texts, edges, strict=True))
    title, what, things = map(text_of, names_of(subjects))
    return Sheet(
        "histogram",
        _("{what}: {things} per bin").format(what=title, things=things),
        (
            Column("from", _("from"), tuple(low), label=True),
            *(numbers(f"count-{i}", label, counts) for i, (label, counts) in enumerate(counted)),
        ),
        notes=(_("A bin ends where the next one begins. The bars are logarithmic; the shortest is 1."),),
        kind="histogram",
        about=what,
    )


def _edges(low_ns: int, high_ns: int) -> list[int]:
    """Where the bins begin: a power of two of them an octave, on edges of the data's own bins."""
    knee = knee_of(low_ns, high_ns)
    octaves = place_at(high_ns, knee) - place_at(low_ns, knee)
    bits = max(0, min(FINEST, math.floor(math.log2(ROWS / max(octaves, 0.5)))))
    places = range(place_of(low_ns, low_ns + 1, bits, knee), place_of(high_ns - 1, high_ns, bits, knee) + 1)
    edges = {
        edge(place, bits, knee) for place in places
    }  # close to zero several begin at the same nanosecond
    return sorted({low_ns, *(ns for ns in edges if low_ns < ns < high_ns)})


def _counts(histogram: Histogram, edges: Sequence[int]) -> list[int]:
    """Counts of the bins that begin at these edges; no sample is lost."""
    counts = [0] * len(edges)
    for low, high, count in zip(histogram.lower_ns, histogram.upper_ns, histogram.counts, strict=True):
        counts[max(0, bisect_right(edges, (low + high - 1) / 2) - 1)] += count
    return counts
