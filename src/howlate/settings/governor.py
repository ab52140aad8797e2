"""The frequency governors of the CPUs: /sys/devices/system/cpu/cpu*/cpufreq."""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.settings._check import (
    ABSENT,
    VALUE,
    Judgement,
    late,
    measuring_cpus,
    not_there,
    note,
    number,
    ok,
    row_cpus,
    unknown,
)
from howlate.settings._setting import MachineSetting, always

FACT = "cpu.frequency"
CHANGE = "`cpupower frequency-set -g performance`"

TITLE = "Frequency governor"
WHY = (
    "Every governor but `performance` runs a mostly idle CPU slowly, and its wake-up then takes several "
    "times as long; a change of frequency itself can stop the CPU for tens of microseconds."
)
WEIGHT = 75
HOLD = ("governor=performance",)


def _of_all(facts: Facts, _aim: Aim) -> str:
    governors = {row.get("governor") for row in facts.table(FACT) or ()}
    return str(governors.pop()) if len(governors) == 1 else ""


SETTING = MachineSetting(
    facts=(FACT,),
    in_force=_of_all,
    tries=always("performance"),
    for_good={
        "": "cpupower frequency-set -g {value} in a service at boot, or cpufreq.default_governor={value} on the "
        "kernel's command line"
    },
    lacks={"causes": "a slow CPU makes every part of a latency longer, and is none itself"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    rows = facts.table(FACT)
    if rows is None:
        return not_there(facts, FACT)
    cpus = measuring_cpus(facts, aim)
    mine = [row for row in rows if row_cpus(row, "cpus") & cpus]
    if not mine:
        return ok(ABSENT())
    names = sorted({str(row.get("governor")) for row in mine})
    fixed = all(
        number(row, "min_khz") is not None and row.get("min_khz") == row.get("max_khz") for row in mine
    )
    if names == ["performance"]:
        return ok("performance")
    if fixed:
        return ok("{governors}, fixed frequency", governors=names)
    if names == ["None"]:
        return unknown(facts, FACT)
    if all(row.get("preference") == "performance" for row in mine):
        return note("{governors} with the preference performance", CHANGE, governors=names)
    return late(VALUE(value=names), CHANGE)
