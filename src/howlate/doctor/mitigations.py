"""What the kernel does against weaknesses of the CPU: /sys/devices/system/cpu/vulnerabilities."""

from __future__ import annotations

from howlate.doctor._check import Verdict, note, ok, some, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Mitigations"
WHY = (
    "Each costs at every entry of the kernel or every switch of tasks: from tens of nanoseconds to a "
    "microsecond."
)
WEIGHT = 22
IN_GUESTS = True
IN_LAB = "boot it with `mitigations=off` in brackets behind its label, as in `6.1[mitigations=off]`"


def judge(facts: Facts, aim: Aim) -> Verdict:
    found = facts.mapping("cpu.vulnerabilities")
    if found is None:
        return unknown(facts, "cpu.vulnerabilities")
    if facts.parameter("mitigations") == "off":
        return ok("off (mitigations=off)")
    costing = sorted(name for name, text in found.items() if str(text).startswith("Mitigation:"))
    if not costing:
        return ok("none in force")
    return note(
        f"{len(costing)} in force: {some(costing)}",
        "`mitigations=off` on the command line, only where every program on the machine is trusted",
    )
