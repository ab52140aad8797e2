"""The spread of one figure over repetitions: of seeds in virtual time, of repeated cells in real time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from msgspec import Struct


class Spread(Struct, frozen=True):
    """One figure over the repetitions. The median of an even number is the mean of the middle two."""

    smallest: float
    median: float
    largest: float


def spread_of(values: Sequence[float]) -> Spread | None:
    return Spread(min(values), float(median(values)), max(values)) if values else None
