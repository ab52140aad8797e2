"""Proactive compaction: /proc/sys/vm/compaction_proactiveness."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.settings._check import VALUE, by_number, note, ok
from howlate.settings._setting import MachineSetting, always, as_number

FACT = "memory.compaction"

TITLE = "Proactive compaction"
WHY = (
    "Where memory is fragmented, a kernel thread moves pages together in the background: whoever uses such a page "
    "meanwhile faults, in locked memory too, and the TLBs of the CPUs that run its owner are flushed."
)
WEIGHT = 32
HOLD = ("compaction=0",)
CHANGE = "`sysctl vm.compaction_proactiveness=0`"

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_number(FACT),
    tries=always("0"),
    for_good={"": "vm.compaction_proactiveness = {value} in {sysctl}"},
    causes=(Cause.IPI, Cause.PAGE_FAULT),
)

judge = by_number(FACT, lambda value: note(VALUE(value=f"{value} %"), CHANGE) if value else ok("off"))
