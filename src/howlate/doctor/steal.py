"""Time that the hypervisor gave to other guests: steal of /proc/stat since boot."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, late, note, ok, unknown

TITLE = "Steal"
WHY = (
    "While a virtual CPU waits for a real one, nothing on it runs: latencies of milliseconds that the "
    "guest cannot explain."
)
WEIGHT = 86
CAUSES = (Cause.IRQ_LATE_OR_GAP, Cause.GAP)


def judge(facts: Facts, aim: Aim) -> Judgement:
    stolen, total = facts.integer("cpu.steal_ticks"), facts.integer("cpu.total_ticks")
    if stolen is None or total is None or total <= 0:
        return unknown(facts, "cpu.steal_ticks" if stolen is None else "cpu.total_ticks")
    share = 100 * stolen / total
    if stolen <= 0:
        return ok("none")
    return (late if share >= 0.1 else note)(
        "{share} % of the CPUs' time since boot",
        "give the guest CPUs of its own on the host, or measure on the hardware",
        share=f"{share:.2g}" if share >= 0.1 else f"{share:.1g}",
    )
