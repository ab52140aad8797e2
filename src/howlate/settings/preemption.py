"""The mode of PREEMPT_DYNAMIC: /sys/kernel/debug/sched/preempt, else `preempt=` of the command line, else
the configuration.
"""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.model.preemption import PREEMPT_MODE, is_dynamic, preempt_mode
from howlate.settings._check import MOUNT_DEBUGFS, Judgement, late, ok, unknown
from howlate.settings._setting import MachineSetting, always

TITLE = "Mode of PREEMPT_DYNAMIC"
WHY = (
    "With `none` and `voluntary` a system call or a page being cleared delays every task until it reaches "
    "a point where it "
    "offers the CPU; with `full` only spinlocks and interrupts do."
)
WEIGHT = 96
HOLD = ("preemption=full",)
CHANGE = "permanently `preempt=full` on the kernel's command line"
IN_GUESTS = True
IN_LAB = "boot it with `preempt=full` in brackets behind its label, as in `6.1[preempt=full]`"

SETTING = MachineSetting(
    facts=(PREEMPT_MODE,),
    in_force=lambda facts, _aim: (preempt_mode(facts) or ("",))[0],
    check="preempt_dynamic",
    tries=always("full"),
    for_good={"": "preempt={value} on the kernel's command line"},
    causes=(Cause.NOT_PREEMPTIBLE,),
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    dynamic = is_dynamic(facts)
    if dynamic is None:
        return unknown(facts, "kernel.version")
    if not dynamic:
        return ok("fixed when the kernel was built")
    mode = preempt_mode(facts)
    if mode is None:
        return unknown(facts, PREEMPT_MODE, MOUNT_DEBUGFS)
    is_late = mode[0] in ("none", "voluntary", "lazy")
    return (late if is_late else ok)(
        "{mode} (as reported by {source})", CHANGE if is_late else "", mode=mode[0], source=mode[1]
    )
