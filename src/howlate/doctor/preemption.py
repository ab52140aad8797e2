"""The preemption model that the kernel was built with: `kernel.version`, /sys/kernel/realtime,
CONFIG_PREEMPT*.
"""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.model.preemption import is_dynamic, is_rt_kernel, preempt_mode
from howlate.settings._check import Judgement, late, note, ok, unknown
from howlate.words.statement import rule

REAL_TIME = rule("doctor.preemption.real-time", "PREEMPT_RT")
CHANGE = "install a PREEMPT_RT kernel (Debian: `apt install linux-image-rt-amd64`, or -arm64) and boot it"
DYNAMIC = rule(
    "doctor.preemption.dynamic", "not PREEMPT_RT; the mode is chosen at boot (PREEMPT_DYNAMIC)", remedy=CHANGE
)
FULL = rule("doctor.preemption.full", "preemptible (full), not PREEMPT_RT", remedy=CHANGE)
WEAK = rule(
    "doctor.preemption.weak",
    "not PREEMPT_RT, and not preemptible in the kernel (none or voluntary)",
    remedy=CHANGE,
)
FIXED = rule("doctor.preemption.fixed", "preemption {mode}, fixed when the kernel was built", remedy=CHANGE)
PREEMPTIBLE = rule("doctor.preemption.preemptible", "preemptible ({mode}), not PREEMPT_RT", remedy=CHANGE)

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
        return ok(REAL_TIME())
    if is_dynamic(facts):
        return note(DYNAMIC())
    mode = preempt_mode(facts)
    if mode is None:
        version = facts.text("kernel.version") or ""
        if "PREEMPT" in version:
            return note(FULL())
        return late(WEAK())
    if mode[0] in ("none", "voluntary"):
        return late(FIXED(mode=mode[0]))
    return note(PREEMPTIBLE(mode=mode[0]))
