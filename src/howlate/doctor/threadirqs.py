"""Whether interrupt handlers run in threads: PREEMPT_RT, or `threadirqs` on the command line."""

from __future__ import annotations

from howlate.model.cause import OF_DEVICES, Cause
from howlate.model.facts import Aim, Facts
from howlate.model.preemption import is_rt_kernel
from howlate.settings._check import ABSENT, Judgement, note, ok, unknown

TITLE = "Threaded interrupts"
WHY = (
    "Handlers in threads have priorities, so that an urgent task can run before them; otherwise every "
    "handler comes first. Each costs a task switch."
)
WEIGHT = 42
CAUSES = (Cause.IRQ,)
ABOUT = {Cause.IRQ: OF_DEVICES}
IN_GUESTS = True
IN_LAB = "boot it with `threadirqs` in brackets behind its label, as in `6.1[threadirqs]`"


def judge(facts: Facts, aim: Aim) -> Judgement:
    if is_rt_kernel(facts):
        return ok("PREEMPT_RT")
    if facts.text("kernel.cmdline") is None:
        return unknown(facts, "kernel.cmdline")
    if facts.parameter("threadirqs") is not None:
        return ok("threadirqs")
    if facts.config("IRQ_FORCED_THREADING") == "n":
        return note(ABSENT(), "boot a kernel with CONFIG_IRQ_FORCED_THREADING=y")
    return note("off", "`threadirqs` on the kernel's command line")
