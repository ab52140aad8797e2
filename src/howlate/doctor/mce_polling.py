"""How often each CPU looks for corrected machine errors: machinecheck0/check_interval."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "MCE polling"
WHY = (
    "Every interval a timer on each CPU reads the banks of machine checks: some ten microseconds with "
    "interrupts off."
)
WEIGHT = 24


def judge(facts: Facts, aim: Aim) -> Verdict:
    text = facts.text("mce.check_interval_s")
    if facts.parameter("mce") in ("off", "ignore_ce") or facts.parameter("nomce") is not None:
        return ok("off (command line)")
    if text is None:
        return (
            ok("not there")
            if absent(facts, "mce.check_interval_s")
            else unknown(facts, "mce.check_interval_s")
        )
    try:
        interval = int(text, 10)
    except ValueError:
        return unknown(facts, "mce.check_interval_s")
    if interval > 0:
        return note(
            f"every {interval} s",
            "`echo 0 > /sys/devices/system/machinecheck/machinecheck0/check_interval`, or `mce=ignore_ce`",
        )
    return ok("off")
