"""Time that the hypervisor gave to others: steal of /proc/stat since boot."""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Steal"
WHY = (
    "While a virtual CPU waits for a real one, nothing on it runs: latencies of milliseconds that the "
    "guest cannot explain."
)
WEIGHT = 86


def judge(facts: Facts, aim: Aim) -> Verdict:
    stolen, total = facts.integer("cpu.steal_ticks"), facts.integer("cpu.total_ticks")
    if stolen is None or total is None or total <= 0:
        return unknown(facts, "cpu.steal_ticks" if stolen is None else "cpu.total_ticks")
    share = 100 * stolen / total
    change = "give the guest CPUs of its own on the host, or measure on the hardware"
    if share >= 0.1:
        return late(f"{share:.2g} % of the CPUs' time since boot", change)
    if stolen > 0:
        return note(f"{share:.1g} % of the CPUs' time since boot", change)
    return ok("none since boot")
