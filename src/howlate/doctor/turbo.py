"""Frequencies above the nominal one: intel_pstate/no_turbo or cpufreq/boost."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Turbo"
WHY = (
    "How fast a CPU runs then hangs on heat and on what its neighbours do, so that the same work takes "
    "differently long; "
    "the mean gets better, the spread worse."
)
WEIGHT = 20


def judge(facts: Facts, aim: Aim) -> Verdict:
    turbo = facts.text("cpu.turbo")
    if turbo is None:
        return ok("no switch for it here") if absent(facts, "cpu.turbo") else unknown(facts, "cpu.turbo")
    if turbo == "on":
        return note("on", "`howlate probe hold --knob turbo=off`, if the spread matters more than the mean")
    return ok("off")
