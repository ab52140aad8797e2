"""Histograms of every side under every load on one scale (_multiples.py)."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._multiples import multiples
from howlate.figures.figure import Chart, Figure, Subject
from howlate.figures.scale import OWN_AXES, Axes


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    return multiples(subjects, own=False, axes=axes)


CHART = Chart("multiples", 21, draw, "sides", every=True, axes=("latency", "counts"))
