"""Frequencies above the nominal one: intel_pstate/no_turbo or cpufreq/boost."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, absent, note, ok, unknown
from howlate.words.statement import rule

ABSENT = rule("doctor.turbo.absent", "there is no switch for it here")
ON = rule(
    "doctor.turbo.on",
    "on",
    remedy="switch it off in the firmware, if the spread matters more than the mean",
)
OFF = rule("doctor.turbo.off", "off")

TITLE = "Turbo"
WHY = (
    "The speed of a CPU then depends on heat and on its neighbours, so that the time of the same work "
    "varies; the mean improves, the spread gets worse."
)
WEIGHT = 20
HOLD = {ON.id: "turbo=off"}


def judge(facts: Facts, aim: Aim) -> Judgement:
    turbo = facts.text("cpu.turbo")
    if turbo is None:
        return ok(ABSENT()) if absent(facts, "cpu.turbo") else unknown(facts, "cpu.turbo")
    if turbo == "on":
        return note(ON())
    return ok(OFF())
