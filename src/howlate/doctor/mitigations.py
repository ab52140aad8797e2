"""Mitigations of the CPU's vulnerabilities: /sys/devices/system/cpu/vulnerabilities."""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.settings._check import VALUE, Judgement, note, ok, unknown

TITLE = "Mitigations"
WHY = (
    "Each costs time at every entry into the kernel or every task switch: from tens of nanoseconds to a "
    "microsecond."
)
WEIGHT = 22
IN_GUESTS = True
IN_LAB = "boot it with `mitigations=off` in brackets behind its label, as in `6.1[mitigations=off]`"


def judge(facts: Facts, aim: Aim) -> Judgement:
    found = facts.mapping("cpu.vulnerabilities")
    if found is None:
        return unknown(facts, "cpu.vulnerabilities")
    if facts.parameter("mitigations") == "off":
        return ok("off")
    costing = sorted(name for name, text in found.items() if str(text).startswith("Mitigation:"))
    if not costing:
        return ok("none")
    return note(
        VALUE(value=costing),
        "`mitigations=off` on the command line, only where every program on the machine is trusted",
    )
