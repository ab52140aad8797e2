"""Frequencies above the nominal one: intel_pstate/no_turbo or cpufreq/boost."""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, not_there, note, ok
from howlate.settings._setting import MachineSetting, always, as_text

FACT = "cpu.turbo"

TITLE = "Turbo"
WHY = (
    "The speed of a CPU then depends on heat and on its neighbours, so that the time of the same work "
    "varies; the mean improves, the spread gets worse."
)
WEIGHT = 20
HOLD = ("turbo=off",)

_KEPT = (
    "w /sys/devices/system/cpu/intel_pstate/no_turbo - - - - {} (elsewhere "
    "w /sys/devices/system/cpu/cpufreq/boost - - - - {}) in {{tmpfiles}}"
)

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_text(FACT),
    tries=always("off", "on"),
    for_good={"0": _KEPT.format(1, 0), "1": _KEPT.format(0, 1)},
    lacks={"causes": "it makes the same work take longer or shorter, and does not delay a wake-up"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    turbo = facts.text(FACT)
    if turbo is None:
        return not_there(facts, FACT)
    if turbo == "on":
        return note("on", "switch it off in the firmware, if the spread matters more than the mean")
    return ok("off")
