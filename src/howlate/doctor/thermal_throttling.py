"""How often CPUs were slowed because of heat since boot: cpu*/thermal_throttle."""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Thermal throttling"
WHY = (
    "A CPU that is too hot is run at a fraction of its frequency, or stopped part of the time, and "
    "interrupted each time."
)
WEIGHT = 74


def judge(facts: Facts, aim: Aim) -> Verdict:
    core, package = facts.integer("cpu.throttled_core"), facts.integer("cpu.throttled_package")
    if core is None and package is None:
        return unknown(facts, "cpu.throttled_core")
    if (core or 0) + (package or 0) > 0:
        return late(
            f"{core or 0} times a core, {package or 0} times a package since boot",
            "better cooling, or a lower top frequency: `cpupower frequency-set -u`",
        )
    return ok("never since boot")
