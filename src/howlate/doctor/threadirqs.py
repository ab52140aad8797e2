"""Whether interrupt handlers run in threads: PREEMPT_RT, or `threadirqs` on the command line."""

from __future__ import annotations

from howlate.doctor._check import Verdict, is_rt_kernel, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Threaded interrupts"
WHY = (
    "Handlers in threads have priorities, so that an urgent task can run before them; otherwise every "
    "handler comes first. "
    "They cost a switch each."
)
WEIGHT = 42
IN_GUESTS = True
IN_LAB = "boot it with `threadirqs` in brackets behind its label, as in `6.1[threadirqs]`"


def judge(facts: Facts, aim: Aim) -> Verdict:
    if is_rt_kernel(facts):
        return ok("forced by PREEMPT_RT")
    if facts.text("kernel.cmdline") is None:
        return unknown(facts, "kernel.cmdline")
    if facts.parameter("threadirqs") is not None:
        return ok("forced by threadirqs")
    if facts.config("IRQ_FORCED_THREADING") == "n":
        return note(
            "this kernel cannot thread them (CONFIG_IRQ_FORCED_THREADING is not set)", "boot another kernel"
        )
    return note("handlers run before every task", "`threadirqs` on the kernel's command line")
