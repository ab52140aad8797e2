"""What a guest executed in an interval of its virtual time, as logged: addresses of instructions, and what was
noted with them (probe/emulator/trace.cpp)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Addresses = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]


class LoggedSpan(Struct, frozen=True):
    """In virtual time, in ns of the machine's clock."""

    from_ns: int
    to_ns: int


class LogPlan(Struct, frozen=True):
    stretches: tuple[LoggedSpan, ...]
    """In order, apart from each other."""
    anchor_ns: int = 1_000
    """How often the clock is noted."""
    switches: int = 0
    """The address of the kernel's `__switch_to`, at which the two tasks are noted; 0: not noted."""
    counts: tuple[int, int] = (0, 0)
    """Where the offset of the CPU's own data is kept, and the place of its preemption count in these data; 0:
    not read."""
    stops: int = 0
    """The address of an instruction less than 4 us before the guest stops, where the clock is noted; 0: none."""
    pauses_ns: int = 0
    """Where the machine is stopped, by its clock, if nothing is logged; 0: nowhere."""

    @property
    def text(self) -> str:
        """As the plugin reads it."""
        lines = [f"anchor {self.anchor_ns}", *(f"window {s.from_ns} {s.to_ns}" for s in self.stretches)]
        if self.switches:
            lines.append(f"switch {self.switches:x}")
        if self.counts[1]:
            lines.append(f"count {self.counts[0]:x} {self.counts[1]:x}")
        if self.stops:
            lines.append(f"stops {self.stops:x}")
        if self.pauses_ns:
            lines.append(f"pause {self.pauses_ns}")
        return "\n".join(lines) + "\n"


class Anchor(NamedTuple):
    """Where the clock was noted."""

    logged: int
    """Instructions in the log before it."""
    clock_ns: int
    """The machine's."""
    executed: int
    """Instructions of the guest since its start, by QEMU's count. One that was broken off to begin again is in the
    log and not counted yet; one that ends in an exception counts once, and is in the log twice."""


class Switch(Struct, frozen=True):
    at: int
    """The number of instructions before it."""
    previous: int
    following: int
    """The two tasks, by the addresses of their descriptions in the kernel."""


class ExecutionLog(Struct, frozen=True):
    addresses: Addresses
    code: Mapping[int, bytes]
    """The bytes of each instruction, by address."""
    anchors: Sequence[Anchor]
    flags: Sequence[tuple[int, bool]]
    """Before which instruction the CPU's state was read, and whether it took interrupts."""
    switches: Sequence[Switch] = ()
    counts: Sequence[tuple[int, int]] = ()
    """Before which instruction the preemption count changed, and its value."""
