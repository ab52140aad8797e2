"""CPUs for the kernel's unbound work: /sys/devices/virtual/workqueue/cpumask."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts, format_cpus
from howlate.settings._check import (
    ELSEWHERE,
    MEASURE_ON_SOME,
    Judgement,
    measuring_cpus,
    note,
    ok,
    other_cpus,
    unknown,
)
from howlate.settings._setting import MachineSetting, away

FACT = "workqueue.cpumask"

TITLE = "Workqueues"
WHY = (
    "Deferred work of the kernel (writeback, drivers, cgroups) runs on any CPU of this mask, including "
    "the measuring CPUs."
)
WEIGHT = 34
HOLD = ("workqueue_cpumask=away",)


def _cpus_of(mask: str) -> frozenset[int] | None:
    try:
        bits = int(mask.replace(",", ""), 16)
    except ValueError:
        return None
    return frozenset(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def _kept_away(facts: Facts, aim: Aim) -> str:
    cpus = _cpus_of(facts.text(FACT) or "")
    return "" if cpus is None or cpus & measuring_cpus(facts, aim) else "away"


SETTING = MachineSetting(
    facts=(FACT,),
    in_force=_kept_away,
    check="workqueues",
    tries=away,
    for_good={"": "w /sys/devices/virtual/workqueue/cpumask - - - - {mask} in {tmpfiles}"},
    causes=(Cause.HIGHER_TASK,),
    about={Cause.HIGHER_TASK: "kworker"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    mask = facts.text(FACT)
    cpus = None if mask is None else _cpus_of(mask)
    if cpus is None:
        return unknown(facts, FACT)
    shared = cpus & measuring_cpus(facts, aim)
    if not shared:
        return ok(ELSEWHERE())
    alone = not other_cpus(facts, aim)
    return note(
        "may run on the measuring CPU {cpus}",
        MEASURE_ON_SOME if alone else "write the other CPUs' mask to /sys/devices/virtual/workqueue/cpumask",
        hold="" if alone else None,
        cpus=format_cpus(shared),
    )
