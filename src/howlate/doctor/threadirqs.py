"""Whether interrupt handlers run in threads: PREEMPT_RT, or `threadirqs` on the command line."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.model.preemption import is_rt_kernel
from howlate.settings._check import Judgement, note, ok, unknown
from howlate.words.statement import rule

REAL_TIME = rule("doctor.threadirqs.real-time", "forced by PREEMPT_RT")
FORCED = rule("doctor.threadirqs.forced", "forced by threadirqs")
NOT_POSSIBLE = rule(
    "doctor.threadirqs.not-possible",
    "this kernel cannot thread them (CONFIG_IRQ_FORCED_THREADING is not set)",
    remedy="boot another kernel",
)
OFF = rule(
    "doctor.threadirqs.off",
    "handlers run before every task",
    remedy="`threadirqs` on the kernel's command line",
)

TITLE = "Threaded interrupts"
WHY = (
    "Handlers in threads have priorities, so that an urgent task can run before them; otherwise every "
    "handler comes first. Each costs a task switch."
)
WEIGHT = 42
CAUSES = (Cause.IRQ,)
IN_GUESTS = True
IN_LAB = "boot it with `threadirqs` in brackets behind its label, as in `6.1[threadirqs]`"


def judge(facts: Facts, aim: Aim) -> Judgement:
    if is_rt_kernel(facts):
        return ok(REAL_TIME())
    if facts.text("kernel.cmdline") is None:
        return unknown(facts, "kernel.cmdline")
    if facts.parameter("threadirqs") is not None:
        return ok(FORCED())
    if facts.config("IRQ_FORCED_THREADING") == "n":
        return note(NOT_POSSIBLE())
    return note(OFF())
