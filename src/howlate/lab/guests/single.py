"""One release whose instant the host chooses (docs/lab/prove.md): the words of the window that it goes through.

    64 state     72 the guest's clock at its stop   80 the release of the plan     88 when 144 was taken
    96 the instant of the release, the host's       104 the latency                112 early wake-ups
    120 the guest's time after it read the instant  128 the guest's time at its stop
    136 whether it says more, the host's            144 CPU time of all tasks
    152 length of the list of real-time threads     160 its CRC32C                 1 MiB the list

Numbers are of 64 bits, little-endian; times but the clock are CLOCK_MONOTONIC in ns (probe/src/job/single.cpp).
"""

from __future__ import annotations

import struct
from enum import IntEnum
from pathlib import Path

import google_crc32c
from msgspec import Struct

from howlate.errors import TargetError
from howlate.lab.guests.window import bad_result
from howlate.lab.problems import guest_failed
from howlate.replay.premises import GuestMoment, RealTimeThread

LEAST_AHEAD_NS = 100_000
"""From reading the instant to the system call that arms the timer are some thousands of instructions of 1 to 8 ns."""
_WORDS = struct.Struct("<9Q")
_SAID = struct.Struct("<q2Q")
_WORD = struct.Struct("<Q")
_AT, _INSTANT_AT, _WITNESS_AT, _SAID_AT, _THREADS_AT = 64, 96, 136, 144, 1 << 20


class SingleState(IntEnum):
    """How far a single release is."""

    NOTHING = 0
    STOPPED_BEFORE = 1
    """The machine stopped before the release, and goes on with the instant."""
    HAS_LATENCY = 2


class SingleWords(Struct, frozen=True):
    state: int
    clock_ns: int
    planned_ns: int
    moment_ns: int
    """When it took the CPU time of all tasks."""
    instant_ns: int
    latency_ns: int
    early: int
    armed_ns: int
    """When it had read the instant, just before it arms the timer; 0 before."""
    stopped_ns: int


def read_single(window: Path) -> SingleWords:
    """The words as they are. TargetError if there was a release that was due before its timer was armed."""
    with window.open("rb") as file:
        file.seek(_AT)
        words = SingleWords(*_WORDS.unpack(file.read(_WORDS.size)))
    ahead_ns = words.instant_ns - words.armed_ns
    if words.state == SingleState.HAS_LATENCY and ahead_ns < LEAST_AHEAD_NS:
        raise TargetError(
            guest_failed(f"its release is {ahead_ns} ns ahead of it, less than {LEAST_AHEAD_NS} ns")
        )
    return words


def put_instant(window: Path, instant_ns: int, *, witness: bool = False) -> None:
    """Write the instant of the release into the window of a guest that has stopped before it. `witness`: after the
    release the guest says again what it said before it."""
    with window.open("r+b", buffering=0) as file:
        for at, word in ((_INSTANT_AT, instant_ns), (_WITNESS_AT, witness)):
            file.seek(at)
            file.write(_WORD.pack(word))


def read_moment(window: Path) -> GuestMoment:
    """What the guest said of itself last."""
    words = read_single(window)
    with window.open("rb") as file:
        file.seek(_SAID_AT)
        run_ns, length, crc = _SAID.unpack(file.read(_SAID.size))
        file.seek(_THREADS_AT)
        text = file.read(length)
    if google_crc32c.value(text) != crc:
        raise bad_result("the checksum of its real-time threads")
    lines = text.decode("utf-8", "replace").splitlines()
    ahead_ns = words.planned_ns - words.armed_ns if words.armed_ns else None
    return GuestMoment(words.moment_ns, run_ns, tuple(map(_thread, lines)), ahead_ns)


def _thread(line: str) -> RealTimeThread:
    pid, policy, priority, run_ns, slices, name = line.split(" ", 5)
    return RealTimeThread(int(pid), name, int(policy), int(priority), int(run_ns), int(slices))
