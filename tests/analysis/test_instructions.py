from __future__ import annotations

import pytest

from howlate.analysis.instructions import InstructionKind, kind_of

AMD64 = {
    "90": InstructionKind.PLAIN, "e8aabbccdd": InstructionKind.CALL, "ffd0": InstructionKind.CALL, "41ffd4":
    InstructionKind.CALL, "ff1500000000": InstructionKind.CALL, "ffe0": InstructionKind.JUMP, "ff2500000000":
    InstructionKind.JUMP, "eb05": InstructionKind.JUMP, "7405": InstructionKind.JUMP, "0f8400000000":
    InstructionKind.JUMP, "c3": InstructionKind.RETURN, "f3c3": InstructionKind.RETURN, "c20800":
    InstructionKind.RETURN, "48cf": InstructionKind.LEAVE, "480f07": InstructionKind.LEAVE, "0f05":
    InstructionKind.ENTER, "cc": InstructionKind.ENTER, "f4": InstructionKind.HALT, "0f01c9":
    InstructionKind.HALT, "0f31": InstructionKind.CLOCK, "0f01f9": InstructionKind.CLOCK, "fa":
    InstructionKind.INTERRUPTS_OFF, "fb": InstructionKind.INTERRUPTS_ON, "9d": InstructionKind.PLAIN,
    "65ff0500000000": InstructionKind.PLAIN, "fff0": InstructionKind.PLAIN, "0f01f8": InstructionKind.PLAIN,
    "f3a4": InstructionKind.PLAIN, "48b8e800000000000000": InstructionKind.PLAIN, "": InstructionKind.PLAIN,
}  # fmt: skip
ARM64 = {
    0x94000010: InstructionKind.CALL, 0xD63F0100: InstructionKind.CALL, 0xD63F0900: InstructionKind.CALL,
    0xD65F03C0: InstructionKind.RETURN, 0xD65F0BFF: InstructionKind.RETURN, 0x14000010: InstructionKind.JUMP,
    0x54000041: InstructionKind.JUMP, 0xB4000040: InstructionKind.JUMP, 0x37000040: InstructionKind.JUMP,
    0xD61F0200: InstructionKind.JUMP, 0xD69F03E0: InstructionKind.LEAVE, 0xD4000001: InstructionKind.ENTER,
    0xD4210000: InstructionKind.ENTER, 0xD503207F: InstructionKind.HALT, 0xD50343DF:
    InstructionKind.INTERRUPTS_OFF, 0xD50342FF: InstructionKind.INTERRUPTS_ON, 0xD50341DF:
    InstructionKind.PLAIN, 0xD53BE040: InstructionKind.CLOCK, 0xD53BE003: InstructionKind.PLAIN, 0xD503201F:
    InstructionKind.PLAIN, 0xAA0003E0: InstructionKind.PLAIN, 0xF9400000: InstructionKind.PLAIN,
}  # fmt: skip


@pytest.mark.parametrize(("code", "kind"), AMD64.items())
def test_an_instruction_of_amd64_has_its_kind(code: str, kind: InstructionKind) -> None:
    assert kind_of("amd64", bytes.fromhex(code)) is kind


@pytest.mark.parametrize(("word", "kind"), ARM64.items())
def test_an_instruction_of_arm64_has_its_kind(word: int, kind: InstructionKind) -> None:
    assert kind_of("arm64", word.to_bytes(4, "little")) is kind
