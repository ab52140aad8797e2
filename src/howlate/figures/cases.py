"""What the charts of explained samples share: which of them are drawn, where they lie in the course of time, and the
ids by which a sample's point there and its bar lead to each other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from howlate.figures.figure import Subject
from howlate.figures.scale import Axes, Scale, with_range
from howlate.model.bins import CellBins
from howlate.model.cause import ExplainedCase
from howlate.model.columns import LATENCY

MOST = 20
"""Samples of a cell that are drawn: the worst."""
ROUNDED = 1e-3
"""So far beyond the last block a sample of it may seem to lie."""


class DrawnCase(Struct, frozen=True):
    """A sample that is drawn: it has a bar, and a point in the course of time if it lies on that axis."""

    explained: ExplainedCase
    at: float | None
    """The point's share of the axis; None where it has no point."""
    point: str
    """The point's id."""
    bar: str
    """The bar's id."""


def with_course(subjects: Sequence[Subject]) -> list[tuple[int, Subject, CellBins]]:
    """Those that have a course of time, each with its place among all and its bins."""
    held = [(place, s, s.bins) for place, s in enumerate(subjects)]
    return [(place, s, bins) for place, s, bins in held if bins is not None and bins.blocks.start_s]


def time_axis(subjects: Sequence[Subject], axes: Axes) -> Scale | None:
    """The axis that all courses of time share; None where there is none."""
    ends = [bins.blocks.start_s[-1] + bins.blocks.width_s for _place, _s, bins in with_course(subjects)]
    return with_range(Scale(0.0, max(ends), log=False, kind="s"), axes.get("time")) if ends else None


def drawn_cases(place: int, subject: Subject, x: Scale | None) -> list[DrawnCase]:
    """`place`: of the subject among all; `x`: the axis of time."""
    cell = re.sub(r"[^A-Za-z0-9.-]", "_", subject.summary.id)
    drawn = []
    for explained in subject.cases[:MOST]:
        own = f"{place}-{cell}-{explained.case.thread}-{explained.case.release}"
        drawn.append(DrawnCase(explained, _place_in_time(subject, explained, x), f"at-{own}", f"case-{own}"))
    return drawn


def _place_in_time(subject: Subject, explained: ExplainedCase, x: Scale | None) -> float | None:
    bins = subject.bins
    if x is None or bins is None or bins.column != LATENCY or not bins.blocks.start_s:
        return None
    at = x.at(explained.case.release_ns / 1e9)
    return min(1.0, max(0.0, at)) if -ROUNDED <= at <= 1 + ROUNDED else None
