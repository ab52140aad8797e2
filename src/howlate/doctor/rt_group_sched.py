"""RT group scheduling: CONFIG_RT_GROUP_SCHED, and cpu.rt_runtime_us of the caller's cgroup (v1)."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, late, note, ok, real_time, unknown
from howlate.words.statement import rule

ABSENT = rule("doctor.rt_group_sched.absent", "not in this kernel")
SWITCHED_OFF = rule("doctor.rt_group_sched.switched-off", "off (rt_group_sched=0)")
NO_SHARE = rule(
    "doctor.rt_group_sched.no-share",
    "the caller's cgroup has no share for real-time tasks (cpu.rt_runtime_us is 0)",
    remedy="start from the root cgroup: `echo $$ > /sys/fs/cgroup/cpu/cgroup.procs`; or give the cgroup a share",
)
NO_FIGURE = rule("doctor.rt_group_sched.no-figure", "in this kernel; the cgroup's share is not visible")
SHARE = rule("doctor.rt_group_sched.share", "in this kernel; the cgroup's share is {runtime_us} us")

TITLE = "RT group scheduling"
WHY = (
    "Each cgroup needs a share of its own for real-time tasks; without one, the kernel refuses every "
    "real-time priority."
)
WEIGHT = 98
CAUSES = (Cause.THROTTLED,)
IN_GUESTS = True


def judge(facts: Facts, aim: Aim) -> Judgement:
    option, runtime = facts.config("RT_GROUP_SCHED"), facts.integer("cgroup.rt_runtime_us")
    if option is None and runtime is None:
        return unknown(facts, "kernel.config")
    if option == "n" and runtime is None:
        return ok(ABSENT())
    if facts.parameter("rt_group_sched") == "0":
        return ok(SWITCHED_OFF())
    if runtime == 0 and real_time(aim):
        return late(NO_SHARE())
    return note(NO_FIGURE() if runtime is None else SHARE(runtime_us=runtime))
