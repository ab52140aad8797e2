"""Kernel samepage merging: /sys/kernel/mm/ksm/run."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "KSM"
WHY = (
    "A kernel thread compares and merges pages: it takes CPU and memory bandwidth, and a write to a merged "
    "page faults."
)
WEIGHT = 28


def judge(facts: Facts, aim: Aim) -> Verdict:
    run = facts.integer("memory.ksm")
    if run is None:
        return ok("this kernel has none") if absent(facts, "memory.ksm") else unknown(facts, "memory.ksm")
    if run == 1:
        return note("runs", "`echo 2 > /sys/kernel/mm/ksm/run` (stops, and takes merged pages apart)")
    return ok("does not run")
