"""The caller's timer slack: /proc/self/timerslack_ns."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import VALUE, Judgement, late, ok, real_time, unknown

TITLE = "Timer slack"
WHY = (
    "The kernel may end a sleep of an ordinary task this much later, to wake it together with others. "
    "Real-time policies are exempt."
)
WEIGHT = 70
CAUSES = (Cause.TIMER_SLACK,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    slack = facts.integer("caller.timer_slack_ns")
    if real_time(aim):
        return ok("none")
    if slack is None:
        return unknown(facts, "caller.timer_slack_ns")
    if slack > 1000:
        return late(
            VALUE(value=f"{slack} ns"), "measure with `--set timer-slack=1ns`, or under a real-time policy"
        )
    return ok(VALUE(value=f"{slack} ns"))
