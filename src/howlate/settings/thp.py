"""Transparent huge pages: /sys/kernel/mm/transparent_hugepage/{enabled,defrag}."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, absent, bracketed, late, note, ok, unknown
from howlate.words.statement import rule

ABSENT = rule("doctor.huge_pages.absent", "this kernel has none")
MODE = rule("doctor.huge_pages.mode", "{mode}")
CHANGE = "`transparent_hugepage=never` (or madvise) on the command line"
AT_ONCE = rule(
    "doctor.huge_pages.at-once",
    "always, and faults make room for them at once (defrag always)",
    remedy=CHANGE,
)
ALWAYS = rule("doctor.huge_pages.always", "always (defrag {defrag})", remedy=CHANGE)

CHECK = "huge_pages"
TITLE = "Transparent huge pages"
WHY = (
    "The kernel clears 2 MiB at a fault, moves pages to make room (defrag), and merges a task's pages in "
    "the background, which takes the task's locks and flushes TLBs on all its CPUs."
)
WEIGHT = 35
HOLD = {AT_ONCE.id: "thp=never", ALWAYS.id: "thp=never"}
IN_GUESTS = True
IN_LAB = "boot it with `transparent_hugepage=never` in brackets behind its label"


def judge(facts: Facts, aim: Aim) -> Judgement:
    enabled = bracketed(facts.text("memory.thp"))
    if enabled is None:
        return ok(ABSENT()) if absent(facts, "memory.thp") else unknown(facts, "memory.thp")
    defrag = bracketed(facts.text("memory.thp_defrag"))
    if enabled != "always":
        return ok(MODE(mode=enabled))
    if defrag == "always":
        return late(AT_ONCE())
    return note(ALWAYS(defrag=defrag or "?"))
