"""The lockup watchdogs: /proc/sys/kernel/{nmi_watchdog,soft_watchdog,watchdog_cpumask}."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings import soft_watchdog
from howlate.settings._check import ELSEWHERE, Judgement, absent, measuring_cpus, note, ok, unknown
from howlate.settings._setting import MachineSetting, always, as_switch

NMI = "watchdog.nmi"

TITLE = "NMI watchdog"
WHY = (
    "It is a performance counter whose interrupt cannot be held off, every ten seconds or so on every CPU; "
    "its soft companion "
    "wakes a thread above every real-time priority."
)
WEIGHT = 36
HOLD = ("nmi_watchdog=off", "soft_watchdog=off")
CHANGE = "`nowatchdog` on the command line"

SETTING = MachineSetting(
    facts=(NMI,),
    in_force=as_switch(NMI),
    tries=always("off", "on"),
    for_good={"": "kernel.nmi_watchdog = {number} in {sysctl}"},
    causes=(Cause.NMI,),
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    hard, soft = facts.integer(NMI), facts.integer(soft_watchdog.FACT)
    watched = facts.cpus("watchdog.cpus")
    if hard is None and not absent(facts, NMI):
        return unknown(facts, NMI)
    if watched is not None and not watched & measuring_cpus(facts, aim):
        return ok(ELSEWHERE())
    if hard:
        return note("on", CHANGE)
    if soft:
        return note("off; the soft watchdog is on", CHANGE, hold=HOLD[1])
    return ok("off")
