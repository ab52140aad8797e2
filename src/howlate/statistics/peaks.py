"""The largest samples of a row, which an extrapolation is fitted to (verdict/extrapolate.py)."""

from __future__ import annotations

from msgspec import Struct

from howlate.statistics.describe import Int64s

MOST_PEAKS = 4_000
"""Samples in the largest tail that is looked at."""


class Peaks(Struct, frozen=True):
    """The largest samples of a row, in the order in which they came."""

    values_ns: Int64s
    positions: Int64s | None
    """Strictly increasing; None where the order is not known."""
    length: int
    """The number of positions."""
    samples: int
