"""The lockup watchdogs: /proc/sys/kernel/{nmi_watchdog,soft_watchdog,watchdog_cpumask}."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, measuring_cpus, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "NMI watchdog"
WHY = (
    "It is a performance counter whose interrupt cannot be held off, every ten seconds or so on every CPU; "
    "its soft companion "
    "wakes a thread above every real-time priority."
)
WEIGHT = 36


def judge(facts: Facts, aim: Aim) -> Verdict:
    hard, soft = facts.integer("watchdog.nmi"), facts.integer("watchdog.soft")
    watched = facts.cpus("watchdog.cpus")
    if hard is None and not absent(facts, "watchdog.nmi"):
        return unknown(facts, "watchdog.nmi")
    if watched is not None and not watched & measuring_cpus(facts, aim):
        return ok("not on the measuring CPUs")
    if hard:
        return note("on", "`howlate probe hold --knob nmi_watchdog=off`, or `nowatchdog` on the command line")
    if soft:
        return note("off; the soft watchdog is on", "`sysctl kernel.soft_watchdog=0`, or `nowatchdog`")
    return ok("off")
