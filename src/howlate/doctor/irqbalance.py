"""Whether the service irqbalance is running."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts, format_cpus
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, measuring_cpus, note, ok, unknown
from howlate.settings.cpuset import ISOLATED
from howlate.words.statement import rule

ABSENT = rule("doctor.irqbalance.absent", "does not run")
APART = rule("doctor.irqbalance.apart", "runs, and leaves isolated CPUs alone")
RUNS = rule(
    "doctor.irqbalance.runs",
    "runs",
    remedy="`systemctl stop irqbalance`, or IRQBALANCE_BANNED_CPULIST={cpus} in /etc/default/irqbalance",
)

TITLE = "irqbalance"
WHY = (
    "It moves interrupts from CPU to CPU every ten seconds, also to the measuring CPUs, and undoes what "
    "was set by hand."
)
WEIGHT = 48
CAUSES = (Cause.IRQ,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    services = facts.values.get("tasks.services")
    if not isinstance(services, list):
        return unknown(facts, "tasks.services")
    if "irqbalance" not in services:
        return ok(ABSENT())
    cpus = measuring_cpus(facts, aim)
    if cpus <= (facts.cpus(ISOLATED) or frozenset()):
        return ok(APART())
    return note(RUNS(cpus=format_cpus(cpus)))
