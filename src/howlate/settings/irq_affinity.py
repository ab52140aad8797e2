"""Device interrupts that arrive at a measuring CPU: /proc/interrupts,
/proc/irq/*/{smp,effective}_affinity_list.
"""

from __future__ import annotations

from howlate.model.cause import OF_DEVICES, Cause
from howlate.model.facts import Aim, Facts
from howlate.model.preemption import is_rt_kernel
from howlate.settings._check import (
    MEASURE_ON_SOME,
    Judgement,
    late,
    measuring_cpus,
    note,
    number,
    ok,
    other_cpus,
    row_cpus,
    unknown,
)
from howlate.settings._setting import MachineSetting, away

FACT = "irq.devices"

TITLE = "Interrupts on the measuring CPUs"
WHY = (
    "A device's interrupt stops every task on its CPU, whatever that task's priority; without threaded "
    "handlers its whole "
    "handler and the softirqs behind it run first."
)
WEIGHT = 65
HOLD = ("irq_affinity=away",)

_OFTEN_HZ = 10

SETTING = MachineSetting(
    facts=(FACT,),
    tries=away,
    for_good={
        "": "irqaffinity={cpus} on the kernel's command line, and irqbalance off or with "
        "IRQBALANCE_BANNED_CPULIST={measuring}"
    },
    causes=(Cause.IRQ_LATE, Cause.IRQ_LATE_OR_GAP, Cause.IRQ, Cause.SOFTIRQ),
    about={Cause.IRQ: OF_DEVICES, Cause.SOFTIRQ: "NET_|BLOCK|IRQ_POLL|TASKLET|HI"},
    lacks={"in_force": "each interrupt has its own, and some cannot be moved"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    rows = facts.table(FACT)
    if rows is None:
        return unknown(facts, FACT)
    cpus, uptime = measuring_cpus(facts, aim), facts.integer("kernel.uptime_s") or 0
    arrived: list[tuple[int, str]] = []
    for row in rows:
        counts = row.get("counts")
        if not isinstance(counts, dict) or not row_cpus(row, "effective", "affinity") & cpus:
            continue
        total = sum(number(counts, str(cpu)) or 0 for cpu in cpus)
        if total:
            arrived.append((total, f"{row.get('irq')} ({str(row.get('name')).split(' ')[-1]})"))
    arrived.sort(key=lambda one: (-one[0], one[1]))
    if not arrived:
        return ok("none")
    alone = not other_cpus(facts, aim)
    often = uptime > 0 and arrived[0][0] >= _OFTEN_HZ * uptime
    return (late if often and not alone and not is_rt_kernel(facts) else note)(
        "{count:count} since boot, of {interrupts}",
        MEASURE_ON_SOME
        if alone
        else "write other CPUs to /proc/irq/N/smp_affinity_list; permanently `irqaffinity=`",
        hold="" if alone else None,
        count=sum(total for total, _ in arrived),
        interrupts=[name for _, name in arrived],
    )
