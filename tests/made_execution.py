"""Logs of executions, written by hand: a kernel with a few functions, and a program."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from howlate.replay.execution import Execution
from howlate.replay.log import Anchor, ExecutionLog, Switch
from howlate.replay.symbols import Symbols

KERNEL = 0xFFFFFFFF81000000
PLAIN, CALL, RETURN, IRET, STI, CLI, HALT, RDTSC, SYSCALL, SYSRET, JUMP = (
    bytes.fromhex(text)
    for text in ("90", "e800000000", "c3", "48cf", "fb", "fa", "f4", "0f31", "0f05", "480f07", "eb00")
)
PLACES = {
    name: number * 0x100
    for number, name in enumerate(
        (
            "work",
            "lock",
            "asm_sysvec_apic_timer_interrupt",
            "hrtimer_interrupt",
            "__schedule",
            "__switch_to",
            "do_nanosleep",
            "entry_SYSCALL_64",
            "asm_exc_page_fault",
            "_raw_spin_lock",
            "finish",
            "free_page",
            "schedule",
            "end",
        )
    )
}
PROGRAM = 0x401000
SYMBOLS = Symbols(
    np.array([PROGRAM, PROGRAM + 0x100, *(KERNEL + at for at in PLACES.values())], dtype=np.uint64),
    ("main", "[no name]", *PLACES),
    PROGRAM + 0x100,
)


def at(function: str, offset: int = 0) -> int:
    """The address of an instruction."""
    return (PROGRAM if function == "main" else KERNEL + PLACES[function]) + offset


def execution(
    steps: Sequence[tuple[str, int, bytes]],
    anchors: Sequence[tuple[int, ...]] | None = None,
    flags: Sequence[tuple[int, bool]] = ((0, True),),
    switches: Sequence[Switch] = (),
    counts: Sequence[tuple[int, int]] = (),
    named: Mapping[str, str] | None = None,
) -> Execution:
    """Instructions as function, offset and bytes; by the clock one takes 1 ns, from 1000 ns on. Anchors as
    `model.execution.Anchor`; all that is logged before one has been executed where it does not say how much.
    `named`: what functions are called instead."""
    addresses = [at(function, offset) for function, offset, _code in steps]
    code = {address: step[2] for address, step in zip(addresses, steps, strict=True)}
    noted = anchors if anchors is not None else [(0, 1000), (len(steps), 1000 + len(steps))]
    whole = [Anchor(*(each if len(each) == 3 else (*each, each[0]))) for each in noted]
    log = ExecutionLog(np.array(addresses, dtype=np.uint64), code, whole, flags, switches, counts)
    symbols = replace(SYMBOLS, names=tuple((named or {}).get(name, name) for name in SYMBOLS.names))
    return Execution("amd64", log, symbols)
