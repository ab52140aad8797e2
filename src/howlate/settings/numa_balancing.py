"""Automatic NUMA balancing: /proc/sys/kernel/numa_balancing, and the existing nodes."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, late, not_there, ok
from howlate.settings._setting import MachineSetting, always, as_switch

FACT = "sched.numa_balancing"

TITLE = "NUMA balancing"
WHY = (
    "The kernel occasionally unmaps a task's pages to see which CPU accesses them: this causes faults "
    "and moved pages, in locked memory too."
)
WEIGHT = 52
HOLD = ("numa_balancing=off",)

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_switch(FACT),
    tries=always("off"),
    for_good={"": "kernel.numa_balancing = {number} in {sysctl}"},
    causes=(Cause.IPI, Cause.PAGE_FAULT),
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    balancing, nodes = facts.integer(FACT), facts.cpus("memory.numa_nodes")
    if balancing is None:
        return not_there(facts, FACT)
    if balancing == 0:
        return ok("off")
    if nodes is not None and len(nodes) <= 1:
        return ok("on, with a single node")
    return late("on", "`sysctl kernel.numa_balancing=0`, or `numa_balancing=disable` on the command line")
