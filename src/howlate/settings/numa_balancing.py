"""Automatic NUMA balancing: /proc/sys/kernel/numa_balancing, and the existing nodes."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, late, not_there, ok
from howlate.settings._setting import MachineSetting, always, as_switch
from howlate.words.statement import rule

FACT = "sched.numa_balancing"
ABSENT = rule("doctor.numa_balancing.absent", "this kernel does not balance")
OFF = rule("doctor.numa_balancing.off", "off")
ONE_NODE = rule("doctor.numa_balancing.one-node", "on, but there is only one node")
ON = rule(
    "doctor.numa_balancing.on",
    "on",
    remedy="`sysctl kernel.numa_balancing=0`, or `numa_balancing=disable` on the command line",
)

TITLE = "NUMA balancing"
WHY = (
    "The kernel occasionally unmaps a task's pages to see which CPU accesses them: this causes faults "
    "and moved pages, in locked memory too."
)
WEIGHT = 52
HOLD = {ON.id: "numa_balancing=off"}

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
        return not_there(facts, FACT, ABSENT)
    if balancing == 0:
        return ok(OFF())
    if nodes is not None and len(nodes) <= 1:
        return ok(ONE_NODE())
    return late(ON())
