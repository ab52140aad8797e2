"""Expedited grace periods of RCU: /sys/kernel/rcu_normal."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, absent, note, ok, unknown
from howlate.words.statement import rule

ABSENT = rule("doctor.rcu_normal.absent", "this kernel does not offer the choice")
EXPEDITED = rule(
    "doctor.rcu_normal.expedited",
    "expedited grace periods are allowed",
    remedy="`rcupdate.rcu_normal_after_boot=1` on the kernel's command line",
)
NORMAL = rule("doctor.rcu_normal.normal", "grace periods do without interrupts to other CPUs")

TITLE = "Expedited grace periods"
WHY = (
    "When a network device goes, a module is unloaded or a file system unmounted, RCU may hurry: it interrupts every "
    "CPU that is not idle."
)
WEIGHT = 26
HOLD = {EXPEDITED.id: "rcu_normal=on"}


def judge(facts: Facts, aim: Aim) -> Judgement:
    value = facts.integer("sched.rcu_normal")
    if value is None:
        return ok(ABSENT()) if absent(facts, "sched.rcu_normal") else unknown(facts, "sched.rcu_normal")
    return ok(NORMAL()) if value else note(EXPEDITED())
