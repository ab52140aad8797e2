"""The fair server of kernels since 6.12: /sys/kernel/debug/sched/fair_server/cpu*/{runtime,period}."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.model.preemption import kernel_version
from howlate.settings._check import (
    ABSENT,
    MOUNT_DEBUGFS,
    Judgement,
    measuring_cpus,
    note,
    number,
    ok,
    row_cpus,
    unknown,
)
from howlate.settings._setting import MachineSetting, always

FACT = "sched.fair_server"

TITLE = "Fair server"
WHY = (
    "If real-time tasks leave the other tasks no CPU time, the fair server takes 50 ms of each second "
    "for them, above every FIFO priority. A measuring task that sleeps between activations meets it only "
    "if other real-time tasks fill its CPU."
)
WEIGHT = 55
HOLD = ("fair_server=off",)
IN_GUESTS = True
IN_LAB = ""


def _no_server(facts: Facts, _aim: Aim) -> str:
    rows = facts.table(FACT) or ()
    return "off" if rows and all(row.get("runtime_ns") == 0 for row in rows) else ""


SETTING = MachineSetting(
    facts=(FACT,),
    in_force=_no_server,
    tries=always("off"),
    causes=(Cause.THROTTLED,),
    lacks={"for_good": "debugfs is made anew at each boot, and no boot parameter sets it"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    version = kernel_version(facts)
    if version is not None and version < (6, 12):
        return ok(ABSENT())
    rows = facts.table(FACT)
    if rows is None:
        return unknown(facts, FACT, MOUNT_DEBUGFS)
    cpus = measuring_cpus(facts, aim)
    for row in rows:
        runtime, period = number(row, "runtime_ns"), number(row, "period_ns")
        if row_cpus(row, "cpus") & cpus and runtime and period:
            return note(
                "takes up to {runtime_ms} of {period_ms} ms for tasks that are not real-time",
                "write 0 to /sys/kernel/debug/sched/fair_server/cpu*/runtime (then a runaway real-time task starves "
                "all others)",
                runtime_ms=runtime // 1000000,
                period_ms=period // 1000000,
            )
    return ok("off")
