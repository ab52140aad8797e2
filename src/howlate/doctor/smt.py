"""Hardware threads that share a core with a measuring CPU: cpu*/topology, /sys/devices/system/cpu/smt."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts, format_cpus, parse_cpus
from howlate.settings._check import ELSEWHERE, Judgement, absent, measuring_cpus, note, ok, unknown

CHANGE = (
    "`echo off > /sys/devices/system/cpu/smt/control`, or `nosmt`, or leave the sibling idle: "
    "`echo 0 > /sys/devices/system/cpu/cpuN/online`"
)

TITLE = "SMT"
WHY = (
    "Work on the core's other thread takes up to half of the core's units, caches and buffers: the same "
    "work takes longer."
)
WEIGHT = 45
CAUSES = (Cause.GAP,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    active = facts.integer("cpu.smt_active")
    groups = facts.values.get("cpu.siblings")
    if not isinstance(groups, list):
        if active == 0 or (active is None and absent(facts, "cpu.smt_active")):
            return ok("off")
        return unknown(facts, "cpu.siblings")
    cpus, online = measuring_cpus(facts, aim), facts.cpus("cpu.online") or frozenset()
    shared: set[int] = set()
    for group in groups:
        members = (parse_cpus(group) if isinstance(group, str) else None) or frozenset()
        if members & cpus:
            shared |= (
                members & online - cpus
                if not aim.every
                else (members & online if len(members & online) > 1 else set())
            )
    if active == 0 or not shared:
        return ok(ELSEWHERE())
    return note("CPU {cpus} shares a core with a measuring CPU", CHANGE, cpus=format_cpus(shared))
