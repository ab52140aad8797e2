"""The mode of PREEMPT_DYNAMIC: /sys/kernel/debug/sched/preempt, else `preempt=` of the command line, else
the configuration.
"""

from __future__ import annotations

from howlate.doctor._check import Verdict, is_dynamic, late, ok, preempt_mode, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Mode of PREEMPT_DYNAMIC"
WHY = (
    "With `none` and `voluntary` a system call or a page being cleared delays every task until it reaches "
    "a point where it "
    "offers the CPU; with `full` only spinlocks and interrupts do."
)
WEIGHT = 96
IN_GUESTS = True
IN_LAB = "boot it with `preempt=full` in brackets behind its label, as in `6.1[preempt=full]`"


def judge(facts: Facts, aim: Aim) -> Verdict:
    dynamic = is_dynamic(facts)
    if dynamic is None:
        return unknown(facts, "kernel.version")
    if not dynamic:
        return ok("fixed when the kernel was built")
    mode = preempt_mode(facts)
    if mode is None:
        return unknown(
            facts, "kernel.preempt_mode", "mount debugfs: `mount -t debugfs none /sys/kernel/debug`"
        )
    found = f"{mode[0]} (says {mode[1]})"
    if mode[0] in ("none", "voluntary", "lazy"):
        return late(
            found,
            "now: `echo full > /sys/kernel/debug/sched/preempt` (debugfs mounted); "
            "for good: `preempt=full` on the kernel's command line",
        )
    return ok(found)
