"""The strictest CPU latency request in force: /dev/cpu_dma_latency."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, note, number, ok, unknown
from howlate.settings._setting import MachineSetting, always, as_number

REQUEST = "cpu.dma_latency_us"
IDLE_STATES = "cpu.idle_states"
"""Those that a request keeps CPUs out of."""

TITLE = "cpu_dma_latency"
WHY = (
    "While a process holds a request here, no CPU enters an idle state with a longer exit latency. Some "
    "tools silently set it to 0 (cyclictest does), so the measured machine is not the machine that runs "
    "later."
)
WEIGHT = 50
HOLD = ("cpu_dma_latency=0",)

SETTING = MachineSetting(
    facts=(REQUEST,),
    in_force=as_number(REQUEST),
    tries=always("0"),
    causes=(Cause.IDLE, Cause.GAP),
    lacks={"for_good": "the kernel drops the request with the process that holds it"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    latency = facts.integer(REQUEST)
    if latency is None:
        return unknown(facts, REQUEST, "{as_root}")
    if latency < 2_000_000_000:
        return note(
            "a process requests {latency_us} us",
            "`fuser -v /dev/cpu_dma_latency` names it; your application must hold it as well, or end that process "
            "and measure again",
            hold="",
            latency_us=latency,
        )
    rows = facts.table(IDLE_STATES) or ()
    deepest = max(
        (number(row, "latency_us") or 0 for row in rows if row.get("disabled") is not True), default=0
    )
    if deepest > 10:
        return note("none", "write 0 there in the application, and keep the file open while it matters")
    return ok("none")
