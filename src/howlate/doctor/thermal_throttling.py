"""How often heat slowed the CPUs since boot: cpu*/thermal_throttle."""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, late, ok, unknown

TITLE = "Thermal throttling"
WHY = (
    "An overheated CPU runs at a fraction of its frequency, or is stopped part of the time, and is "
    "interrupted each time."
)
WEIGHT = 74


def judge(facts: Facts, aim: Aim) -> Judgement:
    core, package = facts.integer("cpu.throttled_core"), facts.integer("cpu.throttled_package")
    if core is None and package is None:
        return unknown(facts, "cpu.throttled_core")
    if (core or 0) + (package or 0) > 0:
        return late(
            "since boot {core} times a core, {package} times a package",
            "improve the cooling, or lower the top frequency: `cpupower frequency-set -u`",
            core=core or 0,
            package=package or 0,
        )
    return ok("none")
