"""Who chooses the CPUs' frequency: /sys/devices/system/cpu/cpu*/cpufreq."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, late, measuring_cpus, note, number, ok, row_cpus, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Frequency governor"
WHY = (
    "A CPU that mostly sleeps is run slowly by every governor but `performance`, and its wake-up then "
    "takes several times as "
    "long; a change of frequency itself can stop the CPU for tens of microseconds."
)
WEIGHT = 75

_CHANGE = "`howlate probe hold --knob governor=performance`, or `cpupower frequency-set -g performance`"


def judge(facts: Facts, aim: Aim) -> Verdict:
    rows = facts.table("cpu.frequency")
    if rows is None:
        if absent(facts, "cpu.frequency"):
            return ok("the kernel does not drive the frequency here")
        return unknown(facts, "cpu.frequency")
    cpus = measuring_cpus(facts, aim)
    mine = [row for row in rows if row_cpus(row, "cpus") & cpus]
    if not mine:
        return ok("the kernel does not drive the frequency of the measuring CPUs")
    names = sorted({str(row.get("governor")) for row in mine})
    fixed = all(
        number(row, "min_khz") is not None and row.get("min_khz") == row.get("max_khz") for row in mine
    )
    if names == ["performance"] or fixed:
        return ok(
            "performance" if names == ["performance"] else f"{', '.join(names)}, but the frequency is fixed"
        )
    if names == ["None"]:
        return unknown(facts, "cpu.frequency")
    if all(row.get("preference") == "performance" for row in mine):
        return note(f"{', '.join(names)} with the preference performance", _CHANGE)
    return late(", ".join(names), _CHANGE)
