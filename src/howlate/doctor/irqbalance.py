"""Whether the service irqbalance runs."""

from __future__ import annotations

from howlate.doctor._check import Verdict, measuring_cpus, note, ok, unknown
from howlate.model.facts import Facts, format_cpus
from howlate.model.finding import Aim

TITLE = "irqbalance"
WHY = (
    "It moves interrupts from CPU to CPU every ten seconds, onto the measuring ones too, and undoes what "
    "was set by hand."
)
WEIGHT = 48


def judge(facts: Facts, aim: Aim) -> Verdict:
    services = facts.values.get("tasks.services")
    if not isinstance(services, list):
        return unknown(facts, "tasks.services")
    if "irqbalance" not in services:
        return ok("does not run")
    cpus = measuring_cpus(facts, aim)
    if cpus <= (facts.cpus("cpu.isolated") or frozenset()):
        return ok("runs, and leaves isolated CPUs alone")
    return note(
        "runs",
        f"`systemctl stop irqbalance`, or IRQBALANCE_BANNED_CPULIST={format_cpus(cpus)} in "
        f"/etc/default/irqbalance",
    )
