"""What explains a word that two machines do not share; and how a saved machine is read. No guest is needed."""

import json
import struct

import pytest

from howlate.errors import DamagedError
from howlate.lab.guests.machine_state import PAGE_BYTES, MachineState
from howlate.prove.same_state import MOST_WORDS, DifferenceKind, differences

APART_NS = 5_003
AT_NS = 42_077_954_253


def state(*words: int, block: str = "pc.ram") -> MachineState:
    page = struct.pack(f"<{len(words)}Q", *words).ljust(PAGE_BYTES, b"\0")
    return MachineState({(block, 0x2000): page} if any(words) else {}, {})


def devices(fields: dict[str, int]) -> MachineState:
    return MachineState({}, {name: value.to_bytes(8, "big") for name, value in fields.items()})


def kinds(one: MachineState, later: MachineState) -> list[DifferenceKind]:
    return [each.kind for each in differences(one, later, APART_NS)]


@pytest.mark.parametrize(
    ("one", "later", "kind"),
    [
        (AT_NS, AT_NS + APART_NS, DifferenceKind.INSTANT),
        (AT_NS, AT_NS + APART_NS + 1, DifferenceKind.OTHER),
        (AT_NS + APART_NS, AT_NS, DifferenceKind.OTHER),
        (0x202, 0x206, DifferenceKind.FLAGS),
        (0x202, 0x2, DifferenceKind.OTHER),  # the interrupt flag
        (0x2, 0x6, DifferenceKind.OTHER),  # a counter: programs have the interrupt flag set
        (0xFFFF_8880_0000_0002, 0xFFFF_8880_0000_0006, DifferenceKind.OTHER),
        (0, 1, DifferenceKind.OTHER),  # a page that is all zeros in one alone
    ],
)
def test_a_word_of_memory_is_explained_by_the_instant_alone(
    one: int, later: int, kind: DifferenceKind
) -> None:
    assert kinds(state(one), state(later)) == [kind]


@pytest.mark.parametrize(
    ("name", "by", "kind"),
    [
        ("apic/timer_expiry", 5_008, DifferenceKind.EVENT),
        ("apic/timer_expiry", 5_020, DifferenceKind.OTHER),
        ("apic/initial_count", 313, DifferenceKind.EVENT),
        ("apic/initial_count", 300, DifferenceKind.OTHER),
        ("timer/cpu_clock_offset", 123, DifferenceKind.HOST),
        ("hpet/hpet_counter", 100, DifferenceKind.HOST),
        ("hpet/hpet_counter", 100_000, DifferenceKind.OTHER),
        ("cpu/env.eip", 1, DifferenceKind.OTHER),
    ],
)
def test_a_field_of_a_device_is_explained_by_its_steps(name: str, by: int, kind: DifferenceKind) -> None:
    one, later = {name: 1_000_000}, {name: 1_000_000 + by}
    assert kinds(devices(one), devices(later)) == [kind]


@pytest.mark.parametrize(("one", "later"), [(0x202, 0x203), (0x302, 0x303)])
def test_arithmetic_flags_are_those_of_a_program_in_amd64_memory(one: int, later: int) -> None:
    assert kinds(state(one), state(later)) == [DifferenceKind.FLAGS]
    on_arm64 = [state(word, block="mach-virt.ram") for word in (one, later)]
    assert kinds(on_arm64[0], on_arm64[1]) == [DifferenceKind.OTHER]
    assert kinds(devices({"hpet/config": one}), devices({"hpet/config": later})) == [DifferenceKind.OTHER]


@pytest.mark.parametrize(
    ("kind", "one", "later"),
    [(DifferenceKind.FLAGS, 0x202, 0x206), (DifferenceKind.INSTANT, AT_NS, AT_NS + APART_NS)],
)
def test_more_words_of_a_kind_than_there_can_be_are_not_explained(
    kind: DifferenceKind, one: int, later: int
) -> None:
    most = MOST_WORDS[kind]
    found = kinds(state(*[one] * (most + 3)), state(*[later] * (most + 3)))
    assert found == [kind] * most + [DifferenceKind.OTHER] * 3


def saved() -> bytes:
    """One page and one device, as QEMU writes them."""
    page = struct.pack("<Q", AT_NS).ljust(PAGE_BYTES, b"\1")
    memory = struct.pack(">Q", 0x2000 | 0x08) + b"\6pc.ram" + page
    memory += struct.pack(">Q", 0x3000 | 0x02 | 0x20) + b"\0" + struct.pack(">Q", 0x10)
    sizes = struct.pack(">Q", 0x4000 | 0x04) + b"\6pc.ram" + struct.pack(">QQ", 0x4000, 0x10)
    device = b"\4apic" + struct.pack(">II", 0, 3) + struct.pack(">HHI", 1, 2, 7)
    device += b"\5\x09apic/more" + struct.pack(">IB", 1, 9)
    described = {
        "page_size": PAGE_BYTES,
        "devices": [
            {
                "name": "apic",
                "instance_id": 0,
                "fields": [{"name": "isr", "array_len": 2, "size": 2}, {"name": "id", "size": 4}],
                "subsections": [{"vmsd_name": "apic/more", "fields": [{"name": "mode", "size": 1}]}],
            }
        ],
    }
    text = json.dumps(described).encode()
    return b"".join(
        [
            b"QEVM" + struct.pack(">I", 3) + b"\7" + struct.pack(">I", 2) + b"pc",
            b"\1" + struct.pack(">I", 2) + b"\3ram" + struct.pack(">II", 0, 4) + sizes + b"\x7e\0\0\0\2",
            b"\x08" + struct.pack(">HH", 11, 0),
            b"\3" + struct.pack(">I", 2) + memory + b"\x7e\0\0\0\2",
            b"\4" + struct.pack(">I", 5) + device + b"\x7e\0\0\0\5",
            b"\0\6" + struct.pack(">I", len(text)) + text,
        ]
    )


def test_a_saved_machine_is_read_by_qemus_own_description() -> None:
    machine = MachineState.of(saved())
    assert [(place, page[:8]) for place, page in machine.pages.items()] == [
        (("pc.ram", 0x2000), struct.pack("<Q", AT_NS))
    ]
    assert {name: int.from_bytes(value, "big") for name, value in machine.fields.items()} == {
        "apic/isr[0]": 1,
        "apic/isr[1]": 2,
        "apic/id": 7,
        "apic/more/mode": 9,
    }


@pytest.mark.parametrize("at", [30, 60, 4_260])
def test_one_that_is_damaged_is_refused(at: int) -> None:
    whole = saved()
    with pytest.raises(DamagedError):
        MachineState.of(whole[:at] + b"\xee" * 4 + whole[at + 4 :])
