"""The mode of PREEMPT_DYNAMIC: /sys/kernel/debug/sched/preempt, else `preempt=` of the command line, else
the configuration.
"""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.model.preemption import PREEMPT_MODE, is_dynamic, preempt_mode
from howlate.settings._check import UNKNOWN, Judgement, late, ok, unknown
from howlate.settings._setting import MachineSetting, always
from howlate.words.statement import rule

FIXED = rule("doctor.preempt_dynamic.fixed", "fixed when the kernel was built")
WEAK = rule(
    "doctor.preempt_dynamic.weak",
    "{mode} (as reported by {source})",
    remedy="permanently `preempt=full` on the kernel's command line",
)
MODE = rule("doctor.preempt_dynamic.mode", "{mode} (as reported by {source})")
NOT_KNOWN = rule(
    "doctor.preempt_dynamic.not-known",
    UNKNOWN,
    remedy="mount debugfs: `mount -t debugfs none /sys/kernel/debug`",
)

TITLE = "Mode of PREEMPT_DYNAMIC"
WHY = (
    "With `none` and `voluntary` a system call or a page being cleared delays every task until it reaches "
    "a point where it "
    "offers the CPU; with `full` only spinlocks and interrupts do."
)
WEIGHT = 96
HOLD = {WEAK.id: "preemption=full"}
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
        return ok(FIXED())
    mode = preempt_mode(facts)
    if mode is None:
        return unknown(facts, PREEMPT_MODE, NOT_KNOWN)
    if mode[0] in ("none", "voluntary", "lazy"):
        return late(WEAK(mode=mode[0], source=mode[1]))
    return ok(MODE(mode=mode[0], source=mode[1]))
