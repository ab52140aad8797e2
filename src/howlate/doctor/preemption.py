"""The preemption model that the kernel was built with: `kernel.version`, /sys/kernel/realtime,
CONFIG_PREEMPT*.
"""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.model.preemption import is_dynamic, is_rt_kernel, preempt_mode
from howlate.settings._check import Judgement, late, note, ok, unknown

CHANGE = "install a PREEMPT_RT kernel (Debian: `apt install linux-image-rt-amd64`, or -arm64) and boot it"

AT_BOOT = "chosen at boot"

TITLE = "Preemption model"
WHY = (
    "A kernel without PREEMPT_RT finishes what it is doing in spinlocks, interrupts and softirqs before it "
    "lets a task run, "
    "however urgent that is; one without preemption finishes whole system calls."
)
WEIGHT = 95
CAUSES = (Cause.IRQ_LATE, Cause.IRQ_LATE_OR_GAP, Cause.SOFTIRQ, Cause.NOT_PREEMPTIBLE)
IN_GUESTS = True
IN_LAB = "compare it with its RT kernel, as in `6.1-rt`"


def judge(facts: Facts, aim: Aim) -> Judgement:
    real_time = is_rt_kernel(facts)
    if real_time is None:
        return unknown(facts, "kernel.version")
    if real_time:
        return ok("PREEMPT_RT")
    version = facts.text("kernel.version") or ""
    mode = (preempt_mode(facts) or ("full" if "PREEMPT" in version else "none or voluntary",))[0]
    mode = AT_BOOT if is_dynamic(facts) else mode
    return (note if mode in ("full", "lazy", AT_BOOT) else late)(
        "not PREEMPT_RT (preemption: {mode})", CHANGE, mode=mode
    )
