"""CPUs for the kernel's unbound work: /sys/devices/virtual/workqueue/cpumask."""

from __future__ import annotations

from howlate.doctor._check import Verdict, measuring_cpus, note, ok, other_cpus, unknown
from howlate.model.facts import Facts, format_cpus
from howlate.model.finding import Aim

TITLE = "Workqueues"
WHY = (
    "Work that the kernel puts off (writing back, drivers, cgroups) runs on any CPU of this mask, the "
    "measuring ones too."
)
WEIGHT = 34


def _cpus_of(mask: str) -> frozenset[int] | None:
    try:
        bits = int(mask.replace(",", ""), 16)
    except ValueError:
        return None
    return frozenset(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def judge(facts: Facts, aim: Aim) -> Verdict:
    mask = facts.text("workqueue.cpumask")
    cpus = None if mask is None else _cpus_of(mask)
    if cpus is None:
        return unknown(facts, "workqueue.cpumask")
    shared = cpus & measuring_cpus(facts, aim)
    if not shared:
        return ok("kept off the measuring CPUs")
    if not other_cpus(facts, aim):
        return note("may run everywhere; every CPU measures", "measure on some CPUs only: `--cpus`")
    return note(
        f"may run on the measuring CPU {format_cpus(shared)}",
        "`howlate probe hold --knob workqueue_cpumask=away`",
    )
