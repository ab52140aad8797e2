"""Whether Cobalt switches off the interrupts of system management that it can: `xenomai.smi`."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.model.preemption import core_of, unread_core
from howlate.settings._check import Judgement, note, ok, unknown
from howlate.words.statement import rule

NOT_NEEDED = rule("doctor.core_smi.not-needed", "not Cobalt, or not a chipset that it knows")
OFF = rule(
    "doctor.core_smi.off",
    "Cobalt leaves system management interrupts as they are (xenomai.smi={mode})",
    remedy="boot with `xenomai.smi=enabled` where the kernel's log names an SMI-enabled chipset; first read what the "
    "firmware needs them for (heat)",
)
ON = rule("doctor.core_smi.on", "Cobalt has switched them off (xenomai.smi=enabled)")

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
    return ok(ON()) if mode == "enabled" else note(OFF(mode=mode))
