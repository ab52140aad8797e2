"""Whether Cobalt switches off the interrupts of system management that it can: `xenomai.smi`."""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.model.preemption import core_of, unread_core
from howlate.settings._check import NOT_NEEDED, VALUE, Judgement, note, ok, unknown

TITLE = "SMI work-around of Cobalt"
WHY = (
    "The firmware takes the CPU in such an interrupt, from a real-time core as from Linux, for 10 to 300 us."
)
WEIGHT = 30
IN_GUESTS = True
IN_LAB = "name the kernel with `[xenomai.smi=enabled]` behind its path"


def judge(facts: Facts, aim: Aim) -> Judgement:
    if "cobalt.smi" not in facts.values:
        return unknown(facts, "cobalt.smi")
    if unread := unread_core(facts):
        return unknown(facts, unread)
    mode = facts.text("cobalt.smi")
    if core_of(facts) != "cobalt" or mode is None:
        return ok(NOT_NEEDED())
    if mode == "enabled":
        return ok("on")
    return note(
        VALUE(value=mode),
        "boot with `xenomai.smi=enabled` where the kernel's log names an SMI-enabled chipset; first read what the "
        "firmware needs them for (heat)",
    )
