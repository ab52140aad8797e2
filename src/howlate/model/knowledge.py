"""What is known of a cell's samples besides their values. howlate's own measurements know all of it; a file of
another tool does not, and what it cannot know limits what may be claimed (docs/verdict.md)."""

from __future__ import annotations

from msgspec import Struct

from howlate.model.ranges import Count, Int64


class Knowledge(Struct, frozen=True):
    """A cell's samples as far as they are known: the defaults are those of a cell that howlate measured."""

    time_order: bool = True
    """In which order the samples came. False of a histogram: no diagnostic can be made, so no rate is bounded."""
    missed_releases: bool = True
    """Releases without an activation were counted, in `accounting.overruns`. False: that 0 means nothing."""
    overflow: Count | None = 0
    """Samples above the range of the tool's histogram, whose values are not known; None: perhaps some, uncounted."""
    overflow_from_ns: Int64 | None = None
    """Where that range ends: every sample of the overflow is at least so large."""
    exact_max: bool = True
    """The column's `max` is the largest value that occurred. False: the largest is at least that."""
    resolution_ns: Count = 1
    """A value v stands for a latency from v up to, not including, v + resolution_ns."""
    threshold_ns: Count | None = 0
    """Of a test that waits for gaps: up to this length it does not see them; None: the file does not say it."""

    @property
    def complete(self) -> bool:
        """Nothing limits what may be claimed."""
        return self == EVERYTHING


EVERYTHING = Knowledge()
"""The knowledge of howlate's own cells."""
