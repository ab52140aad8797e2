"""What kind an instruction is, from its bytes: as far as a call stack, interrupts and clocks are concerned.

QEMU says where instructions begin and end, so this is no disassembler: prefixes are skipped, the opcode is
looked at."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

AMD64, ARM64 = "amd64", "arm64"


class InstructionKind(IntEnum):
    """What an instruction does to the flow of control, to interrupts or to the clock."""

    PLAIN = 0
    JUMP = 1
    CALL = 2
    RETURN = 3
    LEAVE = 4
    """Back from an interrupt, an exception or a system call."""
    ENTER = 5
    """A system call, or an exception on purpose."""
    HALT = 6
    CLOCK = 7
    """Reads the CPU's clock."""
    INTERRUPTS_OFF = 8
    INTERRUPTS_ON = 9


_PREFIXES = frozenset(b"\x66\x67\xf2\xf3\x2e\x36\x3e\x26\x64\x65\xf0")
_ONE = {
    **dict.fromkeys((0xE9, 0xEB, *range(0x70, 0x80), *range(0xE0, 0xE4)), InstructionKind.JUMP),
    **dict.fromkeys((0xC2, 0xC3, 0xCA, 0xCB), InstructionKind.RETURN),
    **dict.fromkeys((0xCC, 0xCD, 0xF1), InstructionKind.ENTER),
    0xE8: InstructionKind.CALL,
    0xCF: InstructionKind.LEAVE,
    0xF4: InstructionKind.HALT,
    0xFA: InstructionKind.INTERRUPTS_OFF,
    0xFB: InstructionKind.INTERRUPTS_ON,
}
_TWO = {
    **dict.fromkeys(range(0x80, 0x90), InstructionKind.JUMP),
    **dict.fromkeys((0x07, 0x35), InstructionKind.LEAVE),
    **dict.fromkeys((0x05, 0x34), InstructionKind.ENTER),
    0x31: InstructionKind.CLOCK,
}
_GROUP = {2: InstructionKind.CALL, 3: InstructionKind.CALL, 4: InstructionKind.JUMP, 5: InstructionKind.JUMP}
"""Of opcode ff, by the middle three bits of the byte after it."""
_CLOCK_OR_HALT = {0xF9: InstructionKind.CLOCK, 0xC9: InstructionKind.HALT}
"""Of opcode 0f 01: rdtscp, mwait."""

_ARM64 = (
    (0xFC000000, 0x94000000, InstructionKind.CALL),  # bl
    (0xFFFFFC1F, 0xD63F0000, InstructionKind.CALL),  # blr
    (0xFEFFF800, 0xD63F0800, InstructionKind.CALL),  # blraa and the like
    (0xFFFFFC1F, 0xD65F0000, InstructionKind.RETURN),  # ret
    (0xFFFFFBFF, 0xD65F0BFF, InstructionKind.RETURN),  # retaa, retab
    (0xFFFFFFFF, 0xD69F03E0, InstructionKind.LEAVE),  # eret
    (0xFC000000, 0x14000000, InstructionKind.JUMP),  # b
    (0xFF000000, 0x54000000, InstructionKind.JUMP),  # b.cond
    (0x7E000000, 0x34000000, InstructionKind.JUMP),  # cbz, cbnz
    (0x7E000000, 0x36000000, InstructionKind.JUMP),  # tbz, tbnz
    (0xFFFFFC1F, 0xD61F0000, InstructionKind.JUMP),  # br
    (0xFEFFF800, 0xD61F0800, InstructionKind.JUMP),  # braa and the like
    (0xFFE0001C, 0xD4000000, InstructionKind.ENTER),  # svc, hvc, smc
    (0xFFE0001F, 0xD4200000, InstructionKind.ENTER),  # brk
    (0xFFFFFFDF, 0xD503205F, InstructionKind.HALT),  # wfi, wfe
    (0xFFFFF2FF, 0xD50342DF, InstructionKind.INTERRUPTS_OFF),  # msr daifset, with the bit of interrupts
    (0xFFFFF2FF, 0xD50342FF, InstructionKind.INTERRUPTS_ON),  # msr daifclr, likewise
    (0xFFFFFF80, 0xD53BE000, InstructionKind.CLOCK),  # mrs of a counter
)
_OTHER_CLOCK_REGISTERS = 0xD53BE000
"""cntfrq_el0: its rate, no reading."""


@lru_cache(1 << 16)
def kind_of(arch: str, code: bytes) -> InstructionKind:
    """The kind of one instruction; PLAIN if there is nothing about it."""
    return _of_arm64(code) if arch == ARM64 else _of_amd64(code)


def _of_amd64(code: bytes) -> InstructionKind:
    at = 0
    while at < len(code) and code[at] in _PREFIXES:
        at += 1
    if at < len(code) and code[at] & 0xF0 == 0x40:
        at += 1
    opcode, rest = code[at : at + 1], code[at + 1 :]
    if not opcode:
        return InstructionKind.PLAIN
    if opcode == b"\xff" and rest:
        return _GROUP.get(rest[0] >> 3 & 7, InstructionKind.PLAIN)
    if opcode == b"\x0f" and rest:
        if rest[0] == 0x01 and len(rest) > 1:
            return _CLOCK_OR_HALT.get(rest[1], InstructionKind.PLAIN)
        return _TWO.get(rest[0], InstructionKind.PLAIN)
    return _ONE.get(opcode[0], InstructionKind.PLAIN)


def _of_arm64(code: bytes) -> InstructionKind:
    word = int.from_bytes(code[:4], "little")
    if word & ~0x1F == _OTHER_CLOCK_REGISTERS:
        return InstructionKind.PLAIN
    return next((kind for mask, value, kind in _ARM64 if word & mask == value), InstructionKind.PLAIN)
