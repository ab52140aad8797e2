"""Where the time between a release and its first time stamp went: parts that add up to the latency exactly,
and functions with the instructions that they executed themselves and with all that they called."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from howlate.errors import DamagedError
from howlate.replay.call_stacks import Call, Segment, segments
from howlate.replay.execution import INTERRUPT, Execution
from howlate.replay.instructions import InstructionKind
from howlate.replay.symbols import USER_TOP
from howlate.words.statement import rule

NOT_WHOLE = rule(
    "why.not-whole",
    "the parts of a latency of {latency_ns:time} add up to {sum_ns:time}",
    remedy="report it with the run: this is a defect of howlate",
)


class PartKind(StrEnum):
    """What the time went to."""

    HALTED = "halted"
    """The CPU was idle, and no interrupt had come."""
    MASKED = "masked"
    """Interrupts were off."""
    UNTIL_INTERRUPT = "until interrupt"
    """Interrupts were on, and the timer's had not come yet."""
    INTERRUPT = "interrupt"
    HELD = "held"
    """What was interrupted, or another task, went on before the scheduler was called; or the kernel cleaned up after
    a task that it had switched away from."""
    OTHER_TASK = "other task"
    SCHEDULER = "scheduler"
    SWITCH = "switch"
    """From the switch of tasks to where the task had called the scheduler, without what is cleaned up there."""
    RETURN = "return"
    """The rest of the system call, and back to the program."""
    PROGRAM = "program"
    """From the program's first instruction to its time stamp."""


class Reason(StrEnum):
    """Why what went on could not be preempted."""

    MASKED = "interrupts off"
    SOFTIRQ = "softirq"
    COUNT = "preemption off"
    NOT_PREEMPTIBLE = "not preemptible"
    """The kernel gives the CPU up here only where it calls the scheduler itself."""
    LOCK = "in a lock"
    """By the chain of calls, where the preemption count was not read (arm64)."""
    UNCOUNTED = "count not known"
    """Nothing that is known: the preemption count was not read, and may have been anything."""
    PROGRAM = "a program"


@dataclass(frozen=True)
class LatePart:
    """A stretch of one kind, between the release and the time stamp."""

    kind: PartKind
    from_ns: int
    """Since the release."""
    ns: int
    function: str
    """Where most of it was executed, or which function was interrupted or entered."""
    stack: tuple[str, ...] = field(repr=False, default=())
    entry: str = ""
    """Of INTERRUPT: where the CPU entered the kernel."""
    reasons: tuple[tuple[Reason, int], ...] = ()
    """Of HELD: how long each reason held, in ns."""
    place: str = ""
    """The line of source of the function at which most of it was spent; "" without debug information."""


@dataclass(frozen=True)
class Function:
    """What a function executed."""

    name: str
    self_ns: int
    inclusive_ns: int
    stack: tuple[str, ...] = field(repr=False, default=())
    """The chain of calls in which most of its own instructions were executed."""
    place: str = ""
    """The line of source at which most of them were; "" without debug information."""


@dataclass(frozen=True)
class Lateness:
    """One latency, explained."""

    latency_ns: int
    parts: tuple[LatePart, ...]
    stacks: tuple[tuple[tuple[str, ...], int], ...] = field(repr=False)
    """Each chain of calls, outermost first, with the ns of its last function's own instructions; in the order
    of their first instruction."""
    spans: tuple[tuple[int, int, tuple[str, ...]], ...] = field(repr=False)
    """From and to, in ns since the release, and the chain of calls then."""
    instructions: int
    halted_ns: int
    places: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Lines of source by function."""

    @property
    def functions(self) -> tuple[Function, ...]:
        """All functions, those that executed most first."""
        return functions_of(self.stacks, self.places)


def functions_of(
    stacks: Iterable[tuple[tuple[str, ...], int]], places: Mapping[str, str]
) -> tuple[Function, ...]:
    own: Counter[str] = Counter()
    inclusive: Counter[str] = Counter()
    chains: dict[str, Counter[tuple[str, ...]]] = {}
    for stack, ns in stacks:
        own[stack[-1]] += ns
        chains.setdefault(stack[-1], Counter())[stack] += ns
        for name in set(stack):
            inclusive[name] += ns
    return tuple(
        Function(
            name,
            own[name],
            ns,
            chains[name].most_common(1)[0][0] if name in chains else (),
            places.get(name, ""),
        )
        for name, ns in sorted(inclusive.items(), key=lambda item: (-own[item[0]], -item[1], item[0]))
    )


def slices(execution: Execution, release_ns: int, latency_ns: int, stamp: int) -> list[Slice]:
    """The same as `explain`, undivided, in order; they add up to the latency."""
    return _Explained(execution, release_ns, latency_ns, stamp).slices()


def explain(execution: Execution, release_ns: int, latency_ns: int, stamp: int) -> Lateness:
    """Why the program read the clock, by its instruction number `stamp`, so long after the release. The release is an
    instant of the machine's clock."""
    return _Explained(execution, release_ns, latency_ns, stamp).lateness()


