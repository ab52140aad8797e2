"""How often vmstat collects each CPU's counters: /proc/sys/vm/stat_interval."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.settings._check import by_number, note, ok
from howlate.settings._setting import MachineSetting, always, as_number
from howlate.words.statement import rule

FACT = "memory.stat_interval_s"
ABSENT = rule("doctor.stat_interval.absent", "this kernel has no such interval")
OFTEN = rule("doctor.stat_interval.often", "every {interval_s} s", remedy="`sysctl vm.stat_interval=120`")
RARE = rule("doctor.stat_interval.rare", "every {interval_s} s")
_RARE_S = 10

TITLE = "Counters of memory"
WHY = (
    "A worker on each CPU collects its counters of memory at this interval, if they have changed: a switch to it and "
    "back for every task that is not real-time, and a timer for all."
)
WEIGHT = 18
HOLD = {OFTEN.id: "stat_interval=120"}

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_number(FACT),
    tries=always("120"),
    for_good={"": "vm.stat_interval = {value} in {sysctl}"},
    causes=(Cause.HIGHER_TASK,),
)

judge = by_number(
    FACT,
    ABSENT,
    lambda s: note(OFTEN(interval_s=s)) if s < _RARE_S else ok(RARE(interval_s=s)),
)
