"""What a guest executed, instruction by instruction: when each was, of what kind, and in which function.

Virtual time is the number of instructions, and jumps where the CPU is halted. The log has the clock and QEMU's count
of instructions every now and then, and after each halt; between two such anchors the logged instructions must be
those that were counted, and they and one halt account for all of the time, or the log is refused. An instruction that
ends in an exception is in the log twice (again when the exception is over), and counts once.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.errors import DamagedError
from howlate.replay.instructions import AMD64, InstructionKind, kind_of
from howlate.replay.log import Addresses, ExecutionLog, Integers
from howlate.replay.symbols import Symbols
from howlate.words.statement import message

TIME_UNEXPLAINED = message(
    "why.time-unexplained",
    "{ns:time} of a guest's time are not explained by the instructions that were logged",
    remedy="report it with the run: this is a defect of howlate",
)

_MOVES = frozenset(
    (InstructionKind.JUMP, InstructionKind.CALL, InstructionKind.RETURN, InstructionKind.LEAVE)
)
INTERRUPT, EXCEPTION, SYSTEM_CALL = "interrupt", "exception", "system call"
_SYSTEM_CALLS = ("entry_SYSCALL_64", "entry_SYSCALL_compat", "entry_INT80_compat", "entry_SYSENTER_compat")
_VECTORS = ("vectors", "tramp_vectors", "__bp_harden_el1_vectors")
_VECTORS_BYTES, _VECTOR_BYTES = 0x800, 0x80
_STUBS = "irq_entries_start", "spurious_entries_start", "idt_entries"


class Execution(Struct, frozen=True, dict=True):
    arch: str
    log: ExecutionLog
    symbols: Symbols
    step_ns: int = 1
    """How long an instruction takes."""

    @property
    def addresses(self) -> Addresses:
        return self.log.addresses

    def __len__(self) -> int:
        return len(self.addresses)

    @cached_property
    def _distinct(self) -> tuple[Addresses, npt.NDArray[np.intp]]:
        return np.unique(self.addresses, return_inverse=True)

    @cached_property
    def kinds(self) -> npt.NDArray[np.int8]:
        """The `InstructionKind` of each instruction."""
        distinct, places = self._distinct
        kinds = [kind_of(self.arch, self.log.code.get(int(at), b"")) for at in distinct]
        return np.array(kinds, dtype=np.int8)[places]

    @cached_property
    def following(self) -> Addresses:
        """The address after each instruction."""
        distinct, places = self._distinct
        sizes = np.array([len(self.log.code.get(int(at), b"")) for at in distinct], dtype=np.uint64)
        return (distinct + sizes)[places]

    @cached_property
    def functions(self) -> Integers:
        """The function of each instruction, as an index into the symbols' names."""
        distinct, places = self._distinct
        return self.symbols.indices(distinct)[places]

    @cached_property
    def entries(self) -> dict[int, str]:
        """Where the CPU enters the kernel by itself, by address: by an interrupt, an exception or a system call."""
        distinct, _ = self._distinct
        indices = self.symbols.indices(distinct)
        found: dict[int, str] = {}
        for index in map(int, np.unique(indices[indices >= 0])):
            name, start = self.symbols.name(index), int(self.symbols.starts[index])
            if self.arch == AMD64 and not _amd64_entry(name, is_start=True):
                continue
            if self.arch != AMD64 and name not in _VECTORS:
                continue
            for address in map(int, distinct[indices == index]):
                kind = self._entry_kind(name, address - start)
                if kind:
                    found[address] = kind
        return found

    def _entry_kind(self, name: str, inside: int) -> str:
        """For an instruction at this offset inside the function."""
        if self.arch == AMD64:
            return _amd64_entry(name, is_start=not inside)
        if inside % _VECTOR_BYTES or inside >= _VECTORS_BYTES:
            return ""
        return (EXCEPTION, INTERRUPT, INTERRUPT, EXCEPTION)[inside // _VECTOR_BYTES % 4]

    @cached_property
    def entered(self) -> dict[int, str]:
        """After which instructions the CPU entered the kernel, and how."""
        if len(self) < 2:
            return {}
        targets = self.addresses[1:]
        candidates = np.nonzero(np.isin(targets, np.array(sorted(self.entries), dtype=np.uint64)))[0]
        found = {}
        for at in map(int, candidates):
            kind = self.entries[int(targets[at])]
            inside = int(self.addresses[at]) in self._inside
            if int(self.following[at]) == int(targets[at]) or (
                inside and self.kinds[at] == InstructionKind.JUMP
            ):
                continue  # from one part of an entry to the next
            if kind == EXCEPTION and self.kinds[at] == InstructionKind.ENTER and self.arch != AMD64:
                kind = SYSTEM_CALL
            found[at] = kind
        return found

    @cached_property
    def _inside(self) -> frozenset[int]:
        distinct, _ = self._distinct
        names = [self.symbols.name(int(index)) for index in self.symbols.indices(distinct)]
        return frozenset(
            int(at)
            for at, name in zip(distinct, names, strict=True)
            if name.startswith("asm_") or name in _STUBS or name in _SYSTEM_CALLS
        )

    @cached_property
    def twice(self) -> npt.NDArray[np.bool_]:
        """Instructions that ended in an exception: they are executed again, and take no time the first
        time. A jump that was made, and found no page where it led to, is not one of them."""
        marks = np.zeros(len(self), dtype=np.bool_)
        undecided: list[int] = []
        for at, kind in self.entered.items():
            if kind != EXCEPTION or self.kinds[at] == InstructionKind.ENTER:
                continue
            resumed = self._resumed_at(at)
            address = int(self.addresses[resumed]) if resumed is not None else 0
            if self.kinds[at] not in _MOVES:
                marks[at] = address != int(self.following[at])  # else the kernel did what it was to do
            elif resumed is None or self._is_switched(at, resumed):
                undecided.append(at)
            else:
                marks[at] = address == int(self.addresses[at])
        self._mark_uncounted(marks, undecided)
        return marks

    def _is_switched(self, entered: int, resumed: int) -> bool:
        """Whether another task had the CPU meanwhile: what is resumed is not known to be what was interrupted."""
        return any(entered < switch.at <= resumed for switch in self.log.switches)

    def _mark_uncounted(self, marks: npt.NDArray[np.bool_], undecided: Sequence[int]) -> None:
        """Of calls and jumps that ended in an exception, and that are not seen to go on, mark those that QEMU had not
        counted as executed at the anchors after them."""
        anchors = np.array(self.log.anchors, dtype=np.int64)
        counting = np.concatenate([[0], np.cumsum(~marks)])[anchors[:, 0]]
        not_over = counting - (anchors[:, 2] - anchors[0, 2])
        level = -int(len(anchors) > 1 and not_over[1] == -1)  # as in _before_log()
        groups: dict[int, list[int]] = {}
        for at in sorted(undecided):
            groups.setdefault(int(np.searchsorted(anchors[:, 0], at, side="right")), []).append(at)
        for first, after in pairwise([*groups, len(anchors)]):
            if first == len(anchors):
                break  # the log ends before its last anchor could tell
            uncounted = min(max(0, int(np.min(not_over[first:after])) - level), len(groups[first]))
            marks[groups[first][len(groups[first]) - uncounted :]] = True
            level += uncounted

    def _resumed_at(self, entered: int) -> int | None:
        """With which instruction the CPU went on after an exception; None if the log ends before."""
        depth = 0
        for at in self._turns[bisect.bisect_left(self._turns, entered) :]:
            if at in self.entered:
                depth += 1
            if self.kinds[at] == InstructionKind.LEAVE and at != entered:
                depth -= 1
                if depth == 0:
                    return at + 1 if at + 1 < len(self) else None
        return None

    @cached_property
    def _turns(self) -> list[int]:
        return sorted({*self.entered, *np.nonzero(self.kinds == InstructionKind.LEAVE)[0].tolist()})

    @property
    def _woke_up(self) -> bool:
        """Whether the CPU was halted when the log began: it begins with an interrupt, or where an idle CPU
        goes on."""
        is_idle = "idle" in self.symbols.name(int(self.functions[0]))
        return is_idle or self.entries.get(int(self.addresses[0])) == INTERRUPT

    @cached_property
    def times_ns(self) -> Integers:
        """When each instruction began, by the machine's clock; and when the last one ended."""
        costs = np.where(self.twice, 0, self.step_ns).astype(np.int64)
        halts = np.nonzero(self.kinds == InstructionKind.HALT)[0]
        anchors = np.array(self.log.anchors, dtype=np.int64)
        began_ns = int(anchors[0, 1]) + self.step_ns * self._before_log(anchors)
        jumps = np.diff(anchors[:, 1] - anchors[:, 2] * self.step_ns)
        for place in np.nonzero(jumps)[0]:
            jump, (before, until) = int(jumps[place]), map(int, anchors[place : place + 2, 0])
            within = halts[np.searchsorted(halts, before - 1) : np.searchsorted(halts, until)]
            if jump > 0 and len(within) == 0 and before == 0 and self._woke_up:
                began_ns += jump
            elif jump < 0 or len(within) != 1:
                raise DamagedError(TIME_UNEXPLAINED(ns=jump))
            else:
                costs[within[0]] += jump
        times: Integers = np.concatenate([[0], np.cumsum(costs)]) + began_ns
        return times

    def _before_log(self, anchors: Integers) -> int:
        """1 where the first anchor lies within an instruction that is not in the log, else 0; refuses a log whose
        instructions are not those that QEMU counted. An anchor lies within an instruction where QEMU has broken it
        off at a device, to begin again with it unlogged: the last one of the log is not counted yet then."""
        counting = np.concatenate([[0], np.cumsum(~self.twice)])[anchors[:, 0]]
        not_over = counting - (anchors[:, 2] - anchors[0, 2])
        before = int(len(anchors) > 1 and not_over[1] == -1)
        not_over[1:] += before
        wrong = (not_over < 0) | (not_over > 1)
        wrong[-2:] |= bool(np.all(not_over[-2:] == 1))  # it is for good
        if np.any(wrong):
            raise DamagedError(TIME_UNEXPLAINED(ns=int(not_over[wrong][0]) * self.step_ns))
        return before


def _amd64_entry(name: str, *, is_start: bool) -> str:
    if name in _STUBS:
        return INTERRUPT
    if not is_start:
        return ""
    if name in _SYSTEM_CALLS:
        return SYSTEM_CALL
    if name.startswith("asm_exc_"):
        return EXCEPTION
    return INTERRUPT if name.startswith(("asm_sysvec_", "asm_common_interrupt", "asm_spurious")) else ""
