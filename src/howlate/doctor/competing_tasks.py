"""Other processes' real-time tasks on the measuring CPUs, and their priorities: /proc/*/task/*/stat."""

from __future__ import annotations

from howlate.model.cause import OF_USERS, Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import (
    ABOVE,
    HIGHEST,
    Judgement,
    late,
    measuring_cpus,
    note,
    number,
    ok,
    real_time,
    row_cpus,
    unknown,
)

TITLE = "Competing real-time tasks"
WHY = (
    "A task of the same or a higher priority runs first, for as long as it likes; SCHED_DEADLINE runs "
    "before every priority."
)
WEIGHT = 78
CAUSES = (Cause.HIGHER_TASK,)
ABOUT = {Cause.HIGHER_TASK: OF_USERS}


def judge(facts: Facts, aim: Aim) -> Judgement:
    rows = facts.table("tasks.real_time")
    if rows is None:
        return unknown(facts, "tasks.real_time")
    cpus = measuring_cpus(facts, aim)
    is_below_all = False
    before: list[str] = []
    behind: list[str] = []
    for row in rows:
        if row.get("kernel") is not False or not row_cpus(row, "cpus") & cpus:
            continue
        priority = number(row, "priority") or 0
        name = f"{row.get('name')} ({row.get('policy')}{f':{priority}' if priority else ''})"
        deadline = row.get("policy") == "deadline"
        first = aim.policy != "deadline" and (deadline or not real_time(aim) or priority >= aim.priority)
        (before if first else behind).append(name)
        is_below_all |= first and (deadline or priority >= HIGHEST)
    if before:
        return late(
            ABOVE(tasks=before, policy=aim.policy, priority=aim.priority),
            "move the competing tasks to other CPUs, or lower their priority: `taskset -p`, `chrt -p`"
            if is_below_all
            else "give the measuring task a higher priority, or move the competing tasks: `chrt -p`, `taskset -p`",
        )
    if behind:
        return note("{tasks} of a lower priority", tasks=behind)
    return ok("none")
