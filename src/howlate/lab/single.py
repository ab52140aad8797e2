"""One release whose instant the host chooses (docs/lab/prove.md): the words of the window that it goes through.

    64 state     72 the guest's clock at its stop   80 the release of the plan     88 the guest's time at its stop
    96 the instant of the release, the host's       104 the latency                112 early wake-ups
    120 the guest's time after it read the instant

Numbers are of 64 bits, little-endian; times but the clock are CLOCK_MONOTONIC in ns (probe/src/job/single.cpp).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

_WORDS = struct.Struct("<8Q")
_INSTANT = struct.Struct("<Q")
_AT, _INSTANT_AT = 64, 96


class SingleState(IntEnum):
    """How far a single release is."""

    NOTHING = 0
    STOPPED_BEFORE = 1
    """The machine stopped before the release, and goes on with the instant."""
    HAS_LATENCY = 2


@dataclass(frozen=True)
class SingleWords:
    """What the guest says."""

    state: int
    clock_ns: int
    planned_ns: int
    now_ns: int
    instant_ns: int
    latency_ns: int
    early: int
    armed_ns: int


def read_single(window: Path) -> SingleWords:
    """The words as they are."""
    with window.open("rb") as file:
        file.seek(_AT)
        return SingleWords(*_WORDS.unpack(file.read(_WORDS.size)))


def put_instant(window: Path, instant_ns: int) -> None:
    """Write the instant of the release into the window of a guest that has stopped before it."""
    with window.open("r+b", buffering=0) as file:
        file.seek(_INSTANT_AT)
        file.write(_INSTANT.pack(instant_ns))
