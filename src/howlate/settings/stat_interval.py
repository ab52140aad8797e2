"""How often vmstat collects each CPU's counters: /proc/sys/vm/stat_interval."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.settings._check import EVERY, by_number, note, ok
from howlate.settings._setting import MachineSetting, always, as_number

FACT = "memory.stat_interval_s"
_RARE_S = 10

TITLE = "Counters of memory"
WHY = (
    "A worker on each CPU collects its counters of memory at this interval, if they have changed: a switch to it and "
    "back for every task that is not real-time, and a timer for all."
)
WEIGHT = 18
HOLD = ("stat_interval=120",)
CHANGE = "`sysctl vm.stat_interval=120`"

SETTING = MachineSetting(
    facts=(FACT,),
    in_force=as_number(FACT),
    tries=always("120"),
    for_good={"": "vm.stat_interval = {value} in {sysctl}"},
    causes=(Cause.HIGHER_TASK,),
    about={Cause.HIGHER_TASK: "kworker"},
)

judge = by_number(
    FACT, lambda s: note(EVERY(interval_s=s), CHANGE) if s < _RARE_S else ok(EVERY(interval_s=s))
)
