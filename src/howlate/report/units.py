"""One unit a table, with as many decimals as its numbers bear."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from howlate.model.summary import ColumnSummary


@dataclass(frozen=True)
class Unit:
    """A unit of time with the decimals that a table uses."""

    name: str
    size: int
    decimals: int

    def text(self, ns: float | None, thousands: str = "") -> str:
        """The number alone; "-" where there is none."""
        if ns is None:
            return "-"
        return f"{ns / self.size:,.{self.decimals}f}".replace(",", thousands)


def unit_for(columns: Iterable[ColumnSummary]) -> Unit:
    """us, as a rule; ns where every maximum is below a microsecond, ms where every mean is at least ten
    milliseconds."""
    found = [c for c in columns if c.max is not None and c.mean is not None]
    if not found:
        return Unit("us", 1000, 1)
    largest = max(c.max or 0 for c in found)
    smallest_mean = min(c.mean or 0.0 for c in found)
    if largest < 1000:
        return Unit("ns", 1, 1)
    if smallest_mean >= 10e6:
        return Unit("ms", 1_000_000, 2)
    fine = smallest_mean < 1_000 or (smallest_mean < 10_000 and largest < 1_000_000)
    return Unit("us", 1000, 2 if fine else 1)


def quantile_name(key: str) -> str:
    """ "0.999" is p99.9."""
    if key == "0.5":
        return "median"
    digits = key.removeprefix("0.").ljust(2, "0")
    return f"p{digits[:2]}" + (f".{digits[2:]}" if len(digits) > 2 else "")


def quantile_keys(columns: Sequence[ColumnSummary], wanted: Sequence[str]) -> tuple[str, ...]:
    """Those of the wanted quantiles that at least one column states, or all if none does."""
    stated = tuple(k for k in wanted if any(c.quantiles.get(k) is not None for c in columns))
    return stated or tuple(wanted)