@dataclass(frozen=True)
class Slice:
    """A part of the time in which one function was executed, and nothing that counts changed."""

    kind: PartKind
    reason: Reason | None
    from_ns: int
    ns: int
    call: Call


class _Explained:
    def __init__(self, execution: Execution, release_ns: int, latency_ns: int, stamp: int) -> None:
        self._execution, self._stamp = execution, stamp
        self._release_ns, self._latency_ns = release_ns, latency_ns
        self._end_ns = release_ns + latency_ns
        self._times = execution.times_ns
        self._segments = segments(execution, stamp)
        self._firsts = [segment.first for segment in self._segments]
        self._masked = _masked(execution)
        self._own_task = self._segments[-1].call.task
        first = int(np.searchsorted(self._times, release_ns, side="left"))
        self._first = min(first, stamp)
        """The first instruction after the release."""
        self._interrupted = min(
            (at + 1 for at, kind in execution.entered.items() if kind == INTERRUPT and at + 1 >= self._first),
            default=stamp,
        )
        if (
            self._first == 0 and self._segments[0].call.kind == INTERRUPT
        ):  # the CPU was halted when the log began
            self._interrupted = 0
        """The first of an interrupt that was taken after the release; before it the release was not noticed."""
        self._arrived = self._last_arrival()
        self._interrupted_task = self._segment_of(self._first).call.task
        self._counted = [first for first, _ in execution.log.counts]
        self._resumed = self._calls_resumed()

    def _calls_resumed(self) -> dict[Call, int]:
        """The calls of the scheduler to which tasks were switched back, and from which instruction on."""
        resumed: dict[Call, int] = {}
        for switch in self._execution.log.switches:
            if switch.at < self._stamp:
                chain = self._segment_of(switch.at).call.chain()
                call = next((each for each in chain if each.name in _SCHEDULERS), None)
                if call is not None:
                    resumed[call] = switch.at
        return resumed

    def _last_arrival(self) -> int:
        """From which instruction on only the measuring task was executed."""
        arrived = self._stamp
        for segment in reversed(self._segments):
            if segment.call.task is not self._own_task:
                break
            arrived = segment.first
        return arrived

    def slices(self) -> list[Slice]:
        slices = list(self._slices())
        total_ns = sum(piece.ns for piece in slices)
        if total_ns != self._latency_ns:
            raise DamagedError(NOT_WHOLE(latency_ns=self._latency_ns, sum_ns=total_ns))
        return slices

    def lateness(self) -> Lateness:
        slices = self.slices()
        stacks: dict[tuple[str, ...], int] = {}
        spans: list[tuple[int, int, tuple[str, ...]]] = []
        for piece in slices:
            stack = (
                (*_labelled(piece.call),)
                if piece.kind is not PartKind.HALTED
                else (*_labelled(piece.call), HALT)
            )
            stacks[stack] = stacks.get(stack, 0) + piece.ns
            if spans and spans[-1][2] == stack:
                spans[-1] = (spans[-1][0], piece.from_ns + piece.ns, stack)
            else:
                spans.append((piece.from_ns, piece.from_ns + piece.ns, stack))
        halted_ns = sum(piece.ns for piece in slices if piece.kind is PartKind.HALTED)
        return Lateness(
            self._latency_ns,
            tuple(_parts(slices)),
            tuple(stacks.items()),
            tuple(spans),
            (self._latency_ns - halted_ns) // self._execution.step_ns,
            halted_ns,
        )

    def _slices(self) -> Iterable[Slice]:
        begin_ns = self._release_ns
        gap_ns = min(int(self._times[self._first]), self._end_ns) - begin_ns
        if gap_ns > 0:  # the release came while the CPU was halted, or amid an instruction
            before = self._segment_of(max(0, self._first - 1))
            kind = PartKind.HALTED if gap_ns >= self._execution.step_ns else PartKind.UNTIL_INTERRUPT
            yield Slice(kind, None, 0, gap_ns, before.call)
        for segment in self._segments:
            if segment.after <= self._first:
                continue
            yield from self._slices_of(segment)

    def _segment_of(self, at: int) -> Segment:
        return self._segments[bisect.bisect_right(self._firsts, at) - 1]

    def _slices_of(self, segment: Segment) -> Iterable[Slice]:
        """Divide a segment where interrupts are switched off or on, the preemption count changes, or the CPU
        halts."""
        first = max(segment.first, self._first)
        cuts = {first, segment.after}
        inner = slice(first + 1, segment.after)
        cuts |= {first + 1 + int(at) for at in np.nonzero(np.diff(self._masked[first : segment.after]))[0]}
        counted = slice(
            bisect.bisect_right(self._counted, first), bisect.bisect_left(self._counted, segment.after)
        )
        cuts.update(self._counted[counted])
        halts = first + np.nonzero(self._execution.kinds[first : segment.after] == InstructionKind.HALT)[0]
        cuts |= {int(at) for at in halts} | {int(at) + 1 for at in halts}
        cuts |= {at for at in (self._interrupted,) if inner.start <= at < inner.stop}
        places = sorted(cuts)
        for start, stop in pairwise(places):
            from_ns = min(int(self._times[start]), self._end_ns)
            ns = min(int(self._times[stop]), self._end_ns) - from_ns
            if ns <= 0:
                continue
            kind, reason = self._kind(start, segment.call)
            yield Slice(kind, reason, from_ns - self._release_ns, ns, segment.call)

    def _kind(self, at: int, call: Call) -> tuple[PartKind, Reason | None]:
        execution = self._execution
        is_program = int(execution.addresses[at]) < USER_TOP
        if execution.kinds[at] == InstructionKind.HALT:
            return PartKind.HALTED, None
        names = [each.name for each in call.chain()]
        in_interrupt = any(each.kind == INTERRUPT for each in call.chain())
        if at >= self._arrived and call.task is self._own_task and self._arrived > self._first:
            if is_program:
                return PartKind.PROGRAM, None
            if self._cleans_up(at, call):
                return PartKind.HELD, self._reason(at, names, is_program)
            if in_interrupt:
                return PartKind.INTERRUPT, None
            return (PartKind.SWITCH if "__schedule" in names else PartKind.RETURN), None
        if at < self._interrupted:
            return (PartKind.MASKED if self._masked[at] else PartKind.UNTIL_INTERRUPT), None
        if self._cleans_up(at, call):
            return PartKind.HELD, self._reason(at, names, is_program)
        if _in_scheduler(call):
            return PartKind.SCHEDULER, None
        if in_interrupt and not _in_softirq(names):
            return PartKind.INTERRUPT, None
        if call.task is not self._interrupted_task and call.task is not self._own_task:
            return (PartKind.SCHEDULER if call.name in _AROUND_SCHEDULER else PartKind.OTHER_TASK), None
        if call.task is self._own_task:  # it was never switched away from: the way back from the interrupt
            return (PartKind.PROGRAM if is_program else PartKind.RETURN), None
        return PartKind.HELD, self._reason(at, names, is_program)

    def _cleans_up(self, at: int, call: Call) -> bool:
        """Whether it is executed after a switch for the sake of the task before it, and in no interrupt that came
        there: some kernels have functions for it, in others it is a part of the scheduler's own."""
        callee = ""
        for each in call.chain():
            if each.name.startswith(_FINISH_SWITCH):
                return True
            if each.name in _SCHEDULERS:
                is_resumed = at >= self._resumed.get(each, len(self._execution))
                return callee.startswith(_OF_LEFT_TASK) or (
                    is_resumed and bool(callee) and not callee.startswith(_SWITCH)
                )
            if each.kind == INTERRUPT:
                return False
            callee = each.name
        return False

    def _reason(self, at: int, names: Sequence[str], is_program: bool) -> Reason:
        if is_program:
            return Reason.PROGRAM
        if _in_softirq(names):
            return Reason.SOFTIRQ
        if self._masked[at]:
            return Reason.MASKED
        place = bisect.bisect_right(self._counted, at) - 1
        if place < 0:
            return Reason.LOCK if any(name.startswith(LOCKS) for name in names) else Reason.UNCOUNTED
        is_off = self._execution.log.counts[place][1] & _COUNTED
        return Reason.COUNT if is_off else Reason.NOT_PREEMPTIBLE


