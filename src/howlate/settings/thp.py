"""Transparent huge pages: /sys/kernel/mm/transparent_hugepage/{enabled,defrag}."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, bracketed, late, not_there, note, ok
from howlate.settings._setting import MachineSetting, always
from howlate.words.statement import rule

FACT = "memory.thp"
ABSENT = rule("doctor.huge_pages.absent", "this kernel has none")
MODE = rule("doctor.huge_pages.mode", "{mode}")
CHANGE = "`transparent_hugepage=never` (or madvise) on the command line"
AT_ONCE = rule(
    "doctor.huge_pages.at-once",
    "always, and faults make room for them at once (defrag always)",
    remedy=CHANGE,
)
ALWAYS = rule("doctor.huge_pages.always", "always (defrag {defrag})", remedy=CHANGE)

TITLE = "Transparent huge pages"
WHY = (
    "The kernel clears 2 MiB at a fault, moves pages to make room (defrag), and merges a task's pages in "
    "the background, which takes the task's locks and flushes TLBs on all its CPUs."
)
WEIGHT = 35
HOLD = {AT_ONCE.id: "thp=never", ALWAYS.id: "thp=never"}
IN_GUESTS = True
IN_LAB = "boot it with `transparent_hugepage=never` in brackets behind its label"


def is_on(facts: Facts, knobs: Sequence[str]) -> bool:
    """Whether the kernel may hand out huge pages, with these knobs in force ("thp=never")."""
    held = next((knob.partition("=")[2] for knob in knobs if knob.startswith("thp=")), "")
    return (held or bracketed(facts.text(FACT))) in ("always", "madvise")


SETTING = MachineSetting(
    facts=(FACT,),
    in_force=lambda facts, _aim: bracketed(facts.text(FACT)),
    check="huge_pages",
    tries=always("never", "always"),
    for_good={"": "transparent_hugepage={value} on the kernel's command line"},
    causes=(Cause.IPI, Cause.PAGE_FAULT),
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    enabled = bracketed(facts.text(FACT))
    if enabled is None:
        return not_there(facts, FACT, ABSENT)
    defrag = bracketed(facts.text("memory.thp_defrag"))
    if enabled != "always":
        return ok(MODE(mode=enabled))
    if defrag == "always":
        return late(AT_ONCE())
    return note(ALWAYS(defrag=defrag or "?"))
