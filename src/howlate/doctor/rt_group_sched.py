"""RT group scheduling: CONFIG_RT_GROUP_SCHED, and cpu.rt_runtime_us of the caller's cgroup (v1)."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import ABSENT, Judgement, late, note, ok, real_time, unknown

CHANGE = "start from the root cgroup: `echo $$ > /sys/fs/cgroup/cpu/cgroup.procs`; or give the cgroup a share"

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
        return ok("off")
    share = "not visible" if runtime is None else f"{runtime} us"
    is_late = runtime == 0 and real_time(aim)
    return (late if is_late else note)(
        "share of the caller's cgroup: {share}", CHANGE if is_late else "", share=share
    )
