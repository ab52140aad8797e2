"""Kernel samepage merging: /sys/kernel/mm/ksm/run."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.settings._check import by_number, note, ok
from howlate.settings._setting import MachineSetting, always

FACT = "memory.ksm"

TITLE = "KSM"
WHY = (
    "A kernel thread compares and merges pages: it takes CPU and memory bandwidth, and a write to a merged "
    "page faults."
)
WEIGHT = 28
HOLD = ("ksm=off",)
CHANGE = "`echo 2 > /sys/kernel/mm/ksm/run` (stops, and takes merged pages apart)"

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=lambda facts, _aim: "" if facts.integer(FACT) in (None, 1) else "off",
    tries=always("off"),
    for_good={"": "w /sys/kernel/mm/ksm/run - - - - {number} in {tmpfiles}, and ksmtuned off"},
    causes=(Cause.IPI, Cause.PAGE_FAULT),
)

judge = by_number(FACT, lambda run: note("on", CHANGE) if run == 1 else ok("off"))