HALT = "(halted)"
_COUNTED = 0x7FFFFFFF
"""The highest bit of the count is no count: it says that nobody wants the CPU."""
_SCHEDULERS = frozenset(("__schedule", "schedule_idle"))
_AROUND_SCHEDULER = frozenset(
    (
        *("schedule", "preempt_schedule_common", "preempt_schedule_irq", "schedule_preempt_disabled"),
        *("__switch_to", "__switch_to_asm", "cpu_switch_to"),
    )
)
"""The first ones call the scheduler again where it was asked for meanwhile. A new task begins in one of the rest."""
_FINISH_SWITCH = ("finish_task_switch", "finish_lock_switch", "finish_arch_post_lock_switch", "schedule_tail")
"""What the kernel calls in the following task; the last one where that is new. Compilers add to the names."""
_OF_LEFT_TASK = ("__mmdrop", "put_task_stack", "put_task_struct", "__put_task_struct")
"""What the scheduler itself calls only after a switch, where it has no function for all of it."""
_SWITCH = ("__switch_to", "cpu_switch_to", "__x86_")
"""The switch itself, and how functions return."""
SOFTIRQS = frozenset(("__do_softirq", "handle_softirqs", "do_softirq_own_stack"))
LOCKS = ("_raw_spin_", "_raw_read_", "_raw_write_", "queued_spin_", "queued_read_", "queued_write_")
"""Functions of the kernel's locks begin so; in each of them preemption is off."""


