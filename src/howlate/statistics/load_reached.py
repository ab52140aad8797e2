"""Whether a load was there: its goal, what it achieved, and the statement if that is too little
(docs/loads/README.md, "When a load counts as there")."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from howlate.words.quantities import bytes_text, percent, rate_text
from howlate.words.statement import Statement, message

LOADED_SHARE = 0.5
"""A load below this share of what it is held against was not there. The probe applies the same limit when it
is used by hand (probe/src/loads/base/goal.hpp)."""
CPU = "CPU"
"""The unit of a share of the CPUs given to a load, from 0 to 1."""
BYTES = "B/s"

NOT_LOADED = message("load.not-loaded", "not loaded: {reason}.")
BELOW_TARGET = message(
    "load.below-target", "the load {load} achieved {achieved}, and its target is {expected}"
)
BELOW_ALONE = message(
    "load.below-alone", "the load {load} achieved {achieved}, and {expected} while nothing was measured"
)
NOTHING_DONE = message(
    "load.nothing-done", "the load {load} completed no {operation} in the {duration_ns:given} of the cell"
)


class LoadGoal(Struct, frozen=True):
    """One load's goal, and what it achieved while the cell was measured."""

    unit: str
    """CPU, or the load's own unit a second: "B/s"."""
    target: float | None
    """None if the load asks for as much as the machine gives."""
    reference: float | None
    """What it achieved without a measurement, together with the cell's other loads; None if that
    was not measured."""
    achieved: float
    operation: str = ""
    """What `operations` counts: "fsyncs"."""
    operations: int = 1
    duration_ns: int = 0

    @property
    def expected(self) -> float | None:
        """What it is held against: the smaller of target and reference."""
        known = [value for value in (self.target, self.reference) if value is not None]
        return min(known, default=None)

    @property
    def share(self) -> float | None:
        """Achieved divided by expected; None if nothing is expected of it."""
        return self.achieved / self.expected if self.expected else None


def not_loaded(load: str, goal: LoadGoal) -> Statement | None:
    """Why the cell was not under this load; None if it was."""
    if not goal.unit or (goal.target is not None and goal.target <= 0):
        return None
    expected, share = goal.expected, goal.share
    if expected is None or share is None or share >= LOADED_SHARE:
        if goal.operations:
            return None
        return NOTHING_DONE(load=load, operation=goal.operation, duration_ns=goal.duration_ns)
    is_target = goal.target is not None and expected >= goal.target
    return (BELOW_TARGET if is_target else BELOW_ALONE)(
        load=load, achieved=_amount(goal.achieved, goal.unit), expected=_amount(expected, goal.unit)
    )


def percents(shares: Iterable[float]) -> str:
    """The shares of several cells: "96..98 %"."""
    each = sorted(shares)
    low, high = percent(each[0]), percent(each[-1])
    return low if low == high else f"{low.removesuffix(' %')}..{high}"


def _amount(value: float, unit: str) -> str:
    if unit == BYTES:
        return f"{bytes_text(value)}/s"
    return f"{percent(value)} {unit}" if unit == CPU else f"{rate_text(value)} {unit}"
