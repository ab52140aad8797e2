"""QEMU with the plugin that logs what a guest executes (probe/emulator/trace.cpp), and its files, decoded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from msgspec import Struct

from howlate.lab.cache import storing
from howlate.lab.guests.machine import escaped
from howlate.lab.guests.window import bad_result
from howlate.replay.log import Anchor, ExecutionLog, LogPlan, Switch
from howlate.system.paths import emulator_trace_path

_PLAN, _OUT, _ADDRESSES, _CODE, _MARKS = "log.plan", "log", "log.pc", "log.code", "log.marks"
LOG_BYTES = 1 << 30
"""Room for the log of a guest."""
_FLAGS = re.compile(r"(RFL|PSTATE)=([0-9a-f]+)")
_INTERRUPT_FLAG, _INTERRUPT_MASK = 1 << 9, 1 << 7
"""In RFLAGS: interrupts are taken; in PSTATE: they are not."""


class LogFiles(Struct, frozen=True):
    """The plugin's files in a guest's folder."""

    folder: Path

    def arguments(self, plan: LogPlan) -> list[str]:
        """QEMU's arguments for a guest that is logged; the plan is written, and another guest's log removed."""
        with storing(self.folder / _PLAN):
            for path in (self.folder / _ADDRESSES, self.folder / _CODE, self.folder / _MARKS):
                path.unlink(missing_ok=True)
            (self.folder / _PLAN).write_text(plan.text, encoding="ascii")
        library = escaped(str(emulator_trace_path()))
        plan_file, out = (escaped(str(self.folder / name)) for name in (_PLAN, _OUT))
        return ["-plugin", f"file={library},plan={plan_file},out={out}"]

    def clock_before_stop(self) -> tuple[int, int]:
        """The clock in ns shortly before the guest stopped, and how many instructions it had executed then."""
        with storing(self.folder / _MARKS):
            marks = (self.folder / _MARKS).read_text(encoding="ascii", errors="replace").split()
        try:
            number, kind, clock_ns, instructions = marks
            if (number, kind) == ("0", "stops"):
                return int(clock_ns), int(instructions)
        except ValueError:
            pass
        raise bad_result("the log of its instructions is cut off")

    def read(self) -> tuple[ExecutionLog, ...]:
        """The stretches that were logged to their ends."""
        with storing(self.folder / _OUT):
            addresses = np.fromfile(self.folder / _ADDRESSES, dtype=np.uint64)
            code = (self.folder / _CODE).read_text(encoding="ascii")
            marks = (self.folder / _MARKS).read_text(encoding="ascii", errors="replace")
        try:
            return tuple(_stretches(addresses, _bytes_of(code), marks))
        except (ValueError, IndexError):
            raise bad_result("the log of its instructions is cut off") from None


def _bytes_of(code: str) -> dict[int, bytes]:
    """Each instruction's. QEMU begins with one that ends on the next page, gives it up, and begins a block with it:
    it is there twice, and cut off the first time."""
    found: dict[int, bytes] = {}
    for address, data in map(_instruction, code.splitlines()):
        if len(data) >= len(found.get(address, b"")):
            found[address] = data
    return found


@lru_cache(1 << 16)
def _instruction(line: str) -> tuple[int, bytes]:
    """Its address and its bytes; the logs of a landscape have most of them in common."""
    at, text = line.split()
    return int(at, 16), bytes.fromhex(text)


def _stretches(
    addresses: np.typing.NDArray[np.uint64], code: dict[int, bytes], marks: str
) -> Iterator[ExecutionLog]:
    first = 0
    anchors: list[Anchor] = []
    flags: list[tuple[int, bool]] = []
    switches: list[Switch] = []
    counts: list[tuple[int, int]] = []
    for line in marks.splitlines():
        number, kind, text = line.split(" ", 2)
        at = int(number) - first
        if kind == "begin":
            first = int(number)
            anchors, flags, switches, counts = [_anchor(0, text)], [], [], []
        elif kind == "at":
            anchors.append(_anchor(at, text))
        elif kind in ("flags", "state"):
            if found := _FLAGS.search(text):
                flags.append((at, _takes_interrupts(found[1], int(found[2], 16))))
        elif kind == "switch":
            previous, following = (int(word, 16) for word in text.split())
            switches.append(Switch(at, previous, following))
        elif kind == "count":
            counts.append((at, int(text, 16)))
        elif kind == "end":
            anchors.append(_anchor(at, text))
            if len(addresses) < first + at:
                raise ValueError
            yield ExecutionLog(addresses[first : first + at], code, anchors, flags, switches, counts)
            anchors = []
        else:
            raise ValueError
    if anchors:  # the guest ended before its stretch
        yield ExecutionLog(addresses[first:], code, anchors, flags, switches, counts)


def _anchor(logged: int, text: str) -> Anchor:
    clock_ns, executed = map(int, text.split())
    return Anchor(logged, clock_ns, executed)


def _takes_interrupts(name: str, value: int) -> bool:
    return bool(value & _INTERRUPT_FLAG) if name == "RFL" else not value & _INTERRUPT_MASK
