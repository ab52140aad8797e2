"""What diagnostics need of a cell's samples: made once, kept in summary.json, so that a verdict reads no sample
again. All that is decided from them is decided later (statistics/diagnose.py)."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from msgspec import Struct, field

from howlate.model.decode import plain
from howlate.model.ranges import Count, CpuKey, Int64, Share

BLOCKS = 50
"""Intervals of equal time into which a cell is divided."""


class TailSummary(Struct, frozen=True):
    """The largest samples of a column, in the order in which they came."""

    threshold_ns: Int64
    """About the p99.9; lower where that would leave fewer than 50 samples."""
    exceedances: Count = 0
    """Samples above it, and the releases that were swallowed while one of them was served."""
    theta: Share | None = None
    """The extremal index of these: 1 / the mean size of their clusters. None where there are too few."""
    clusters: tuple[Count, ...] = ()
    """How many clusters of them each block of time has."""
    block_max_ns: tuple[Int64, ...] = ()
    """The largest sample of each block of time."""
    theta_by_cpu: dict[CpuKey, Share] = field(default_factory=dict)
    """Where several CPUs measured: of each one's own exceedances, if it has two of them."""

    def __post_init__(self) -> None:
        must_be_by_block(self.clusters)
        if len(self.block_max_ns) > BLOCKS:
            raise ValueError(f"there are more than {BLOCKS} maxima")

    def to_json(self) -> dict[str, Any]:
        known = {name: value for name, value in plain(self).items() if value or name != "theta_by_cpu"}
        return {**known, "clusters": list(self.clusters), "block_max_ns": list(self.block_max_ns)}


def must_be_by_block(counts: Sized) -> None:
    """ValueError unless there is one for each of BLOCKS, or none."""
    if len(counts) not in (0, BLOCKS):
        raise ValueError(f"there are {len(counts)} counts, not {BLOCKS}")
