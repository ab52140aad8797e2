"""Timer migration: /proc/sys/kernel/timer_migration."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Timer migration"
WHY = (
    "A timer that is armed on a CPU about to idle may be put on a busy one: its interrupt comes there, and "
    "the wake-up goes "
    "to the measuring CPU by another interrupt."
)
WEIGHT = 38


def judge(facts: Facts, aim: Aim) -> Verdict:
    migration, online = facts.integer("sched.timer_migration"), facts.cpus("cpu.online")
    if migration is None:
        if absent(facts, "sched.timer_migration"):
            return ok("this kernel does not migrate timers")
        return unknown(facts, "sched.timer_migration")
    if migration == 0:
        return ok("off")
    if online is not None and len(online) == 1:
        return ok("on, but there is one CPU only")
    return note("on", "`howlate probe hold --knob timer_migration=off`, or `sysctl kernel.timer_migration=0`")
