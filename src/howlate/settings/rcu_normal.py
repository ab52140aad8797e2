"""Expedited grace periods of RCU: /sys/kernel/rcu_normal."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.settings._check import by_number, note, ok
from howlate.settings._setting import MachineSetting, always, as_switch

FACT = "sched.rcu_normal"

TITLE = "Expedited grace periods"
WHY = (
    "When a network device goes, a module is unloaded or a file system unmounted, RCU may hurry: it interrupts every "
    "CPU that is not idle."
)
WEIGHT = 26
HOLD = ("rcu_normal=on",)
CHANGE = "`rcupdate.rcu_normal_after_boot=1` on the kernel's command line"

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

judge = by_number(FACT, lambda value: ok("off") if value else note("on", CHANGE))
