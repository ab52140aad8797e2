"""Transparent huge pages: /sys/kernel/mm/transparent_hugepage/{enabled,defrag}."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import VALUE, Judgement, bracketed, late, not_there, note, ok
from howlate.settings._setting import MachineSetting, always

FACT = "memory.thp"
CHANGE = "`transparent_hugepage=never` (or madvise) on the command line"

TITLE = "Transparent huge pages"
WHY = (
    "The kernel clears 2 MiB at a fault, moves pages to make room (defrag), and merges a task's pages in "
    "the background, which takes the task's locks and flushes TLBs on all its CPUs."
)
WEIGHT = 35
HOLD = ("thp=never",)
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
        return not_there(facts, FACT)
    defrag = bracketed(facts.text("memory.thp_defrag"))
    if enabled != "always":
        return ok(VALUE(value=enabled))
    return (late if defrag == "always" else note)("always (defrag {defrag})", CHANGE, defrag=defrag or "?")
