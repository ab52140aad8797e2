"""Shared code of charts over points: a point's spread, its kernel's rank among the others, and its other
labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from howlate.figures.figure import Subject
from howlate.statistics.groups import ColumnSpread
from howlate.words.say import Text
from howlate.words.statement import Caption

_KERNEL = re.compile(
    r"(?P<series>\d+\.\d+)(?P<rt>-rt)?(?:@(?P<arch>\w+))?(?:=[^\[]*)?(?P<parameters>\[.*\])?"
)


class Point(Struct, frozen=True):
    """A point of the study with the spread over its repetitions."""

    name: Text
    """The labels that distinguish it from the other points of its panel."""
    labels: Mapping[str, str]
    column: str
    spread: ColumnSpread
    repetitions: str
    """The number of repetitions: "8", "7 of 8"."""


class KernelVersion(Struct, frozen=True):
    """The content of a kernel's label."""

    series: str
    rt: bool
    arch: str
    parameters: str

    @property
    def key(self) -> tuple[int, ...]:
        """The sort key of the series: 5.10 comes after 5.4."""
        return tuple(int(part) for part in self.series.split("."))


def version_of(kernel: str) -> KernelVersion | None:
    """None for a label of another form: a kernel of the user's own."""
    match = _KERNEL.fullmatch(kernel)
    if match is None:
        return None
    return KernelVersion(
        match["series"], match["rt"] is not None, match["arch"] or "amd64", match["parameters"] or ""
    )


def points_of(subjects: Sequence[Subject]) -> list[Point]:
    """The subjects that are points and have figures, named by everything that varies."""
    points = []
    for subject in subjects:
        group = subject.group
        if group is None:
            continue
        column = subject.bins.column if subject.bins is not None else "latency_ns"
        spread = group.spread(column)
        if spread is not None:
            points.append(Point(subject.label, group.labels, column, spread, group.of))
    return points


def varying(points: Sequence[Point]) -> list[str]:
    names = dict.fromkeys(name for p in points for name in p.labels)
    return [name for name in names if len({p.labels.get(name) for p in points}) > 1]


def by_rest(points: Sequence[Point]) -> list[tuple[Text, list[Point]]]:
    """A panel for each combination of labels other than the kernel, its points named by the kernel; one panel
    if the kernel does not vary."""
    vary = varying(points)
    if "kernel" not in vary:
        return [(Caption("All points"), list(points))]
    rest = [name for name in vary if name != "kernel"]
    panels: dict[Text, list[Point]] = {}
    for point in points:
        title: Text = ", ".join(f"{name} {point.labels.get(name, '-')}" for name in rest) or Caption(
            "All kernels"
        )
        name = point.labels.get("kernel", point.name)
        panels.setdefault(title, []).append(
            Point(name, point.labels, point.column, point.spread, point.repetitions)
        )
    return list(panels.items())
