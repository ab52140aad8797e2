"""How often each CPU polls for corrected machine errors: machinecheck0/check_interval."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, absent, note, ok, unknown
from howlate.words.statement import rule

SWITCHED_OFF = rule("doctor.mce_polling.switched-off", "off (command line)")
ABSENT = rule("doctor.mce_polling.absent", "does not exist here")
RUNS = rule(
    "doctor.mce_polling.runs",
    "every {interval_s} s",
    remedy="`mce=ignore_ce` on the command line",
)
OFF = rule("doctor.mce_polling.off", "off")

TITLE = "MCE polling"
WHY = (
    "Every interval a timer on each CPU reads the banks of machine checks: some ten microseconds with "
    "interrupts off."
)
WEIGHT = 24
HOLD = {RUNS.id: "mce_polling=0"}


def judge(facts: Facts, aim: Aim) -> Judgement:
    text = facts.text("mce.check_interval_s")
    if facts.parameter("mce") in ("off", "ignore_ce") or facts.parameter("nomce") is not None:
        return ok(SWITCHED_OFF())
    if text is None:
        return (
            ok(ABSENT()) if absent(facts, "mce.check_interval_s") else unknown(facts, "mce.check_interval_s")
        )
    try:
        interval = int(text, 10)
    except ValueError:
        return unknown(facts, "mce.check_interval_s")
    if interval > 0:
        return note(RUNS(interval_s=interval))
    return ok(OFF())
