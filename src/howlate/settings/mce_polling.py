"""How often each CPU polls for corrected machine errors: machinecheck0/check_interval."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import EVERY, Judgement, not_there, note, ok, unknown
from howlate.settings._setting import MachineSetting, always, as_text

FACT = "mce.check_interval_s"

TITLE = "MCE polling"
WHY = (
    "Every interval a timer on each CPU reads the banks of machine checks: some ten microseconds with "
    "interrupts off."
)
WEIGHT = 24
HOLD = ("mce_polling=0",)

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_text(FACT),
    tries=always("0"),
    for_good={
        "": "w /sys/devices/system/machinecheck/machinecheck0/check_interval - - - - {value} in {tmpfiles}"
    },
    causes=(Cause.IRQ_LATE,),
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    text = facts.text(FACT)
    if facts.parameter("mce") in ("off", "ignore_ce") or facts.parameter("nomce") is not None:
        return ok("off")
    if text is None:
        return not_there(facts, FACT)
    try:
        interval = int(text, 10)
    except ValueError:
        return unknown(facts, FACT)
    if interval > 0:
        return note(EVERY(interval_s=interval), "`mce=ignore_ce` on the command line")
    return ok("off")
