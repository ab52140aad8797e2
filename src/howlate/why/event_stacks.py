"""The kernel's stacks that were recorded with the timer's interrupt (`--explain-stacks`): what it interrupted."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.model.trace import TraceEvent, TraceNames

_STACK = "kernel_stack"
_ENTRIES = ("asm_sysvec_", "asm_common_interrupt", "el1h_64_irq", "el1_irq", "el0t_64_irq", "el0_irq")
"""Functions in which an interrupt enters the kernel: the frame below is what it interrupted."""
_LOCKS = "_raw_"


def interrupted_stack(events: Sequence[TraceEvent], names: TraceNames, release_ns: int) -> tuple[str, ...]:
    """The function that was interrupted, and its callers, the nearest first: of the first stack after the release,
    without the end of a lock, where interrupts often come. Empty if there is none, or a program was interrupted."""
    frames: list[int] = []
    for event in events:
        if event.kind != _STACK or event.time_ns < release_ns:
            if frames:
                break
        elif event.a == 0 and frames:
            break
        else:
            frames += [address for address in (event.b, event.c, event.d) if address]
    return chain_of([names.function(address) for address in frames])


def chain_of(called: Sequence[str]) -> tuple[str, ...]:
    """Of the functions of a stack, the innermost first, what an interrupt interrupted and its callers."""
    place = next((i for i, name in enumerate(called) if name.startswith(_ENTRIES)), len(called))
    while place < len(called) and called[place].startswith((*_ENTRIES, _LOCKS)):
        place += 1
    return tuple(called[place:])
