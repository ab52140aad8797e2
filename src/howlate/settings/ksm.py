"""Kernel samepage merging: /sys/kernel/mm/ksm/run."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, absent, note, ok, unknown
from howlate.words.statement import rule

ABSENT = rule("doctor.ksm.absent", "this kernel has none")
RUNS = rule(
    "doctor.ksm.runs",
    "runs",
    remedy="`echo 2 > /sys/kernel/mm/ksm/run` (stops, and takes merged pages apart)",
)
OFF = rule("doctor.ksm.off", "does not run")

TITLE = "KSM"
WHY = (
    "A kernel thread compares and merges pages: it takes CPU and memory bandwidth, and a write to a merged "
    "page faults."
)
WEIGHT = 28
HOLD = {RUNS.id: "ksm=off"}


def judge(facts: Facts, aim: Aim) -> Judgement:
    run = facts.integer("memory.ksm")
    if run is None:
        return ok(ABSENT()) if absent(facts, "memory.ksm") else unknown(facts, "memory.ksm")
    if run == 1:
        return note(RUNS())
    return ok(OFF())
