"""Swap: SwapTotal of /proc/meminfo, and vm.swappiness."""

from __future__ import annotations

from howlate.doctor._check import Verdict, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Swap"
WHY = (
    "A page that was swapped out costs a read from a disk. The probe locks its own memory and reports its "
    "faults; an "
    "application that does not is late by milliseconds."
)
WEIGHT = 30


def judge(facts: Facts, aim: Aim) -> Verdict:
    total = facts.integer("memory.swap_total_kib")
    if total is None:
        return unknown(facts, "memory.swap_total_kib")
    if total == 0:
        return ok("none")
    swappiness = facts.integer("memory.swappiness")
    return note(
        f"{total // 1024} MiB, swappiness {'?' if swappiness is None else swappiness}",
        "lock the application's memory (mlockall), or `swapoff -a`",
    )