def _in_scheduler(call: Call) -> bool:
    """In the scheduler, and in no interrupt that came in it."""
    for each in call.chain():
        if each.name in _SCHEDULERS:
            return True
        if each.kind == INTERRUPT:
            return False
    return False


def _in_softirq(names: Iterable[str]) -> bool:
    return not SOFTIRQS.isdisjoint(names)


def _labelled(call: Call) -> tuple[str, ...]:
    return tuple(each.name for each in call.chain())[::-1]


def _masked(execution: Execution) -> npt.NDArray[np.bool_]:
    """Whether interrupts were off before each instruction."""
    known: dict[int, bool] = {}
    for kind, is_off in ((InstructionKind.INTERRUPTS_OFF, True), (InstructionKind.INTERRUPTS_ON, False)):
        known.update({place + 1: is_off for place in np.nonzero(execution.kinds == kind)[0].tolist()})
    known.update(dict.fromkeys((at + 1 for at in execution.entered), True))
    known.update({at: not takes for at, takes in execution.log.flags})
    masked = np.zeros(len(execution), dtype=np.bool_)
    state, place = False, 0
    for at, value in sorted(known.items()):
        masked[place:at] = state
        state, place = value, min(at, len(execution))
    masked[place:] = state
    return masked


def _parts(slices: Sequence[Slice]) -> Iterable[LatePart]:
    """Neighbours of one kind are one part."""
    run: list[Slice] = []
    for piece in slices:
        if run and run[-1].kind is not piece.kind:
            yield _part(run)
            run = []
        run.append(piece)
    if run:
        yield _part(run)


def _part(run: Sequence[Slice]) -> LatePart:
    own: Counter[tuple[str, ...]] = Counter()
    reasons: Counter[Reason] = Counter()
    entry = ""
    for piece in run:
        own[_labelled(piece.call)] += piece.ns
        if piece.reason is not None:
            reasons[piece.reason] += piece.ns
        if piece.kind is PartKind.INTERRUPT and not entry:
            entry = next((call.name for call in piece.call.chain() if call.kind == INTERRUPT), "")
    stack = own.most_common(1)[0][0]
    return LatePart(
        run[0].kind,
        run[0].from_ns,
        sum(piece.ns for piece in run),
        stack[-1],
        stack,
        entry,
        tuple(reasons.most_common()),
    )
