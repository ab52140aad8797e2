"""Automatic NUMA balancing: /proc/sys/kernel/numa_balancing, and the nodes that are there."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, late, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "NUMA balancing"
WHY = (
    "The kernel unmaps a task's pages now and then to see who touches them: faults and moved pages, of "
    "locked memory too."
)
WEIGHT = 52


def judge(facts: Facts, aim: Aim) -> Verdict:
    balancing, nodes = facts.integer("sched.numa_balancing"), facts.cpus("memory.numa_nodes")
    if balancing is None:
        if absent(facts, "sched.numa_balancing"):
            return ok("this kernel does not balance")
        return unknown(facts, "sched.numa_balancing")
    if balancing == 0:
        return ok("off")
    if nodes is not None and len(nodes) <= 1:
        return ok("on, but there is one node only")
    return late("on", "`sysctl kernel.numa_balancing=0`, or `numa_balancing=disable`")
