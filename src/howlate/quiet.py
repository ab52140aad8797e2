"""Waits until a machine is quiet before it is measured: a build's caches are written back, an update runs.

Decided from what others than this process used of the CPUs. The first look covers the time in which a command
prepares itself anyway, so that a quiet machine costs no time; where that look is not clear, seconds in which this
process sleeps are looked at, one after the other, until one is quiet or the limit has passed.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from howlate.errors import UsageError

QUIET_SHARE = 0.10
"""Others may use so much of one CPU (a full CPU is 1): twice what makes a cell "not alone", because the kernel's own
threads are counted here too."""
LIMIT_S = 30.0
LOOK_S = 1.0
LIMIT_NAME = "HOWLATE_QUIET_S"
"""Environment: seconds to wait at most; with 0 nothing is looked at."""
NAMED = 3
NAMED_SHARE = 0.02


@dataclass(frozen=True)
class Look:
    """Running totals at one instant, in seconds."""

    at_s: float
    busy_s: float
    """Of all CPUs: user, nice, system and interrupts."""
    own_s: float
    """Of this process and its children that have ended."""
    tasks: Mapping[tuple[int, str], float] = field(default_factory=dict)
    """CPU time by pid and name; without this process. Empty where they were not asked for."""


@dataclass(frozen=True)
class Busy:
    """What others used between two looks, as shares of one CPU."""

    share: float
    tasks: tuple[tuple[str, float], ...]
    """The busiest, "name[pid]"."""

    @property
    def words(self) -> str:
        """ "102 % of a CPU (sh[4711] 99 %, kworker/0:1[12] 3 %)"."""
        named = ", ".join(f"{name} {100 * share:.0f} %" for name, share in self.tasks)
        return f"{100 * self.share:.0f} % of a CPU" + (f" ({named})" if named else "")


class Machine(Protocol):
    """What is looked at and slept on."""

    def look(self, tasks: bool) -> Look: ...

    def sleep(self, seconds: float) -> None: ...


def busy_between(before: Look, after: Look) -> Busy:
    """What others used; tasks that began between the looks count from zero."""
    passed_s = max(after.at_s - before.at_s, 1e-3)
    others_s = max(0.0, (after.busy_s - before.busy_s) - (after.own_s - before.own_s))
    used = [
        (f"{name}[{pid}]", (cpu_s - before.tasks.get((pid, name), 0.0)) / passed_s)
        for (pid, name), cpu_s in after.tasks.items()
        if before.tasks
    ]
    busiest = sorted((row for row in used if row[1] >= NAMED_SHARE), key=lambda row: -row[1])
    return Busy(others_s / passed_s, tuple(busiest[:NAMED]))


def clearly_quiet(before: Look, after: Look, tick_s: float) -> bool:
    """Whether others used little although this process worked too. The clock's ticks are samples: n of them that
    met a busy CPU have a standard deviation of sqrt(n) at most, and two are allowed for."""
    ticks = max(0.0, after.busy_s - before.busy_s) / tick_s
    blur = 2 * tick_s * math.sqrt(ticks) / max(after.at_s - before.at_s, 1e-3)
    return busy_between(before, after).share <= QUIET_SHARE + blur


def wait_until_quiet(
    machine: Machine,
    first: Look,
    say: Callable[[Busy, float], None],
    limit_s: float = LIMIT_S,
    tick_s: float = 0.01,
) -> str:
    """Returns when the machine is quiet: "". Else, after the limit, a sentence for the run. `first`: from when the
    command began. `say` is told after each look what is waited for, and for how long at most."""
    before = machine.look(tasks=False)
    if clearly_quiet(first, before, tick_s):
        return ""
    before = machine.look(tasks=True)
    began_s = before.at_s
    while True:
        machine.sleep(LOOK_S)
        after = machine.look(tasks=True)
        busy = busy_between(before, after)
        if busy.share <= QUIET_SHARE:
            return ""
        left_s = limit_s - (after.at_s - began_s)
        if left_s <= 0:
            waited = f"after {limit_s:g} s of waiting others used {busy.words}"
            return f"the machine was not quiet when it was begun: {waited}"
        say(busy, left_s)
        before = after


def limit_of(environment: Mapping[str, str]) -> float:
    """The limit in force; UsageError where the environment's is not a number of seconds."""
    text = environment.get(LIMIT_NAME, "")
    if not text:
        return LIMIT_S
    try:
        limit_s = float(text)
    except ValueError:
        limit_s = -1.0
    if not (math.isfinite(limit_s) and limit_s >= 0):
        raise UsageError(
            f'{LIMIT_NAME} is "{text}", which is not a number of seconds',
            "unset it, or set it to a number such as 0 or 30",
        )
    return limit_s


def parse_stat(text: str, tick_s: float) -> float:
    """Busy seconds of all CPUs, of /proc/stat: user, nice, system, irq and softirq. 0 where it says nothing."""
    words = text.partition("\n")[0].split()
    if len(words) < 8 or words[0] != "cpu":
        return 0.0
    return sum(int(words[i]) for i in (1, 2, 3, 6, 7)) * tick_s


def parse_task(text: str, tick_s: float) -> tuple[tuple[int, str], float] | None:
    """Pid and name, and the CPU seconds, of /proc/PID/stat; a name may hold spaces and parentheses."""
    head, _, rest = text.rpartition(")")
    pid, _, name = head.partition("(")
    words = rest.split()
    if not pid.strip().isdigit() or len(words) < 13:
        return None
    return (int(pid), name), (int(words[11]) + int(words[12])) * tick_s


class ThisMachine:
    """/proc, and the monotonic clock."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self.tick_s = 1 / os.sysconf("SC_CLK_TCK")

    def look(self, tasks: bool) -> Look:
        own = os.times()
        own_s = own.user + own.system + own.children_user + own.children_system
        return Look(
            time.monotonic(),
            parse_stat(self._read("stat"), self.tick_s),
            own_s,
            self._tasks() if tasks else {},
        )

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def _tasks(self) -> dict[tuple[int, str], float]:
        found = {}
        for name in (path.name for path in self._proc.iterdir()):
            if name.isdigit() and int(name) != os.getpid():
                task = parse_task(self._read(f"{name}/stat"), self.tick_s)
                if task is not None:
                    found[task[0]] = task[1]
        return found

    def _read(self, name: str) -> str:
        try:
            return (self._proc / name).read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended meanwhile
            return ""
