"""Histograms of every side under every load, each on a scale of its own, linear in the values (_multiples.py). On the
axes of a published study they are drawn on request (published/as_published.py). What it hides: that
one side's axis may be a thousand times the other's."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._multiples import multiples
from howlate.figures.figure import Chart, Figure, Subject


def draw(subjects: Sequence[Subject]) -> Figure | None:
    return multiples(subjects, own=True)


CHART = Chart("multiples-own", 22, draw, "sides", every=True, folded=True)
