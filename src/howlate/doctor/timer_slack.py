"""The caller's timer slack: /proc/self/timerslack_ns."""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, ok, real_time, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Timer slack"
WHY = (
    "The kernel may end a sleep of an ordinary task this much later, to wake it together with others. "
    "Real-time policies "
    "have none."
)
WEIGHT = 70


def judge(facts: Facts, aim: Aim) -> Verdict:
    slack = facts.integer("caller.timer_slack_ns")
    if real_time(aim):
        return ok(f"none under {aim.policy}" + ("" if slack is None else f" ({slack} ns for ordinary tasks)"))
    if slack is None:
        return unknown(facts, "caller.timer_slack_ns")
    if slack > 1000:
        return late(
            f"{slack} ns under {aim.policy}", "measure with `--timer-slack 1ns`, or under a real-time policy"
        )
    return ok(f"{slack} ns")
