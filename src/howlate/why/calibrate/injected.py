"""Delays of known size that were made while a cell was measured (docs/stream.md, table `injections`)."""

from __future__ import annotations

from msgspec import Struct


class MadeDelay(Struct, frozen=True):
    """One delay, by the clock at both ends. Times are since the first release."""

    begin_ns: int
    end_ns: int
    wanted_ns: int
    cpu: int
    pid: int = 0
    """In whose context it was; 0: no task's."""
    is_as_wanted: bool = True
    uncertainty_ns: int = 0
    """By how much the end may lie before or after `end_ns`."""


class Window(Struct, frozen=True):
    """One sample: from its release to its time stamp the task could be delayed."""

    thread: int
    cpu: int
    release: int
    release_ns: int
    latency_ns: int

    @property
    def stamp_ns(self) -> int:
        return self.release_ns + self.latency_ns

    def overlap_ns(self, delay: MadeDelay) -> int:
        """How much of the delay is in it; 0 or less: nothing."""
        return min(delay.end_ns, self.stamp_ns) - max(delay.begin_ns, self.release_ns)


class InjectedCell(Struct, frozen=True):
    """A cell's samples, and the delays that were made meanwhile."""

    id: str
    kernel: str
    kind: str
    """The kind of the delays; "" if there were none."""
    windows: tuple[Window, ...]
    delays: tuple[MadeDelay, ...] = ()
