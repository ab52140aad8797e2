"""Isolation of the measuring CPUs: isolcpus, nohz_full (sysfs) and rcu_nocbs (command line), cpuset
partitions.
"""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts, format_cpus, parse_cpus
from howlate.settings._check import Judgement, late, measuring_cpus, note, ok, other_cpus, real_time, unknown
from howlate.settings._setting import NO_OTHER_CPU, MachineSetting
from howlate.words.say import statement_of
from howlate.words.statement import Statement

ISOLATED = "cpu.isolated"
NOHZ_FULL = "cpu.nohz_full"
CHANGE = (
    "`isolcpus=managed_irq,domain,{isolated} nohz_full={isolated} rcu_nocbs={isolated}` on the kernel's command "
    "line"
)

TITLE = "Isolation"
WHY = (
    "The load balancer (isolcpus), most ticks (nohz_full) and the callbacks of RCU (rcu_nocbs) leave an "
    "isolated CPU alone. Any task may run on another CPU, and it leaves its interrupts, timers and cold "
    "caches there."
)
WEIGHT = 40


def _measuring(facts: Facts, aim: Aim) -> tuple[str, ...] | Statement:
    return (format_cpus(measuring_cpus(facts, aim)),) if other_cpus(facts, aim) else NO_OTHER_CPU()


SETTING = MachineSetting(
    facts=(ISOLATED, NOHZ_FULL),
    check="isolation",
    tries=_measuring,
    for_good={
        "": "isolcpus=managed_irq,domain,{cpus} on the kernel's command line, or a service with "
        "AllowedCPUs={cpus} whose slice is a partition"
    },
    causes=(Cause.IRQ, Cause.IPI, Cause.MIGRATION),
    only_named="it divides the whole machine while a cell is measured",
    refused=lambda facts: (
        statement_of("a thread cannot enter a cpuset of cgroup v2 alone")
        if facts.text("cgroup.version") == "v2"
        else None
    ),
    lacks={
        "in_force": "the knob makes a set of its own, whatever there is",
        "hold": "it divides the whole machine; what helps a service is on the kernel's command line",
    },
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    isolated, online = facts.cpus(ISOLATED), facts.cpus("cpu.online")
    if isolated is None or online is None:
        return unknown(facts, ISOLATED if isolated is None else "cpu.online")
    if len(online) <= 1:
        return ok("single CPU")
    cpus = measuring_cpus(facts, aim)
    proposed = format_cpus(cpus if cpus < online else {max(online)})
    apart = cpus <= isolated or facts.text("cgroup.partition") in ("root", "isolated", "exclusive")
    quiet = facts.cpus(NOHZ_FULL) or frozenset()
    callbacks = (parse_cpus(facts.parameter("rcu_nocbs") or "") or frozenset()) | quiet
    lacking = [name for name, have in (("nohz_full", quiet), ("rcu_nocbs", callbacks)) if not cpus <= have]
    if apart and not lacking:
        return ok("CPU {cpus} isolated, with nohz_full and rcu_nocbs", cpus=format_cpus(cpus))
    return (note if apart or real_time(aim) else late)(
        "CPU {cpus} without {parameters:all}",
        CHANGE,
        cpus=format_cpus(cpus),
        parameters=lacking if apart else ["isolcpus", *lacking],
        isolated=proposed,
    )
