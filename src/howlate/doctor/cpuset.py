"""The CPUs that the caller may use: its cpuset, and its affinity (Cpus_allowed_list)."""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, note, ok, unknown
from howlate.model.facts import Facts, format_cpus
from howlate.model.finding import Aim

TITLE = "CPU set"
WHY = "A task cannot run, and a load cannot disturb, outside the caller's cpuset and affinity."
WEIGHT = 82


def judge(facts: Facts, aim: Aim) -> Verdict:
    cpuset, allowed, online = (
        facts.cpus("cgroup.cpuset"),
        facts.cpus("caller.cpus_allowed"),
        facts.cpus("cpu.online"),
    )
    if online is None or (cpuset is None and allowed is None):
        return unknown(facts, "cpu.online" if online is None else "caller.cpus_allowed")
    mine = (online if cpuset is None else cpuset) & (online if allowed is None else allowed) & online
    outside = frozenset(aim.cpus) - mine
    change = "start from another shell (`taskset -c`), or give the container the CPUs (`--cpuset-cpus`)"
    if outside:
        return late(
            f"CPU {format_cpus(outside)} shall measure, but only {format_cpus(mine)} may be used", change
        )
    if mine < online:
        return note(f"CPUs {format_cpus(mine)} of {format_cpus(online)} may be used", change)
    return ok(f"all online CPUs ({format_cpus(online)})")
