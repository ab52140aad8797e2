"""The strictest request for the CPUs' latency in force: /dev/cpu_dma_latency."""

from __future__ import annotations

from howlate.doctor._check import Verdict, note, number, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "cpu_dma_latency"
WHY = (
    "While a process holds a request here, no CPU sleeps deeper than it can wake from in that time. Some "
    "tools set it to 0 "
    "without a word (cyclictest does), so the machine that was measured is not the machine that runs later."
)
WEIGHT = 50


def judge(facts: Facts, aim: Aim) -> Verdict:
    latency = facts.integer("cpu.dma_latency_us")
    if latency is None:
        return unknown(facts, "cpu.dma_latency_us", "run as root")
    if latency < 2_000_000_000:
        return note(
            f"some process holds a request of {latency} us",
            "`fuser -v /dev/cpu_dma_latency` names it; your application must hold it as well, or end that "
            "process and measure again",
        )
    rows = facts.table("cpu.idle_states") or ()
    deepest = max(
        (number(row, "latency_us") or 0 for row in rows if row.get("disabled") is not True), default=0
    )
    if deepest > 10:
        return note(
            "nobody holds a request",
            "hold 0 there while it matters: `howlate probe hold --knob cpu_dma_latency=0`",
        )
    return ok("nobody holds a request, and no deep state needs one")
