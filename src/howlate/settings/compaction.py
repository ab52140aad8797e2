"""Proactive compaction: /proc/sys/vm/compaction_proactiveness."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.settings._check import by_number, note, ok
from howlate.settings._setting import MachineSetting, always, as_number
from howlate.words.statement import rule

FACT = "memory.compaction"
ABSENT = rule("doctor.compaction.absent", "this kernel does not move pages unasked")
ON = rule("doctor.compaction.on", "{value} of 100", remedy="`sysctl vm.compaction_proactiveness=0`")
OFF = rule("doctor.compaction.off", "off")

TITLE = "Proactive compaction"
WHY = (
    "Where memory is fragmented, a kernel thread moves pages together in the background: whoever uses such a page "
    "meanwhile faults, in locked memory too, and the TLBs of the CPUs that run its owner are flushed."
)
WEIGHT = 32
HOLD = {ON.id: "compaction=0"}

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_number(FACT),
    tries=always("0"),
    for_good={"": "vm.compaction_proactiveness = {value} in {sysctl}"},
    causes=(Cause.IPI, Cause.PAGE_FAULT),
)

judge = by_number(FACT, ABSENT, lambda value: note(ON(value=value)) if value else ok(OFF()))
