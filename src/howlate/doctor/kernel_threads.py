"""Priorities of the kernel's own threads (irq/*, ktimers, ksoftirqd, rcuc) on the measuring CPUs against
the measuring task's.
"""

from __future__ import annotations

from howlate.doctor._check import (
    Verdict,
    is_rt_kernel,
    late,
    measuring_cpus,
    note,
    number,
    ok,
    real_time,
    row_cpus,
    some,
    unknown,
)
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "IRQ, ktimers, ksoftirqd and rcuc threads"
WHY = (
    "Handlers in threads run before a task of a lower or equal priority. Under PREEMPT_RT the expiry of "
    "setitimer, "
    "timer_create, timerfd and epoll runs in ktimers: while a task above it is busy, these timers do not "
    "fire."
)
WEIGHT = 72

_KINDS = ("irq/", "ktimers/", "ktimersoftd/", "ksoftirqd/", "rcuc/", "rcub/")


def judge(facts: Facts, aim: Aim) -> Verdict:
    rows = facts.table("tasks.real_time")
    if rows is None:
        return unknown(facts, "tasks.real_time")
    cpus = measuring_cpus(facts, aim)
    before, timers = [], []
    for row in rows:
        name, priority = str(row.get("name")), number(row, "priority") or 0
        if not name.startswith(_KINDS) or not row_cpus(row, "cpus") & cpus:
            continue
        if name.startswith(("ktimers/", "ktimersoftd/")):
            timers.append(priority)
        if aim.policy != "deadline" and (not real_time(aim) or priority >= aim.priority):
            before.append((priority, f"{name} ({priority})"))
    if before:
        names = [name for _, name in sorted(before, key=lambda one: (-one[0], one[1]))]
        change = (
            "raise the measuring priority above them (`--policy fifo:90`), or lower theirs: `chrt -f -p 50 "
            "PID`"
        )
        found = f"{some(names)} may run before the measuring task ({aim.policy}:{aim.priority})"
        return late(found, change) if real_time(aim) else note(found, "measure under a real-time policy")
    if timers and is_rt_kernel(facts) and real_time(aim):
        return note(
            f"ktimers at priority {max(timers)}, below the measuring task ({aim.priority})",
            "with setitimer, timer_create, timerfd or epoll: `chrt -f -p PRIORITY $(pgrep ktimers/N)`, "
            "above every busy "
            "real-time task; clock_nanosleep and futex do not need it",
        )
    return ok("none at or above the measuring priority")
