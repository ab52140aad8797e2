"""Transparent huge pages: /sys/kernel/mm/transparent_hugepage/{enabled,defrag}."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, bracketed, late, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Transparent huge pages"
WHY = (
    "The kernel clears 2 MiB at a fault, moves pages about to make room (defrag), and merges pages behind "
    "a task's back, "
    "which takes its locks and flushes TLBs on all its CPUs."
)
WEIGHT = 35
IN_GUESTS = True
IN_LAB = "boot it with `transparent_hugepage=never` in brackets behind its label"

_CHANGE = (
    "`howlate probe hold --knob thp=never`, or `transparent_hugepage=never` (or madvise) on the command line"
)


def judge(facts: Facts, aim: Aim) -> Verdict:
    enabled = bracketed(facts.text("memory.thp"))
    if enabled is None:
        return ok("this kernel has none") if absent(facts, "memory.thp") else unknown(facts, "memory.thp")
    defrag = bracketed(facts.text("memory.thp_defrag"))
    if enabled != "always":
        return ok(enabled)
    if defrag == "always":
        return late("always, and faults make room for them at once (defrag always)", _CHANGE)
    return note(f"always (defrag {defrag or '?'})", _CHANGE)
