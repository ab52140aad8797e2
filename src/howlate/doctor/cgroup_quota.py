"""The caller's CPU quota: cpu.max (cgroup v2), cpu.cfs_quota_us (v1), of its cgroup and those above."""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, note, ok, real_time, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "CPU quota"
WHY = (
    "When the cgroup has used up its quota, its ordinary tasks stand still until the period ends: tens of "
    "milliseconds. Loads "
    "and recorder are such tasks, so a quota also makes the load smaller than asked for."
)
WEIGHT = 84


def judge(facts: Facts, aim: Aim) -> Verdict:
    quota, period = facts.integer("cgroup.cpu_quota_us"), facts.integer("cgroup.cpu_period_us")
    if quota is None or period is None:
        return unknown(facts, "cgroup.cpu_quota_us" if quota is None else "cgroup.cpu_period_us")
    if quota < 0 or period <= 0:
        return ok("none")
    found = f"{quota} of each {period} us ({quota / period:.2g} CPUs)"
    change = (
        "start the container or service without a quota (`docker run` without --cpus; systemd `CPUQuota=`)"
    )
    return note(found + ": real-time tasks are outside it", change) if real_time(aim) else late(found, change)
