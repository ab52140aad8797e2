"""Whether the service irqbalance is running."""

from __future__ import annotations

from howlate.model.cause import OF_DEVICES, Cause
from howlate.model.facts import Aim, Facts, format_cpus
from howlate.settings._check import ELSEWHERE, Judgement, measuring_cpus, note, ok, unknown
from howlate.settings.cpuset import ISOLATED

TITLE = "irqbalance"
WHY = (
    "It moves interrupts from CPU to CPU every ten seconds, also to the measuring CPUs, and undoes what "
    "was set by hand."
)
WEIGHT = 48
CAUSES = (Cause.IRQ,)
ABOUT = {Cause.IRQ: OF_DEVICES}


def judge(facts: Facts, aim: Aim) -> Judgement:
    services = facts.values.get("tasks.services")
    if not isinstance(services, list):
        return unknown(facts, "tasks.services")
    if "irqbalance" not in services:
        return ok("off")
    cpus = measuring_cpus(facts, aim)
    if cpus <= (facts.cpus(ISOLATED) or frozenset()):
        return ok(ELSEWHERE())
    return note(
        "on",
        "`systemctl stop irqbalance`, or IRQBALANCE_BANNED_CPULIST={cpus} in /etc/default/irqbalance",
        cpus=format_cpus(cpus),
    )
