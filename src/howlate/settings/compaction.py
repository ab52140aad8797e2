"""Proactive compaction: /proc/sys/vm/compaction_proactiveness."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, absent, note, ok, unknown
from howlate.words.statement import rule

ABSENT = rule("doctor.compaction.absent", "this kernel does not move pages unasked")
ON = rule(
    "doctor.compaction.on",
    "{value} of 100",
    remedy="`sysctl vm.compaction_proactiveness=0`",
)
OFF = rule("doctor.compaction.off", "off")

TITLE = "Proactive compaction"
WHY = (
    "Where memory is fragmented, a kernel thread moves pages together in the background: whoever uses such a page "
    "meanwhile faults, in locked memory too, and the TLBs of the CPUs that run its owner are flushed."
)
WEIGHT = 32
HOLD = {ON.id: "compaction=0"}


def judge(facts: Facts, aim: Aim) -> Judgement:
    value = facts.integer("memory.compaction")
    if value is None:
        return ok(ABSENT()) if absent(facts, "memory.compaction") else unknown(facts, "memory.compaction")
    return note(ON(value=value)) if value else ok(OFF())
