"""The CPUs that the caller may use: its cpuset, and its affinity (Cpus_allowed_list)."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts, format_cpus
from howlate.settings._check import Judgement, late, note, ok, unknown

CHANGE = "start from another shell (`taskset -c`), or give the container the CPUs (`--cpuset-cpus`)"

TITLE = "CPU set"
WHY = "A task cannot run, and a load cannot disturb, outside the caller's cpuset and affinity."
WEIGHT = 82
CAUSES = (Cause.MIGRATION,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    cpuset, allowed, online = (
        facts.cpus("cgroup.cpuset"),
        facts.cpus("caller.cpus_allowed"),
        facts.cpus("cpu.online"),
    )
    if online is None or (cpuset is None and allowed is None):
        return unknown(facts, "cpu.online" if online is None else "caller.cpus_allowed")
    mine = (online if cpuset is None else cpuset) & (online if allowed is None else allowed) & online
    outside = frozenset(aim.cpus) - mine
    return (late if outside else note if mine < online else ok)(
        "may use CPUs {usable} of {online}",
        CHANGE if outside or mine < online else "",
        usable=format_cpus(mine),
        online=format_cpus(online),
    )
