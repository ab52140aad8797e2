"""Detects guests that are stuck: by their own clock, by the CPU time that QEMU has used, which other work on
the host lengthens little, and by whether QEMU sleeps for good.

A guest that needs no more than usual is never asked for its clock, because a question reaches QEMU while the
guest measures. The CPU time bounds what the clock does not: a guest that executes `pause` in a loop hardly
advances it.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from howlate.words.statement import Statement, rule

CPU_TIME_USED = rule("lab.cpu-time-used", "it has used {cpu_s:number} s of CPU time")
CLOCK_STANDS = rule("lab.clock-stands", "its clock has stood still for {cpu_s:number} s of CPU time")
CLOCK_WENT_ON = rule("lab.clock-went-on", "its clock has gone on by more than {virtual_s:number} s")
ASLEEP = rule("lab.asleep", "it sleeps, and no timer will wake it")

STANDS_CPU_S = 10.0
"""A guest whose clock does not go on for this much CPU time executes nothing that its kernel could see."""
STILL_S = 15.0
"""A guest whose threads all sleep for this long has no timer that would wake it: in virtual time an idle
guest jumps to its next timer at once."""
ASKED_S, ASKED_SHARE = 5.0, 1 / 8
"""A guest is asked for its clock once it has used this much CPU time, and this share of its limit."""
_LOOK_S = 0.5
_STILL_SHARE = 0.01


@dataclass(frozen=True)
class Used:
    """What a process has used, and whether it would use more if it could."""

    cpu_s: float
    is_asleep: bool
    """No thread of it runs, waits for a CPU or the disk, or is stopped."""


def used_by(pid: int, proc: Path = Path("/proc")) -> Used:
    """The sum over all threads of a process; nothing if it has ended."""
    states: list[str] = []
    ticks = 0
    with suppress(OSError, ValueError, IndexError):
        ticks = _times((proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace"))[1]
        for task in (proc / str(pid) / "task").iterdir():
            states.append(_times((task / "stat").read_text(encoding="utf-8", errors="replace"))[0])
    return Used(ticks / os.sysconf("SC_CLK_TCK"), bool(states) and all(state == "S" for state in states))


def _times(stat: str) -> tuple[str, int]:
    """State and ticks from a line of /proc/PID/stat."""
    words = stat.rpartition(")")[2].split()
    return words[0], int(words[11]) + int(words[12])


@dataclass(frozen=True)
class Limits:
    """What a guest may use before it counts as stuck."""

    cpu_s: float = float("inf")
    """CPU time of the host: of a guest that does not say what its clock is, since a slow host takes more of it."""
    virtual_s: float = float("inf")
    """Seconds of the guest's own clock."""

    @property
    def asked_from_s(self) -> float:
        """The CPU time after which the guest is asked for its clock."""
        return ASKED_S + ASKED_SHARE * self.cpu_s


class Watch:
    """Observes one process from time to time. `clock`: the seconds by which the guest's clock has advanced;
    None if QEMU does not say."""

    def __init__(
        self,
        look: Callable[[], Used],
        limits: Limits,
        clock: Callable[[], float | None] = lambda: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read, self._limits, self._clock, self._now = look, limits, clock, now
        self._looked = self._since = now()
        self._since_cpu_s = 0.0
        self._clock_s, self._clock_cpu_s = 0.0, 0.0
        self.cpu_s = 0.0

    def read(self) -> Used:
        """What the process has used until now."""
        used = self._read()
        self.cpu_s = max(self.cpu_s, used.cpu_s)
        return used

    def trouble(self) -> Statement | None:
        """Why the guest should be ended; None if it makes progress."""
        now = self._now()
        if now - self._looked < _LOOK_S:
            return None
        self._looked = now
        used = self.read()
        if self.cpu_s > min(self._limits.asked_from_s, self._limits.cpu_s) and (stuck := self._stuck()):
            return stuck
        moved = self.cpu_s - self._since_cpu_s > _STILL_SHARE * (now - self._since) + 0.02
        if not used.is_asleep or moved:
            self._since, self._since_cpu_s = now, self.cpu_s
        if now - self._since >= STILL_S:
            return ASLEEP()
        return None

    def _stuck(self) -> Statement | None:
        """By its clock, which tells a slow host from a guest that hangs; without one by its CPU time."""
        virtual_s = self._clock() if self._limits.virtual_s < math.inf else None
        if virtual_s is None:
            used_up = self.cpu_s > self._limits.cpu_s
            return CPU_TIME_USED(cpu_s=round(self._limits.cpu_s)) if used_up else None
        if virtual_s > self._limits.virtual_s:
            return CLOCK_WENT_ON(virtual_s=round(self._limits.virtual_s))
        if virtual_s > self._clock_s or not self._clock_cpu_s:
            self._clock_s, self._clock_cpu_s = virtual_s, self.cpu_s
        if self.cpu_s - self._clock_cpu_s > STANDS_CPU_S:
            return CLOCK_STANDS(cpu_s=round(STANDS_CPU_S))
        return None
