"""Priorities of kernel threads (irq/*, ktimers, ksoftirqd, rcuc) on the measuring CPUs, compared with the
measuring task's."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.model.preemption import is_rt_kernel
from howlate.settings._check import (
    ABOVE,
    HIGHEST,
    Judgement,
    late,
    measuring_cpus,
    note,
    number,
    ok,
    real_time,
    row_cpus,
    unknown,
)

TITLE = "IRQ, ktimers, ksoftirqd and rcuc threads"
WHY = (
    "Handlers in threads run before a task of a lower or equal priority. Under PREEMPT_RT the expiry of "
    "setitimer, "
    "timer_create, timerfd and epoll runs in ktimers: while a task above it is busy, these timers do not "
    "fire."
)
WEIGHT = 72
CAUSES = (Cause.SOFTIRQ, Cause.HIGHER_TASK)
_KINDS = ("irq/", "ktimers/", "ktimersoftd/", "ksoftirqd/", "rcuc/", "rcub/")
ABOUT = {Cause.HIGHER_TASK: "|".join(_KINDS)}


def judge(facts: Facts, aim: Aim) -> Judgement:
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
        above = ABOVE(tasks=names, policy=aim.policy, priority=aim.priority)
        if not real_time(aim):
            return note(above, "measure under a real-time policy")
        return late(
            above,
            "lower their priority: `chrt -f -p 50 PID`"
            if max(before)[0] >= HIGHEST
            else "raise the measuring priority above them (`--set policy=fifo:PRIORITY`), or lower theirs: "
            "`chrt -f -p 50 PID`",
        )
    if timers and is_rt_kernel(facts) and real_time(aim):
        return note(
            "ktimers at priority {timers}, below the measuring task ({priority})",
            "with setitimer, timer_create, timerfd or epoll: `chrt -f -p PRIORITY $(pgrep ktimers/N)`, above every "
            "busy real-time task; clock_nanosleep and futex do not need it",
            timers=max(timers),
            priority=aim.priority,
        )
    return ok("none")
