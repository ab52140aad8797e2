"""Whether a load was there: what it was to achieve, what it did, and the sentence where that is too little
(docs/loads/README.md, "When a load counts as there")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LOADED_SHARE = 0.5
"""A load below this part of what it is held against was not there. The probe says the same when it is used by hand
(probe/src/loads/base/goal.hpp)."""
NOT_LOADED = "not loaded: "
"""How the sentence begins."""
CPU = "CPU"
"""The unit of a share of the CPUs that a load was given, from 0 to 1."""
BYTES = "B/s"


@dataclass(frozen=True)
class LoadGoal:
    """One load's goal, and how far it came while the cell was measured."""

    unit: str
    """CPU, or the load's own unit a second: "B/s"."""
    target: float | None
    """None where the load asks for as much as the machine gives."""
    reference: float | None
    """What it did with nothing measured beside it, in the company of the cell's other loads; None where nobody
    looked."""
    achieved: float
    deed: str = ""
    """What is counted in `deeds`: "fsyncs"."""
    deeds: int = 1
    duration_ns: int = 0

    @property
    def expected(self) -> float | None:
        """What it is held against: its target, but no more than its reference."""
        known = [value for value in (self.target, self.reference) if value is not None]
        return min(known, default=None)

    @property
    def share(self) -> float | None:
        """Achieved of expected; None where nothing is expected of it."""
        return self.achieved / self.expected if self.expected else None


def not_loaded(spec: str, goal: LoadGoal) -> str:
    """Why the cell was not under this load, as a sentence; "" where it was."""
    if not goal.unit or (goal.target is not None and goal.target <= 0):
        return ""
    who = f"{NOT_LOADED}the load {spec}"
    expected, share = goal.expected, goal.share
    if expected is None or share is None or share >= LOADED_SHARE:
        none = f"{who} made no {goal.deed} in the {_lasted(goal.duration_ns)} of the cell."
        return "" if goal.deeds else none
    against_itself = goal.target is None or expected < goal.target
    beside = "with nothing measured beside it" if against_itself else "were asked for"
    if goal.unit == CPU:
        return f"{who} achieved {percent(goal.achieved)} of its CPUs, {percent(expected)} {beside}."
    return f"{who} achieved {_amount(goal.achieved, goal.unit)}, {_amount(expected, goal.unit)} {beside}."


def least_share(shares: Iterable[float | None]) -> float | None:
    """Of several loads the one that came least near to what was expected of it."""
    return min((share for share in shares if share is not None), default=None)


def percent(share: float) -> str:
    """ "33 %", "0.005 %"."""
    value = 100 * share
    if value == 0 or value >= 9.95:
        return f"{value:.0f} %"
    return f"{value:.1f} %" if value >= 0.95 else f"{value:.1g} %"


def percents(shares: Iterable[float]) -> str:
    """Of several cells: "96..98 %"."""
    each = sorted(shares)
    low, high = percent(each[0]), percent(each[-1])
    return low if low == high else f"{low.removesuffix(' %')}..{high}"


def _amount(value: float, unit: str) -> str:
    if unit != BYTES:
        return f"{value:.2g} {unit}" if value < 10 else f"{value:.0f} {unit}"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}{unit}"
    return f"{value:.3g} {unit}"


def _lasted(ns: int) -> str:
    return f"{ns / 1e6:.3g} ms" if ns < 1_000_000_000 else f"{ns / 1e9:.3g} s"
