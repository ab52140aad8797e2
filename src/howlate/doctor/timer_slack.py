"""The caller's timer slack: /proc/self/timerslack_ns."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, late, ok, real_time, unknown
from howlate.words.statement import rule

SLACK = rule(
    "doctor.timer_slack.slack",
    "{slack_ns} ns under {policy}",
    remedy="measure with `--set timer-slack=1ns`, or under a real-time policy",
)
SMALL = rule("doctor.timer_slack.small", "{slack_ns} ns")
NONE = rule("doctor.timer_slack.none", "none under {policy}")
NONE_HERE = rule("doctor.timer_slack.none-here", "none under {policy} ({slack_ns} ns for ordinary tasks)")

TITLE = "Timer slack"
WHY = (
    "The kernel may end a sleep of an ordinary task this much later, to wake it together with others. "
    "Real-time policies "
    "have none."
)
WEIGHT = 70
CAUSES = (Cause.TIMER_SLACK,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    slack = facts.integer("caller.timer_slack_ns")
    if real_time(aim):
        none = NONE(policy=aim.policy)
        return ok(none if slack is None else NONE_HERE(policy=aim.policy, slack_ns=slack))
    if slack is None:
        return unknown(facts, "caller.timer_slack_ns")
    if slack > 1000:
        return late(SLACK(slack_ns=slack, policy=aim.policy))
    return ok(SMALL(slack_ns=slack))
