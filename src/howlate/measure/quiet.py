"""Waits until a machine is quiet before it is measured: caches of a build are written back, or an update
runs.

The decision depends on the CPU time of other processes. The first observation covers the time in which a
command prepares itself anyway, so that a quiet machine costs no time. If it is not clear, this process sleeps
and observes one second after the other, until one is quiet or the limit has passed.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from howlate.errors import UsageError
from howlate.words.statement import Statement, message

NOT_QUIET = message(
    "quiet.not-quiet",
    "the machine was not quiet when the run began: after {limit_s:number} s of waiting others used {busy}",
)

QUIET_SHARE = 0.10
"""Others may use this share of one CPU (a full CPU is 1): twice what makes a cell "not alone", because the
kernel's own threads are counted here too."""
LIMIT_S = 30.0
LOOK_S = 1.0
LIMIT_NAME = "HOWLATE_QUIET_S"
"""Environment variable: the maximum wait in seconds; 0 disables the check."""
NAMED = 3
NAMED_SHARE = 0.02


class Look(Struct, frozen=True):
    """Running totals at one instant, in seconds."""

    at_s: float
    busy_s: float
    """Of all CPUs: what they were neither idle nor stolen for. From another origin than the others."""
    own_s: float
    """CPU time of this process and its children that have ended."""
    tasks: Mapping[tuple[int, str], float] = field(default_factory=dict)
    """CPU time by pid and name, without this process. Empty if not requested."""


class Busy(Struct, frozen=True):
    """CPU time of others between two observations, as shares of one CPU."""

    share: float
    tasks: tuple[tuple[str, float], ...]
    """The busiest tasks, "name[pid]"."""

    @property
    def words(self) -> str:
        """ "102 % of a CPU (sh[4711] 99 %, kworker/0:1[12] 3 %)"."""
        named = ", ".join(f"{name} {100 * share:.0f} %" for name, share in self.tasks)
        return f"{100 * self.share:.0f} % of a CPU" + (f" ({named})" if named else "")


class WatchedMachine(Protocol):
    """The machine that is observed, with its clock."""

    def look(self, *, tasks: bool) -> Look: ...

    def sleep(self, seconds: float) -> None: ...


def busy_between(before: Look, after: Look) -> Busy:
    """CPU time of others; tasks that began between the observations count from zero."""
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
    """Whether others used little although this process worked too. Two ticks are allowed, to which the kernel rounds
    idle time, but never half a CPU: a short look cannot tell one busy CPU from none."""
    blur = 2 * tick_s / max(after.at_s - before.at_s, 1e-3)
    return busy_between(before, after).share <= min(0.5, QUIET_SHARE + blur)


def wait_until_quiet(
    machine: WatchedMachine,
    first: Look,
    say: Callable[[Busy, float], None],
    limit_s: float = LIMIT_S,
    tick_s: float = 0.01,
) -> Statement | None:
    """Return None when the machine is quiet, or after the limit a warning for the run. `first`: the
    observation at the start of the command. After each observation `say` gets what howlate waits for, and the
    longest remaining wait."""
    before = machine.look(tasks=False)
    if clearly_quiet(first, before, tick_s):
        return None
    before = machine.look(tasks=True)
    began_s = before.at_s
    while True:
        machine.sleep(LOOK_S)
        after = machine.look(tasks=True)
        busy = busy_between(before, after)
        if busy.share <= QUIET_SHARE:
            return None
        left_s = limit_s - (after.at_s - began_s)
        if left_s <= 0:
            return NOT_QUIET(limit_s=limit_s, busy=busy.words)
        say(busy, left_s)
        before = after


def limit_of(environment: Mapping[str, str]) -> float:
    """The limit in force; UsageError if the environment variable is not a number of seconds."""
    text = environment.get(LIMIT_NAME, "")
    if not text:
        return LIMIT_S
    try:
        limit_s = float(text)
    except ValueError:
        limit_s = -1.0
    if not (math.isfinite(limit_s) and limit_s >= 0):
        raise UsageError(
            '{variable} is "{text}", which is not a number of seconds',
            remedy="unset it, or set it to a number such as 0 or 30",
            variable=LIMIT_NAME,
            text=text,
        )
    return limit_s


def parse_stat(text: str, tick_s: float, at_s: float) -> float:
    """Seconds that the CPUs of /proc/stat were neither idle (idle, iowait) nor stolen, until `at_s`. A kernel without
    a tick on idle CPUs measures idle time; that of running tasks it samples at its ticks. 0 without such a line."""
    first, *others = text.split("\n")
    words = first.split()
    if len(words) < 9 or words[0] != "cpu":
        return 0.0
    cpus = sum(line.startswith("cpu") for line in others)
    return cpus * at_s - sum(int(words[i]) for i in (4, 5, 8)) * tick_s


def parse_task(text: str, tick_s: float) -> tuple[tuple[int, str], float] | None:
    """Pid, name and CPU seconds from /proc/PID/stat; a name may contain spaces and parentheses."""
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

    def look(self, *, tasks: bool) -> Look:
        own = os.times()
        at_s = time.monotonic()
        return Look(
            at_s,
            parse_stat(self._read("stat"), self.tick_s, at_s),
            time.process_time() + own.children_user + own.children_system,
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
        except OSError:  # the task has ended meanwhile
            return ""
