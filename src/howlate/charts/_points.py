"""What charts over points share: a point's spread, its kernel's place among the others, and what else it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from howlate.charts._figure import Subject
from howlate.language import _
from howlate.stats.groups import ColumnSpread

_KERNEL = re.compile(
    r"(?P<series>\d+\.\d+)(?P<rt>-rt)?(?:@(?P<arch>\w+))?(?:=[^\[]*)?(?P<parameters>\[.*\])?"
)


@dataclass(frozen=True)
class Point:
    """A point of the study with the spread over its repetitions."""

    name: str
    """What tells it from the other points of its panel."""
    labels: Mapping[str, str]
    column: str
    spread: ColumnSpread
    said: str
    """Of how many repetitions: "8", "7 of 8"."""


@dataclass(frozen=True)
class Version:
    """What a kernel's label says."""

    series: str
    rt: bool
    arch: str
    parameters: str

    @property
    def key(self) -> tuple[int, ...]:
        """For the order of the series: 5.10 comes after 5.4."""
        return tuple(int(part) for part in self.series.split("."))


def version_of(kernel: str) -> Version | None:
    """None for a label of another make: a kernel of the user's own."""
    match = _KERNEL.fullmatch(kernel)
    if match is None:
        return None
    return Version(
        match["series"], match["rt"] is not None, match["arch"] or "amd64", match["parameters"] or ""
    )


def points_of(subjects: Sequence[Subject]) -> list[Point]:
    """The subjects that are points and have a valid repetition, named by all that varies."""
    found = [(s, s.group) for s in subjects if s.group is not None]
    points = []
    for subject, group in found:
        column = subject.bins.column if subject.bins is not None else "latency_ns"
        spread = group.spread(column)
        if spread is not None:
            points.append(Point(subject.label, group.labels, column, spread, group.of))
    return points


def varying(points: Sequence[Point]) -> list[str]:
    """Labels in which the points differ."""
    names = dict.fromkeys(name for p in points for name in p.labels)
    return [name for name in names if len({p.labels.get(name) for p in points}) > 1]


def by_rest(points: Sequence[Point], axis: str = "kernel") -> list[tuple[str, list[Point]]]:
    """A panel for everything that varies beside the kernel, its points named by the kernel; one panel where the
    kernel does not vary."""
    vary = varying(points)
    if axis not in vary:
        return [(_("All points"), list(points))]
    rest = [name for name in vary if name != axis]
    panels: dict[str, list[Point]] = {}
    for point in points:
        title = ", ".join(f"{name} {point.labels.get(name, '-')}" for name in rest) or _("All kernels")
        name = point.labels.get(axis, point.name)
        panels.setdefault(title, []).append(Point(name, point.labels, point.column, point.spread, point.said))
    return list(panels.items())
