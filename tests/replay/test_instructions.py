import pytest

from howlate.replay.instructions import InstructionKind, kind_of

K = InstructionKind
AMD64 = {
    "90": K.PLAIN, "e8aabbccdd": K.CALL, "ffd0": K.CALL, "41ffd4":
    K.CALL, "ff1500000000": K.CALL, "ffe0": K.JUMP, "ff2500000000":
    K.JUMP, "eb05": K.JUMP, "7405": K.JUMP, "0f8400000000":
    K.JUMP, "c3": K.RETURN, "f3c3": K.RETURN, "c20800":
    K.RETURN, "48cf": K.LEAVE, "480f07": K.LEAVE, "0f05":
    K.ENTER, "cc": K.ENTER, "f4": K.HALT, "0f01c9":
    K.HALT, "0f31": K.CLOCK, "0f01f9": K.CLOCK, "fa":
    K.INTERRUPTS_OFF, "fb": K.INTERRUPTS_ON, "9d": K.PLAIN,
    "65ff0500000000": K.PLAIN, "fff0": K.PLAIN, "0f01f8": K.PLAIN,
    "f3a4": K.PLAIN, "48b8e800000000000000": K.PLAIN, "": K.PLAIN,
}  # fmt: skip
ARM64 = {
    0x94000010: K.CALL, 0xD63F0100: K.CALL, 0xD63F0900: K.CALL,
    0xD65F03C0: K.RETURN, 0xD65F0BFF: K.RETURN, 0x14000010: K.JUMP,
    0x54000041: K.JUMP, 0xB4000040: K.JUMP, 0x37000040: K.JUMP,
    0xD61F0200: K.JUMP, 0xD69F03E0: K.LEAVE, 0xD4000001: K.ENTER,
    0xD4210000: K.ENTER, 0xD503207F: K.HALT, 0xD50343DF:
    K.INTERRUPTS_OFF, 0xD50342FF: K.INTERRUPTS_ON, 0xD50341DF:
    K.PLAIN, 0xD53BE040: K.CLOCK, 0xD53BE003: K.PLAIN, 0xD503201F:
    K.PLAIN, 0xAA0003E0: K.PLAIN, 0xF9400000: K.PLAIN,
}  # fmt: skip


@pytest.mark.parametrize(("code", "kind"), AMD64.items())
def test_an_instruction_of_amd64_has_its_kind(code: str, kind: InstructionKind) -> None:
    assert kind_of("amd64", bytes.fromhex(code)) is kind


@pytest.mark.parametrize(("word", "kind"), ARM64.items())
def test_an_instruction_of_arm64_has_its_kind(word: int, kind: InstructionKind) -> None:
    assert kind_of("arm64", word.to_bytes(4, "little")) is kind
