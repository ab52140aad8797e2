"""Swap: SwapTotal of /proc/meminfo, and vm.swappiness."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, note, ok, unknown

TITLE = "Swap"
WHY = (
    "A page that was swapped out costs a read from a disk. The probe locks its own memory and reports its "
    "faults; an "
    "application that does not is late by milliseconds."
)
WEIGHT = 30
CAUSES = (Cause.PAGE_FAULT,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    total = facts.integer("memory.swap_total_kib")
    if total is None:
        return unknown(facts, "memory.swap_total_kib")
    if total == 0:
        return ok("none")
    swappiness = facts.integer("memory.swappiness")
    return note(
        "{size_mib} MiB, swappiness {swappiness}",
        "lock the application's memory (mlockall), or `swapoff -a`",
        size_mib=total // 1024,
        swappiness="?" if swappiness is None else swappiness,
    )
