"""RT throttling: /proc/sys/kernel/sched_rt_runtime_us and sched_rt_period_us."""

from __future__ import annotations

from typing import Any

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.model.preemption import kernel_version
from howlate.settings._check import Judgement, late, note, ok, real_time, unknown
from howlate.settings._setting import MachineSetting, always, as_number

RUNTIME = "sched.rt_runtime_us"
PERIOD = "sched.rt_period_us"

CHANGE = "`sysctl kernel.sched_rt_runtime_us=-1` (a runaway task then owns its CPU)"

TITLE = "RT throttling"
WHY = (
    "When the real-time tasks of a CPU have used up their runtime, all of them stop until the period "
    "ends: by default 50 ms in each second. This happens when a real-time task never sleeps."
)
WEIGHT = 60
HOLD = ("rt_throttling=off",)
IN_GUESTS = True
IN_LAB = "`--set knob=rt_throttling=off` (a runaway task then owns its CPU)"

SETTING = MachineSetting(
    facts=(RUNTIME, PERIOD),
    in_force=lambda facts, aim: "off" if facts.integer(RUNTIME) == -1 else as_number(RUNTIME)(facts, aim),
    tries=always("off", "950000"),
    for_good={
        "off": "kernel.sched_rt_runtime_us = -1 in {sysctl}",
        "": "kernel.sched_rt_runtime_us = {value} in {sysctl}",
    },
    causes=(Cause.THROTTLED,),
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    runtime, period = facts.integer(RUNTIME), facts.integer(PERIOD)
    if runtime is None or period is None:
        return unknown(facts, RUNTIME if runtime is None else PERIOD)
    if runtime < 0 or runtime >= period:
        return ok("off")
    times: dict[str, Any] = {"runtime_us": runtime, "period_us": period}
    if real_time(aim):
        version = kernel_version(facts)
        if (
            runtime >= period // 2
            and version is not None
            and version >= (6, 12)
            and facts.config("RT_GROUP_SCHED") == "n"
        ):
            return ok("{runtime_us} of {period_us} us limits admission only, as of Linux 6.12", **times)
    return (ok if not real_time(aim) else late if runtime < period // 2 else note)(
        "real-time tasks may run {runtime_us} of {period_us} us", CHANGE if real_time(aim) else "", **times
    )
