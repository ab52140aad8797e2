"""The preemption model that the kernel was built with: `kernel.version`, /sys/kernel/realtime,
CONFIG_PREEMPT*.
"""

from __future__ import annotations

from howlate.doctor._check import Verdict, is_dynamic, is_rt_kernel, late, note, ok, preempt_mode, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Preemption model"
WHY = (
    "A kernel without PREEMPT_RT finishes what it is doing in spinlocks, interrupts and softirqs before it "
    "lets a task run, "
    "however urgent that is; one without preemption finishes whole system calls."
)
WEIGHT = 95
IN_GUESTS = True
IN_LAB = "compare it with its RT kernel, as in `6.1-rt`"

_CHANGE = "install a PREEMPT_RT kernel (Debian: `apt install linux-image-rt-amd64`, or -arm64) and boot it"


def judge(facts: Facts, aim: Aim) -> Verdict:
    real_time = is_rt_kernel(facts)
    if real_time is None:
        return unknown(facts, "kernel.version")
    if real_time:
        return ok("PREEMPT_RT")
    if is_dynamic(facts):
        return note("not PREEMPT_RT; the mode is chosen at boot (PREEMPT_DYNAMIC)", _CHANGE)
    mode = preempt_mode(facts)
    if mode is None:
        version = facts.text("kernel.version") or ""
        if "PREEMPT" in version:
            return note("preemptible (full), not PREEMPT_RT", _CHANGE)
        return late("not PREEMPT_RT, and not preemptible in the kernel (none or voluntary)", _CHANGE)
    if mode[0] in ("none", "voluntary"):
        return late(f"preemption {mode[0]}, fixed when the kernel was built", _CHANGE)
    return note(f"preemptible ({mode[0]}), not PREEMPT_RT", _CHANGE)
