"""Whether two guests that wait for different releases are the same machine until then (docs/lab/prove.md): all words
of both are compared, and each that differs must be one that the instant itself explains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import TargetError
from howlate.lab.guests.fork import STOPPED_ELSEWHERE, STOPS_WITHIN_NS, Fork
from howlate.lab.guests.machine_state import PAGE_BYTES, MachineState
from howlate.lab.guests.single import SingleState
from howlate.lab.problems import guest_failed
from howlate.replay.symbols import Symbols

_FLAGS, _SET, _CLEAR = 0x8D5, 0x202, 0xFFFF_FFFF_FFC0_0028
"""In RFLAGS of a program on amd64: what arithmetic sets, what is always set, what never is."""
_STEP_NS = 16
"""Of the event devices: an APIC of 62.5 MHz, and an arm64 counter of as much."""
_EVENTS = {
    "apic/initial_count": _STEP_NS,
    "apic/next_time": 1,
    "apic/timer_expiry": 1,
    "cpu/cpreg_vmstate_values": _STEP_NS,
    "cpu/gt_timer": 1,
}
_HOST = {"timer/cpu_ticks_offset", "timer/cpu_clock_offset"}
"""Clocks of the host that a guest in virtual time has no access to."""
_CLOCKS = {"timer/icount/qemu_icount_bias": 1, "hpet/hpet_counter": 10}
"""What QEMU moves on where it takes the stopped CPU for an idle one (lab/guests/fork.py), in ns."""
_AMD64_MEMORY = "pc.ram"
"""QEMU's name of it; that of an arm64 guest is `mach-virt.ram`."""
_LINEAR = {"pc.ram": 0xFFFF_8880_0000_0000, "mach-virt.ram": 0xFFFF_0000_0000_0000}
_BANNER = "linux_banner"


class DifferenceKind(Enum):
    """What explains a word."""

    INSTANT = "the instant"
    """It differs by exactly as much as the instants."""
    FLAGS = "arithmetic flags"
    """Of a program's arithmetic with the instant, kept when it called the kernel (amd64)."""
    EVENT = "the event device"
    """By as much as the instants in the device's steps."""
    HOST = "the host's clock"
    OTHER = "nothing"


MOST_WORDS = {DifferenceKind.INSTANT: 39, DifferenceKind.FLAGS: 2}
"""More are not explained. 40 pairs of each of four kernels had the instant in 18 to 26 words, and flags in up to 2
(docs/lab/prove.md). Another compiler or kernel may keep a few copies of the instant more, so half as many again are
accepted. The flags are those of one system call, so there are no more of them."""


class StateDifference(Struct, frozen=True):
    """A word of 64 bits of the memory, or a field of a device, that two machines do not share."""

    place: str
    at: int
    """The address in a block of memory."""
    one: int
    later: int
    kind: DifferenceKind

    def text(self, symbols: Symbols, state: MachineState) -> str:
        """The place and the values, with the kernel's nearest symbol."""
        where = _symbol(self.place, self.at, symbols, state) if self.place in _LINEAR else ""
        at = f" {self.at:#x}" if self.place in _LINEAR else ""
        return f"{self.place}{at}{where}: {self.one:#x} against {self.later:#x}"


def differences(one: MachineState, later: MachineState, apart_ns: int) -> list[StateDifference]:
    """All of two machines that were stopped at one instant before their releases, the second one's so much later.
    Instants in different seconds are not explained."""
    found = [
        StateDifference(block, at, ours, theirs, _kind_of_word(block, ours, theirs, apart_ns))
        for block, at, ours, theirs in _words(one, later)
    ]
    for place in sorted(one.fields.keys() | later.fields.keys()):
        ours, theirs = (int.from_bytes(state.fields.get(place, b""), "big") for state in (one, later))
        if ours != theirs:
            kind = _kind_of_field(place, ours, theirs, apart_ns)
            found.append(StateDifference(place, 0, ours, theirs, kind))
    return list(_limited(found))


