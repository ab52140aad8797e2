"""Whether a hypervisor runs below this kernel: CPUID, /sys/hypervisor, the device tree."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import Judgement, late, ok, unknown

CHANGE = (
    "measure on the hardware; or on the host: a CPU for each virtual CPU (pinned), SCHED_FIFO for their threads, "
    "C-states off, memory locked; in the guest `idle=poll`"
)

TITLE = "Hypervisor"
WHY = (
    "A guest's timer fires when the host runs the virtual CPU again: the host's own load, its idle "
    "states and its memory traffic affect every number, and no setting in the guest can remove them."
)
WEIGHT = 88
CAUSES = (Cause.IRQ_LATE_OR_GAP, Cause.GAP)


def judge(facts: Facts, aim: Aim) -> Judgement:
    name = facts.text("machine.hypervisor")
    if name is None:
        return unknown(facts, "machine.hypervisor")
    if not name:
        return ok("none")
    spelt = {
        "KVMKVMKVM": "KVM",
        "VMwareVMware": "VMware",
        "Microsoft Hv": "Hyper-V",
        "XenVMMXenVMM": "Xen",
    }.get(name, name)
    poll = facts.integer("cpu.haltpoll_ns")
    if poll is None:
        return late("a guest of {hypervisor}", CHANGE, hypervisor=spelt)
    return late(
        "a guest of {hypervisor} (guest halt polling {poll_ns} ns)", CHANGE, hypervisor=spelt, poll_ns=poll
    )
