"""Idle states of the measuring CPUs and how long their way out takes:
/sys/devices/system/cpu/cpu*/cpuidle.
"""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, late, measuring_cpus, note, number, ok, row_cpus, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "C-states"
WHY = (
    "A CPU that sleeps deeply takes this long to be there again, before the first instruction of the "
    "timer's interrupt."
)
WEIGHT = 85


def judge(facts: Facts, aim: Aim) -> Verdict:
    if facts.parameter("idle") == "poll":
        return ok("CPUs do not sleep at all (idle=poll)")
    rows = facts.table("cpu.idle_states")
    if rows is None:
        if absent(facts, "cpu.idle_states"):
            return ok("the kernel knows none to choose from")
        return unknown(facts, "cpu.idle_states")
    cpus = measuring_cpus(facts, aim)
    limit = facts.integer("cpu.dma_latency_us")
    deepest, name = 0, ""
    for row in rows:
        latency = number(row, "latency_us")
        if latency is None or row.get("disabled") is True or not row_cpus(row, "cpus") & cpus:
            continue
        if latency > deepest and (limit is None or latency <= limit):
            deepest, name = latency, str(row.get("name"))
    change = (
        f"`howlate probe hold --knob cpu_dma_latency=0` (or c_states={min(2, deepest)}); for good "
        "`processor.max_cstate=1 intel_idle.max_cstate=1`, or hold /dev/cpu_dma_latency open"
    )
    if deepest > 10:
        return late(f"the way out of {name} takes up to {deepest} us", change)
    if deepest > 2:
        return note(f"the way out of {name} takes up to {deepest} us", change)
    return ok(f"the way out takes at most {deepest} us")
