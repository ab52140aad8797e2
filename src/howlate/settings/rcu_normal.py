"""Expedited grace periods of RCU: /sys/kernel/rcu_normal."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.settings._check import by_number, note, ok
from howlate.settings._setting import MachineSetting, always, as_switch
from howlate.words.statement import rule

FACT = "sched.rcu_normal"
ABSENT = rule("doctor.rcu_normal.absent", "this kernel does not offer the choice")
EXPEDITED = rule(
    "doctor.rcu_normal.expedited",
    "expedited grace periods are allowed",
    remedy="`rcupdate.rcu_normal_after_boot=1` on the kernel's command line",
)
NORMAL = rule("doctor.rcu_normal.normal", "grace periods do without interrupts to other CPUs")

TITLE = "Expedited grace periods"
WHY = (
    "When a network device goes, a module is unloaded or a file system unmounted, RCU may hurry: it interrupts every "
    "CPU that is not idle."
)
WEIGHT = 26
HOLD = {EXPEDITED.id: "rcu_normal=on"}

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_switch(FACT),
    tries=always("on"),
    for_good={
        "1": "rcupdate.rcu_normal_after_boot=1 on the kernel's command line",
        "": "w /sys/kernel/rcu_normal - - - - 0 in {tmpfiles}",
    },
    causes=(Cause.IPI,),
)

judge = by_number(FACT, ABSENT, lambda value: ok(NORMAL()) if value else note(EXPEDITED()))
