"""Isolation of the measuring CPUs: isolcpus, nohz_full (sysfs) and rcu_nocbs (command line), cpuset
partitions.
"""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, measuring_cpus, note, ok, real_time, unknown
from howlate.model.facts import Facts, format_cpus, parse_cpus
from howlate.model.finding import Aim

TITLE = "Isolation"
WHY = (
    "An isolated CPU is left alone by the load balancer (isolcpus), by most ticks (nohz_full) and by the "
    "callbacks of RCU "
    "(rcu_nocbs); without it, any task may be put there and leaves its interrupts, timers and cold caches."
)
WEIGHT = 40


def judge(facts: Facts, aim: Aim) -> Verdict:
    isolated, online = facts.cpus("cpu.isolated"), facts.cpus("cpu.online")
    if isolated is None or online is None:
        return unknown(facts, "cpu.isolated" if isolated is None else "cpu.online")
    if len(online) <= 1:
        return ok("one CPU only: nothing to isolate it from")
    cpus = measuring_cpus(facts, aim)
    listed = format_cpus(cpus if cpus < online else {max(online)})
    change = (
        f"`isolcpus=managed_irq,domain,{listed} nohz_full={listed} rcu_nocbs={listed}` on the kernel's "
        "command line"
    )
    apart = cpus <= isolated or facts.text("cgroup.partition") in ("root", "isolated", "exclusive")
    if not apart:
        found = (
            f"CPU {format_cpus(cpus)} is not isolated"
            if len(cpus) == 1
            else f"CPUs {format_cpus(cpus)} are not isolated"
        )
        return note(found, change) if real_time(aim) else late(found, change)
    quiet = facts.cpus("cpu.nohz_full") or frozenset()
    callbacks = (parse_cpus(facts.parameter("rcu_nocbs") or "") or frozenset()) | quiet
    lacking = [name for name, have in (("nohz_full", quiet), ("rcu_nocbs", callbacks)) if not cpus <= have]
    if lacking:
        return note(f"CPU {format_cpus(cpus)} isolated, without {' and '.join(lacking)}", change)
    return ok(f"CPU {format_cpus(cpus)} isolated, with nohz_full and rcu_nocbs")
