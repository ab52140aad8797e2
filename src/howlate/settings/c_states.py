"""Idle states of the measuring CPUs and their exit latencies: /sys/devices/system/cpu/cpu*/cpuidle."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, late, measuring_cpus, not_there, note, number, ok, row_cpus
from howlate.settings._setting import MachineSetting, always
from howlate.settings.cpu_dma_latency import IDLE_STATES, REQUEST

CHANGE = "permanently `processor.max_cstate=1 intel_idle.max_cstate=1`, or hold /dev/cpu_dma_latency open"

TITLE = "C-states"
WHY = (
    "A CPU in a deep idle state takes this long to wake, before the first instruction of the timer's "
    "interrupt."
)
WEIGHT = 85
HOLD = ("cpu_dma_latency=0",)


def _awake(facts: Facts, _aim: Aim) -> str:
    states = facts.table(IDLE_STATES) or ()
    return "0" if states and all(s.get("disabled") or not s.get("latency_us") for s in states) else ""


SETTING = MachineSetting(
    facts=(IDLE_STATES,),
    in_force=_awake,
    tries=always("0"),
    for_good={
        "0": "processor.max_cstate=1 intel_idle.max_cstate=1 on the kernel's command line (idle=poll for none)"
    },
    causes=(Cause.IDLE, Cause.GAP),
    lacks={"hold": "cpu_dma_latency keeps the same states out, with one file for all CPUs"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    if facts.parameter("idle") == "poll":
        return ok("off (idle=poll)")
    rows = facts.table(IDLE_STATES)
    if rows is None:
        return not_there(facts, IDLE_STATES)
    cpus = measuring_cpus(facts, aim)
    limit = facts.integer(REQUEST)
    deepest, name = 0, ""
    for row in rows:
        latency = number(row, "latency_us")
        if latency is None or row.get("disabled") is True or not row_cpus(row, "cpus") & cpus:
            continue
        if latency > deepest and (limit is None or latency <= limit):
            deepest, name = latency, str(row.get("name"))
    level = late if deepest > 10 else note if deepest > 2 else ok
    return level(
        "exit from {state} takes up to {latency_us} us",
        CHANGE if deepest > 2 else "",
        state=name or "idle",
        latency_us=deepest,
    )
