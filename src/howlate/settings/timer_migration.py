"""Timer migration: /proc/sys/kernel/timer_migration."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, not_there, note, ok
from howlate.settings._setting import MachineSetting, always, as_switch

FACT = "sched.timer_migration"

TITLE = "Timer migration"
WHY = (
    "A timer that is armed on a CPU about to idle may be moved to a busy one: its interrupt comes there, "
    "and another interrupt carries the wake-up to the measuring CPU."
)
WEIGHT = 38
HOLD = ("timer_migration=off",)

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_switch(FACT),
    tries=always("off", "on"),
    for_good={"": "kernel.timer_migration = {number} in {sysctl}"},
    causes=(Cause.SOFTIRQ,),
    about={Cause.SOFTIRQ: "TIMER|HRTIMER"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    migration, online = facts.integer(FACT), facts.cpus("cpu.online")
    if migration is None:
        return not_there(facts, FACT)
    if migration == 0:
        return ok("off")
    if online is not None and len(online) == 1:
        return ok("on, with a single CPU")
    return note("on", "`sysctl kernel.timer_migration=0`")
