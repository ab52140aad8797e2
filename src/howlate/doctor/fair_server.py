"""The fair server of kernels since 6.12: /sys/kernel/debug/sched/fair_server/cpu*/{runtime,period}."""

from __future__ import annotations

from howlate.doctor._check import Verdict, kernel_version, measuring_cpus, note, number, ok, row_cpus, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Fair server"
WHY = (
    "Where real-time tasks leave nothing to the others, the fair server takes 50 ms of each second for "
    "these, above every "
    "FIFO priority. A measuring task that sleeps between activations meets it only if other real-time "
    "tasks fill its CPU."
)
WEIGHT = 55
IN_GUESTS = True
IN_LAB = ""


def judge(facts: Facts, aim: Aim) -> Verdict:
    version = kernel_version(facts)
    if version is not None and version < (6, 12):
        return ok("this kernel has none")
    rows = facts.table("sched.fair_server")
    if rows is None:
        return unknown(facts, "sched.fair_server", "mount debugfs: `mount -t debugfs none /sys/kernel/debug`")
    cpus = measuring_cpus(facts, aim)
    for row in rows:
        runtime, period = number(row, "runtime_ns"), number(row, "period_ns")
        if row_cpus(row, "cpus") & cpus and runtime and period:
            return note(
                f"takes up to {runtime // 1_000_000} of {period // 1_000_000} ms for tasks that are not "
                f"real-time",
                "`echo 0 > /sys/kernel/debug/sched/fair_server/cpuN/runtime` (then a runaway real-time "
                "task starves all else)",
            )
    return ok("off on the measuring CPUs")
