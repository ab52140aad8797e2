"""What kind an instruction is, from its bytes: as far as a call stack, interrupts and clocks are concerned.

QEMU says where instructions begin and end, so this is no disassembler: prefixes are skipped, the opcode is
looked at."""

from __future__ import annotations

from enum import IntEnum

AMD64, ARM64 = "amd64", "arm64"


class Kind(IntEnum):
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
    **dict.fromkeys((0xE9, 0xEB, *range(0x70, 0x80), *range(0xE0, 0xE4)), Kind.JUMP),
    **dict.fromkeys((0xC2, 0xC3, 0xCA, 0xCB), Kind.RETURN),
    **dict.fromkeys((0xCC, 0xCD, 0xF1), Kind.ENTER),
    0xE8: Kind.CALL,
    0xCF: Kind.LEAVE,
    0xF4: Kind.HALT,
    0xFA: Kind.INTERRUPTS_OFF,
    0xFB: Kind.INTERRUPTS_ON,
}
_TWO = {
    **dict.fromkeys(range(0x80, 0x90), Kind.JUMP),
    **dict.fromkeys((0x07, 0x35), Kind.LEAVE),
    **dict.fromkeys((0x05, 0x34), Kind.ENTER),
    0x31: Kind.CLOCK,
}
_GROUP = {2: Kind.CALL, 3: Kind.CALL, 4: Kind.JUMP, 5: Kind.JUMP}
"""Of opcode ff, by the middle three bits of the byte after it."""
_CLOCK_OR_HALT = {0xF9: Kind.CLOCK, 0xC9: Kind.HALT}
"""Of opcode 0f 01: rdtscp, mwait."""

_ARM64 = (
    (0xFC000000, 0x94000000, Kind.CALL),  # bl
    (0xFFFFFC1F, 0xD63F0000, Kind.CALL),  # blr
    (0xFEFFF800, 0xD63F0800, Kind.CALL),  # blraa and the like
    (0xFFFFFC1F, 0xD65F0000, Kind.RETURN),  # ret
    (0xFFFFFBFF, 0xD65F0BFF, Kind.RETURN),  # retaa, retab
    (0xFFFFFFFF, 0xD69F03E0, Kind.LEAVE),  # eret
    (0xFC000000, 0x14000000, Kind.JUMP),  # b
    (0xFF000000, 0x54000000, Kind.JUMP),  # b.cond
    (0x7E000000, 0x34000000, Kind.JUMP),  # cbz, cbnz
    (0x7E000000, 0x36000000, Kind.JUMP),  # tbz, tbnz
    (0xFFFFFC1F, 0xD61F0000, Kind.JUMP),  # br
    (0xFEFFF800, 0xD61F0800, Kind.JUMP),  # braa and the like
    (0xFFE0001C, 0xD4000000, Kind.ENTER),  # svc, hvc, smc
    (0xFFE0001F, 0xD4200000, Kind.ENTER),  # brk
    (0xFFFFFFDF, 0xD503205F, Kind.HALT),  # wfi, wfe
    (0xFFFFF2FF, 0xD50342DF, Kind.INTERRUPTS_OFF),  # msr daifset, with the bit of interrupts
    (0xFFFFF2FF, 0xD50342FF, Kind.INTERRUPTS_ON),  # msr daifclr, likewise
    (0xFFFFFF80, 0xD53BE000, Kind.CLOCK),  # mrs of a counter
)
_OTHER_CLOCK_REGISTERS = 0xD53BE000
"""cntfrq_el0: its rate, no reading."""


def kind_of(arch: str, code: bytes) -> Kind:
    """The kind of one instruction; PLAIN if there is nothing about it."""
    return _of_arm64(code) if arch == ARM64 else _of_amd64(code)


def _of_amd64(code: bytes) -> Kind:
    at = 0
    while at < len(code) and code[at] in _PREFIXES:
        at += 1
    if at < len(code) and code[at] & 0xF0 == 0x40:
        at += 1
    opcode, rest = code[at : at + 1], code[at + 1 :]
    if not opcode:
        return Kind.PLAIN
    if opcode == b"\xff" and rest:
        return _GROUP.get(rest[0] >> 3 & 7, Kind.PLAIN)
    if opcode == b"\x0f" and rest:
        if rest[0] == 0x01 and len(rest) > 1:
            return _CLOCK_OR_HALT.get(rest[1], Kind.PLAIN)
        return _TWO.get(rest[0], Kind.PLAIN)
    return _ONE.get(opcode[0], Kind.PLAIN)


def _of_arm64(code: bytes) -> Kind:
    word = int.from_bytes(code[:4], "little")
    if word & ~0x1F == _OTHER_CLOCK_REGISTERS:
        return Kind.PLAIN
    return next((kind for mask, value, kind in _ARM64 if word & mask == value), Kind.PLAIN)
