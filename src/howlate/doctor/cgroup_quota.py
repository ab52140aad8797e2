"""The caller's CPU quota: cpu.max (cgroup v2), cpu.cfs_quota_us (v1), of its cgroup and those above."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, late, note, ok, real_time, unknown

TITLE = "CPU quota"
WHY = (
    "When the cgroup has used up its quota, its ordinary tasks stop until the period ends: tens of "
    "milliseconds. Loads and recorder are such tasks, so a quota also makes the load smaller than "
    "requested."
)
WEIGHT = 84
CAUSES = (Cause.THROTTLED,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    quota, period = facts.integer("cgroup.cpu_quota_us"), facts.integer("cgroup.cpu_period_us")
    if quota is None or period is None:
        return unknown(facts, "cgroup.cpu_quota_us" if quota is None else "cgroup.cpu_period_us")
    if quota < 0 or period <= 0:
        return ok("none")
    return (note if real_time(aim) else late)(
        "{quota_us} of each {period_us} us ({cpus} CPUs)",
        "start the container or service without a quota (`docker run` without --cpus; systemd `CPUQuota=`)",
        quota_us=quota,
        period_us=period,
        cpus=f"{quota / period:.2g}",
    )
