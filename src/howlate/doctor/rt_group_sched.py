"""RT group scheduling: CONFIG_RT_GROUP_SCHED, and cpu.rt_runtime_us of the caller's cgroup (v1)."""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, note, ok, real_time, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "RT group scheduling"
WHY = (
    "Each cgroup needs a share of its own for real-time tasks; where it has none, the kernel refuses every "
    "real-time priority."
)
WEIGHT = 98
IN_GUESTS = True


def judge(facts: Facts, aim: Aim) -> Verdict:
    option, runtime = facts.config("RT_GROUP_SCHED"), facts.integer("cgroup.rt_runtime_us")
    if option is None and runtime is None:
        return unknown(facts, "kernel.config")
    if option == "n" and runtime is None:
        return ok("not in this kernel")
    if facts.parameter("rt_group_sched") == "0":
        return ok("off (rt_group_sched=0)")
    if runtime == 0 and real_time(aim):
        return late(
            "the caller's cgroup has no share for real-time tasks (cpu.rt_runtime_us is 0)",
            "start from the root cgroup: `echo $$ > /sys/fs/cgroup/cpu/cgroup.procs`; or give the cgroup a "
            "share",
        )
    return note(
        f"in this kernel; the cgroup's share is {'not to be seen' if runtime is None else f'{runtime} us'}"
    )
