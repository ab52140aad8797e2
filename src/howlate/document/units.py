"""One unit a table, with as many decimals as its numbers bear."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from msgspec import Struct

from howlate.model.summary import ColumnSummary
from howlate.words.quantities import NARROW_SPACE, Rounds


class Unit(Struct, frozen=True):
    """A unit of time with the decimals that a table uses."""

    name: str
    size: int
    decimals: int

    @property
    def sign(self) -> str:
        return "µs" if self.name == "us" else self.name

    def text(self, ns: float, rounds: Rounds = round) -> str:
        step = 10**self.decimals
        rounded = ns / self.size if rounds is round else rounds(ns * step / self.size) / step
        return f"{rounded:,.{self.decimals}f}".replace(",", NARROW_SPACE)


def unit_for(columns: Iterable[ColumnSummary]) -> Unit:
    """us, as a rule; ns where every maximum is below a microsecond or the typical mean far below; ms where every mean
    is at least ten milliseconds. One row alone (a timer that spins) does not choose for the others."""
    found = [c for c in columns if c.max is not None and c.mean is not None]
    if not found:
        return Unit("us", 1000, 1)
    largest = max(c.max or 0 for c in found)
    smallest_mean = min(c.mean or 0.0 for c in found)
    typical_mean = median(c.mean or 0.0 for c in found)
    if largest < 1000 or typical_mean < 200:
        return Unit("ns", 1, 1)
    if smallest_mean >= 10e6:
        return Unit("ms", 1_000_000, 2)
    fine = typical_mean < 1_000 or (typical_mean < 10_000 and largest < 1_000_000)
    return Unit("us", 1000, 2 if fine else 1)
