"""Whether a guest still gets anywhere: by the CPU time that its QEMU has used, which no other work on the host
lengthens, and by whether it sleeps for good.

The guest's own clock is not asked: a question would reach QEMU while the guest measures. A guest that executes
advances it with the CPU time: by 0.1 s or more a second, except where it executes `pause` in a loop.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

STILL_S = 15.0
"""A guest whose threads all sleep for so long has no timer that would wake it: in virtual time one that idles
goes to its next timer at once."""
_LOOK_S = 0.5
_STILL_SHARE = 0.01


@dataclass(frozen=True)
class Used:
    """What a process has used, and whether it would use more if it could."""

    cpu_s: float
    is_asleep: bool
    """No thread of it runs, waits for a CPU or the disk, or is stopped."""


def used_by(pid: int, proc: Path = Path("/proc")) -> Used:
    """Of all threads of a process; of one that is gone nothing."""
    states: list[str] = []
    ticks = 0
    with suppress(OSError, ValueError, IndexError):
        ticks = _times((proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace"))[1]
        for task in (proc / str(pid) / "task").iterdir():
            states.append(_times((task / "stat").read_text(encoding="utf-8", errors="replace"))[0])
    return Used(ticks / os.sysconf("SC_CLK_TCK"), bool(states) and all(state == "S" for state in states))


def _times(stat: str) -> tuple[str, int]:
    """State and ticks of a line of /proc/PID/stat."""
    words = stat.rpartition(")")[2].split()
    return words[0], int(words[11]) + int(words[12])


class Watch:
    """Looks at one process from time to time."""

    def __init__(
        self, look: Callable[[], Used], limit_s: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._limit_s, self._now = look, limit_s, now
        self._looked = self._since = now()
        self._since_cpu_s = 0.0
        self.cpu_s = 0.0

    def read(self) -> Used:
        """What it has used until now."""
        used = self._read()
        self.cpu_s = max(self.cpu_s, used.cpu_s)
        return used

    def trouble(self) -> str:
        """Why the guest should be ended; "" if it gets on."""
        now = self._now()
        if now - self._looked < _LOOK_S:
            return ""
        self._looked = now
        used = self.read()
        if self.cpu_s > self._limit_s:
            return f"it has used {self._limit_s:.0f} s of CPU time"
        moved = self.cpu_s - self._since_cpu_s > _STILL_SHARE * (now - self._since) + 0.02
        if not used.is_asleep or moved:
            self._since, self._since_cpu_s = now, self.cpu_s
        if now - self._since >= STILL_S:
            return "it sleeps, and no timer will wake it"
        return ""
