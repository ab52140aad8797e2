"""RT throttling: /proc/sys/kernel/sched_rt_runtime_us and sched_rt_period_us."""

from __future__ import annotations

from howlate.doctor._check import Verdict, kernel_version, late, note, ok, real_time, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "RT throttling"
WHY = (
    "When the real-time tasks of a CPU have used up their runtime, all of them stand still until the "
    "period ends: by "
    "default 50 ms in each second. It strikes when some real-time task never sleeps."
)
WEIGHT = 60
IN_GUESTS = True
IN_LAB = "`--set knob=rt_throttling=off` (a runaway task then owns its CPU)"

_OFF = (
    "`howlate probe hold --knob rt_throttling=off`, or `sysctl kernel.sched_rt_runtime_us=-1` (a runaway "
    "task then owns its CPU)"
)


def judge(facts: Facts, aim: Aim) -> Verdict:
    runtime, period = facts.integer("sched.rt_runtime_us"), facts.integer("sched.rt_period_us")
    if runtime is None or period is None:
        return unknown(facts, "sched.rt_runtime_us" if runtime is None else "sched.rt_period_us")
    if runtime < 0 or runtime >= period:
        return ok("off")
    if not real_time(aim):
        return ok(f"{runtime} of {period} us; the measuring task is not a real-time one")
    if runtime < period // 2:
        return late(f"real-time tasks may run {runtime} of {period} us", _OFF)
    version = kernel_version(facts)
    if version is not None and version >= (6, 12) and facts.config("RT_GROUP_SCHED") == "n":
        return ok(
            f"{runtime} of {period} us limits admission only: since 6.12 the fair server has taken its place"
        )
    return note(f"real-time tasks may run {runtime} of {period} us", _OFF)
