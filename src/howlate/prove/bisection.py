"""Which step of an ordered list first crosses a limit, by asking few of them (docs/lab/bisect.md). Pure.

A deterministic figure is not a representative one: a parameter without a meaning moved one maximum by 38 %. So a step
is good or bad only if all its seeds are on one side of the limit, and not near it; any other is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct, field

SEEDS = 8
"""Phases of the load in which a step is measured."""
MARGIN = 0.1
"""A figure nearer to the limit than this share of it decides nothing."""


class Step(Struct, frozen=True):
    """One kernel."""

    name: str
    change: str
    """What differs from the step before; "" in the first."""
    label: str = ""
    """The label of one of the archive's; "" for one that is built."""


class StepSide(Enum):
    """What a step is."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"
    """It cannot be built, booted or measured, or its seeds do not agree."""


def side_of(largest_ns: Sequence[int], limit_ns: int) -> StepSide:
    """By the largest latency of each seed; SKIP where a seed is missing."""
    if len(largest_ns) < SEEDS:
        return StepSide.SKIP
    if max(largest_ns) <= limit_ns * (1 - MARGIN):
        return StepSide.GOOD
    return StepSide.BAD if min(largest_ns) > limit_ns * (1 + MARGIN) else StepSide.SKIP


class Bisection(Struct):
    """A list of `count` steps, of which the first should be good and the last bad."""

    count: int
    sides: dict[int, StepSide] = field(default_factory=dict)
    """Those of the measured steps."""

    def put(self, step: int, side: StepSide) -> None:
        self.sides[step] = side

    @property
    def ends_differ(self) -> bool | None:
        """Whether the first is good and the last bad; None as long as one of them was not asked."""
        if not {0, self.count - 1} <= self.sides.keys():
            return None
        return self.sides[0] is StepSide.GOOD and self.sides[self.count - 1] is StepSide.BAD

    @property
    def good(self) -> int:
        """The last step that is known to be good, before all that are known to be bad."""
        return max(step for step, side in self.sides.items() if side is StepSide.GOOD and step < self.bad)

    @property
    def bad(self) -> int:
        return min(step for step, side in self.sides.items() if side is StepSide.BAD)

    def next(self) -> int | None:
        """The step to ask: first the two ends, then the one nearest to the middle that was not asked; None where
        nothing is left to ask."""
        for end in (0, self.count - 1):
            if end not in self.sides:
                return end
        if not self.ends_differ:
            return None
        middle = (self.good + self.bad) / 2
        left = [step for step in range(self.good + 1, self.bad) if step not in self.sides]
        return min(left, key=lambda step: abs(step - middle), default=None)

    @property
    def suspects(self) -> range:
        """The steps of which one is the first bad one; empty where the ends do not differ."""
        return range(self.good + 1, self.bad + 1) if self.ends_differ else range(0)