def _limited(found: Iterable[StateDifference]) -> Iterator[StateDifference]:
    """The words of a kind beyond the most that there can be are not explained."""
    seen: Counter[DifferenceKind] = Counter()
    for each in found:
        seen[each.kind] += 1
        is_beyond = seen[each.kind] > MOST_WORDS.get(each.kind, seen[each.kind])
        yield replace(each, kind=DifferenceKind.OTHER) if is_beyond else each


def unexplained(
    fork: Fork, symbols: Symbols, first_ns: int, later_ns: int, before_ns: int
) -> tuple[str, ...]:
    """Of two guests of a fork that wait for these instants of their CLOCK_MONOTONIC, and are stopped so long before
    the first: the words in which they differ without an explanation."""
    (words, one), (later_words, later) = (fork.state(ns, first_ns - before_ns) for ns in (first_ns, later_ns))
    if not words.state == later_words.state == SingleState.STOPPED_BEFORE:
        raise TargetError(guest_failed(STOPPED_ELSEWHERE))
    found = differences(one, later, later_ns - first_ns)
    return tuple(each.text(symbols, one) for each in found if each.kind is DifferenceKind.OTHER)


def _words(one: MachineState, later: MachineState) -> Iterator[tuple[str, int, int, int]]:
    empty = bytes(PAGE_BYTES)
    for block, page in sorted(one.pages.keys() | later.pages.keys()):
        ours, theirs = (state.pages.get((block, page), empty) for state in (one, later))
        if ours != theirs:
            first, second = np.frombuffer(ours, "<u8"), np.frombuffer(theirs, "<u8")
            for place in np.nonzero(first != second)[0]:
                yield block, page + 8 * int(place), int(first[place]), int(second[place])


def _kind_of_word(block: str, one: int, later: int, apart_ns: int) -> DifferenceKind:
    if later - one == apart_ns:
        return DifferenceKind.INSTANT
    if block == _AMD64_MEMORY and not (one ^ later) & ~_FLAGS and one & (_SET | _CLEAR) == _SET:
        return DifferenceKind.FLAGS
    return DifferenceKind.OTHER


def _kind_of_field(place: str, one: int, later: int, apart_ns: int) -> DifferenceKind:
    name = place.partition("[")[0]
    if name in _EVENTS and abs((later - one) * _EVENTS[name] - apart_ns) < _STEP_NS:
        return DifferenceKind.EVENT
    if name in _HOST or (name in _CLOCKS and abs(later - one) * _CLOCKS[name] <= STOPS_WITHIN_NS):
        return DifferenceKind.HOST
    return DifferenceKind.INSTANT if later - one == apart_ns else DifferenceKind.OTHER


def _symbol(block: str, at: int, symbols: Symbols, state: MachineState) -> str:
    """The kernel's nearest symbol below an address: of its image, or of its CPU's own data."""
    image = _image(block, symbols, state)
    place = symbols.address("__per_cpu_offset") - image
    page = state.pages.get((block, place - place % PAGE_BYTES), bytes(PAGE_BYTES))
    own = int.from_bytes(page[place % PAGE_BYTES :][:8], "little")
    for first, last, address in (
        ("__per_cpu_start", "__per_cpu_end", (_LINEAR[block] + at - own) % (1 << 64)),
        ("_text", "_end", at + image),
    ):
        if symbols.address(first) <= address < symbols.address(last):
            below = ((start, name) for name, start in symbols.data.items() if start <= address)
            start, name = max(below, default=(address, ""))
            return f" ({name}+{address - start:#x})"
    return ""


def _image(block: str, symbols: Symbols, state: MachineState) -> int:
    """How far the kernel's image is from its place in the block, by the text of its version."""
    banner = symbols.address(_BANNER)
    inside = banner % PAGE_BYTES
    pages = (
        page
        for (name, page), data in state.pages.items()
        if name == block and data[inside:].startswith(b"Linux version ")
    )
    return banner - inside - next(pages, banner - inside)
