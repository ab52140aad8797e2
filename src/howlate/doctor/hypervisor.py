"""A hypervisor below: CPUID, /sys/hypervisor, the device tree."""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Hypervisor"
WHY = (
    "A guest's timer fires when the host runs the virtual CPU again: the host's own load, its idle states "
    "and its memory "
    "traffic are in every number, and no setting in the guest can take them out."
)
WEIGHT = 88


def judge(facts: Facts, aim: Aim) -> Verdict:
    name = facts.text("machine.hypervisor")
    if name is None:
        return unknown(facts, "machine.hypervisor")
    if not name:
        return ok("none to be seen")
    spelt = {
        "KVMKVMKVM": "KVM",
        "VMwareVMware": "VMware",
        "Microsoft Hv": "Hyper-V",
        "XenVMMXenVMM": "Xen",
    }.get(name, name)
    poll = facts.integer("cpu.haltpoll_ns")
    polling = "" if poll is None else f" (guest halt polling {poll} ns)"
    return late(
        f"a guest of {spelt}{polling}",
        "measure on the hardware; or on the host: a CPU for each virtual CPU (pinned), SCHED_FIFO for "
        "their threads, "
        "C-states off, memory locked; in the guest `idle=poll`",
    )
