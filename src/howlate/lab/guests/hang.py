"""Why a guest gives no more results: from the rate of its clock and whether its CPUs' interrupts are off."""

from __future__ import annotations

import re
from collections.abc import Sequence

INTERRUPTS_OFF = "it runs with interrupts off"
LOOPS = "it is in an endless loop with interrupts on"
LOST_TIMER = "its CPU is idle, and its timer or wake-up was lost"
LOOPS_OR_WAITS = "it is in an endless loop with interrupts on, or its timer or wake-up was lost"
"""With several CPUs none is ever idle."""

IDLE_RATE = 5.0
"""A guest of 1,000 MIPS whose clock goes on by more seconds in one of the host's CPU time is idle. One that
executes goes on by 0.04 to 0.6, and one that idles by tens."""
LOOKS, LOOK_AGAIN_S, LOOK_CPU_S = 16, 0.05, 3.0
"""How often its CPUs are looked at, how long after each other, and the CPU time in which QEMU answers such a
question. It does between two turns, and a turn ends with the next timer. Interrupts that are off make a turn longer:
the timer's interrupt stays pending."""
_X86_CPU = re.compile(r"\bRFL=([0-9a-f]+)")
_ARM_CPU = re.compile(r"\bPSTATE=([0-9a-f]+)")
_X86_ON, _ARM_OFF = 1 << 9, 1 << 7
"""The interrupt flag; the mask of interrupts."""


def with_interrupts_off(text: str) -> tuple[bool, ...]:
    """Of each CPU, in what QEMU prints of their registers."""
    x86 = [not int(word, 16) & _X86_ON for word in _X86_CPU.findall(text)]
    arm = [bool(int(word, 16) & _ARM_OFF) for word in _ARM_CPU.findall(text)]
    return tuple(x86 or arm)


def what_it_does(rate: float, looks: Sequence[tuple[bool, ...]], cpus: int) -> str:
    """`rate`: by how many seconds its clock goes on in one of CPU time, at 1,000 MIPS. `looks`: of each CPU, whether
    its interrupts were off; empty if no turn of the guest ended."""
    if rate > IDLE_RATE:
        return LOST_TIMER
    if not looks or any(map(all, zip(*looks, strict=True))):
        return INTERRUPTS_OFF
    return LOOPS if cpus == 1 else LOOPS_OR_WAITS
