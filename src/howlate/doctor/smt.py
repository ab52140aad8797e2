"""Hardware threads that share a core with a measuring CPU: cpu*/topology, /sys/devices/system/cpu/smt."""

from __future__ import annotations

from howlate.doctor._check import Verdict, absent, measuring_cpus, note, ok, unknown
from howlate.model.facts import Facts, format_cpus, parse_cpus
from howlate.model.finding import Aim

TITLE = "SMT"
WHY = (
    "What runs on the core's other thread takes up to half of its units, caches and buffers: the same work "
    "takes longer."
)
WEIGHT = 45


def judge(facts: Facts, aim: Aim) -> Verdict:
    active = facts.integer("cpu.smt_active")
    groups = facts.values.get("cpu.siblings")
    if not isinstance(groups, list):
        if active == 0 or (active is None and absent(facts, "cpu.smt_active")):
            return ok("off, or not there")
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
        return ok("no other thread shares a core with a measuring CPU")
    return note(
        f"CPU {format_cpus(shared)} shares a core with a measuring CPU"
        if not aim.every
        else f"on: CPUs {format_cpus(shared)} share cores",
        "`echo off > /sys/devices/system/cpu/smt/control`, or `nosmt`, or leave the sibling idle: "
        "`echo 0 > /sys/devices/system/cpu/cpuN/online`",
    )
