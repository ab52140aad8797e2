"""How often vmstat collects each CPU's counters: /proc/sys/vm/stat_interval."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, absent, note, ok, unknown
from howlate.words.statement import rule

ABSENT = rule("doctor.stat_interval.absent", "this kernel has no such interval")
OFTEN = rule(
    "doctor.stat_interval.often",
    "every {interval_s} s",
    remedy="`sysctl vm.stat_interval=120`",
)
RARE = rule("doctor.stat_interval.rare", "every {interval_s} s")
_RARE_S = 10

TITLE = "Counters of memory"
WHY = (
    "A worker on each CPU collects its counters of memory at this interval, if they have changed: a switch to it and "
    "back for every task that is not real-time, and a timer for all."
)
WEIGHT = 18
HOLD = {OFTEN.id: "stat_interval=120"}


def judge(facts: Facts, aim: Aim) -> Judgement:
    value = facts.integer("memory.stat_interval_s")
    if value is None:
        return (
            ok(ABSENT())
            if absent(facts, "memory.stat_interval_s")
            else unknown(facts, "memory.stat_interval_s")
        )
    return note(OFTEN(interval_s=value)) if value < _RARE_S else ok(RARE(interval_s=value))
