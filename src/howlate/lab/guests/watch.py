"""Detects guests that are stuck: their clock or their results stand still, or QEMU sleeps for good. One whose
results come goes on, however slow it is.

Results stand still when none comes for some of the guest's own time, or for some CPU time of QEMU, which other work
on the host lengthens little and which bounds what the clock does not: a guest that executes `pause` in a loop
hardly advances it. A guest that needs no more than usual for a result is not queried for its clock, because a
query reaches QEMU while the guest measures.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

ASLEEP = "it sleeps without a timer"

STANDS_CPU_S = 10.0
"""A guest whose clock does not go on for this much CPU time executes nothing that its kernel could see."""
STILL_S = 15.0
"""A guest whose threads all sleep for this long has no timer that would wake it: in virtual time an idle
guest jumps to its next timer at once."""
ASKED_S, ASKED_SHARE = 5.0, 1 / 8
"""The clock of a guest is queried once it has used this much CPU time without a result, and this share of its
limit."""
_LOOK_S = 0.5
_STILL_SHARE = 0.01


class Used(Struct, frozen=True):
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


class Limits(Struct, frozen=True):
    """What a guest may use without a result before it counts as stuck."""

    cpu_s: float = float("inf")
    """CPU time of the host."""
    virtual_s: float = float("inf")
    """Seconds of the guest's own clock."""
    soon_s: float = float("inf")
    """Seconds of its clock that suffice once the CPU time is used up."""
    start_cpu_s: float = 0.0
    """In addition, until the first result."""
    start_virtual_s: float = 0.0
    """Likewise."""

    @property
    def until_first(self) -> Limits:
        return replace(
            self, cpu_s=self.cpu_s + self.start_cpu_s, virtual_s=self.virtual_s + self.start_virtual_s
        )

    @property
    def query_after_s(self) -> float:
        """The CPU time without a result after which the guest's clock is queried."""
        return min(self.cpu_s / 2, ASKED_S + ASKED_SHARE * self.cpu_s)


class Standstill(Struct, frozen=True):
    """No result has come for so long."""

    cpu_s: float
    virtual_s: float

    @property
    def rate(self) -> float:
        """By how much the guest's clock went on in a second of CPU time."""
        return self.virtual_s / max(self.cpu_s, 1e-3)

    def problem(self, what: str) -> str:
        cpu_s = round(self.cpu_s)
        if self.virtual_s <= 0:
            return f"its clock has stood still for {cpu_s} s of CPU time: {what}"
        return f"no result in {self.virtual_s:.1f} s of its clock and {cpu_s} s of CPU time: {what}"


class Watch:
    """Observes one process from time to time. `clock`: the seconds by which the guest's clock has advanced; None if
    QEMU does not say. `results`: what changes whenever a result comes."""

    def __init__(
        self,
        look: Callable[[], Used],
        limits: Limits,
        clock: Callable[[], float | None] = lambda: None,
        results: Callable[[], Hashable] = lambda: 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read, self._clock, self._now = look, clock, now
        self._limits, self._later = limits.until_first, limits
        self._looked = self._since = now()
        self._since_cpu_s = 0.0
        self._clock_s, self._clock_cpu_s = 0.0, 0.0
        self._results, self._seen = results, results()
        self._still_cpu_s = 0.0
        """The CPU time at the last result."""
        self._begun: tuple[float, float] | None = (0.0, 0.0)
        """CPU time and clock at the first query of the clock after the last result."""
        self.cpu_s = 0.0

    def read(self) -> Used:
        used = self._read()
        self.cpu_s = max(self.cpu_s, used.cpu_s)
        return used

    def trouble(self) -> str | Standstill | None:
        """Why the guest should be ended; None if it makes progress."""
        now = self._now()
        if now - self._looked < _LOOK_S:
            return None
        self._looked = now
        used = self.read()
        if self._has_results():
            return None
        if self.cpu_s - self._still_cpu_s > self._limits.query_after_s and (stuck := self._stuck()):
            return stuck
        moved = self.cpu_s - self._since_cpu_s > _STILL_SHARE * (now - self._since) + 0.02
        if not used.is_asleep or moved:
            self._since, self._since_cpu_s = now, self.cpu_s
        if now - self._since >= STILL_S:
            return ASLEEP
        return None

    def _has_results(self) -> bool:
        seen = self._results()
        if seen == self._seen:
            return False
        self._seen, self._limits = seen, self._later
        self._still_cpu_s, self._begun = self.cpu_s, None
        self._clock_cpu_s = 0.0
        self._since, self._since_cpu_s = self._now(), self.cpu_s
        return True

    def _stuck(self) -> str | Standstill | None:
        """By its clock, which tells a slow host from a guest that hangs; without one by its CPU time."""
        still_cpu_s = self.cpu_s - self._still_cpu_s
        limits, used_up = self._limits, still_cpu_s > self._limits.cpu_s
        virtual_s = self._clock() if self._limits.virtual_s < math.inf else None
        if virtual_s is None:
            return f"no result in {self._limits.cpu_s:.0f} s of CPU time" if used_up else None
        if self._begun is None:
            self._begun = self.cpu_s, virtual_s
        begun_cpu_s, begun_s = self._begun
        if virtual_s - begun_s > (min(limits.soon_s, limits.virtual_s) if used_up else limits.virtual_s):
            return Standstill(self.cpu_s - begun_cpu_s, virtual_s - begun_s)
        if virtual_s > self._clock_s or not self._clock_cpu_s:
            self._clock_s, self._clock_cpu_s = virtual_s, self.cpu_s
        if self.cpu_s - self._clock_cpu_s > STANDS_CPU_S:
            return Standstill(self.cpu_s - self._clock_cpu_s, 0.0)
        return None
