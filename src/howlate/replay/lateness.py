"""Where the time between a release and its first time stamp went: parts that add up to the latency exactly,
and functions with the instructions that they executed themselves and with all that they called."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.errors import DamagedError
from howlate.model.cause import Cause, CausePart, Lateness, Why
from howlate.replay.call_stacks import Call, Segment, segments
from howlate.replay.execution import INTERRUPT, TIME_UNEXPLAINED, Execution
from howlate.replay.instructions import InstructionKind
from howlate.replay.symbols import USER_TOP


def slices(execution: Execution, release_ns: int, latency_ns: int, stamp: int) -> list[Slice]:
    """The same as `lateness_of`, undivided, in order; they add up to the latency."""
    return _Explained(execution, release_ns, latency_ns, stamp).slices()


def lateness_of(execution: Execution, release_ns: int, latency_ns: int, stamp: int) -> Lateness:
    """Why the program read the clock, by its instruction number `stamp`, so long after the release. The release is an
    instant of the machine's clock."""
    return _Explained(execution, release_ns, latency_ns, stamp).lateness()


class Slice(Struct, frozen=True):
    """A part of the time in which one function was executed, and nothing that counts changed."""

    cause: Cause
    why: Why | None
    from_ns: int
    ns: int
    call: Call

    @property
    def part(self) -> tuple[Cause, Why | None]:
        """What neighbours of one part have in common."""
        return self.cause, self.why if self.why in _OF_A_PART else None


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
            raise DamagedError(TIME_UNEXPLAINED(ns=self._latency_ns - total_ns))
        return slices

    def lateness(self) -> Lateness:
        slices = self.slices()
        stacks: dict[tuple[str, ...], int] = {}
        spans: list[tuple[int, int, tuple[str, ...]]] = []
        for piece in slices:
            stack = (
                (*_labelled(piece.call),) if piece.cause is not Cause.IDLE else (*_labelled(piece.call), HALT)
            )
            stacks[stack] = stacks.get(stack, 0) + piece.ns
            if spans and spans[-1][2] == stack:
                spans[-1] = (spans[-1][0], piece.from_ns + piece.ns, stack)
            else:
                spans.append((piece.from_ns, piece.from_ns + piece.ns, stack))
        halted_ns = sum(piece.ns for piece in slices if piece.cause is Cause.IDLE)
        return Lateness(
            self._latency_ns,
            tuple(parts_of(slices)),
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
            is_halted = gap_ns >= self._execution.step_ns
            cause, why = (Cause.IDLE, None) if is_halted else (Cause.TIMER_IRQ, Why.BEFORE_INTERRUPT)
            yield Slice(cause, why, 0, gap_ns, before.call)
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
            yield Slice(*self._cause(start, segment.call), from_ns - self._release_ns, ns, segment.call)

    def _cause(self, at: int, call: Call) -> tuple[Cause, Why | None]:
        execution = self._execution
        is_program = int(execution.addresses[at]) < USER_TOP
        if execution.kinds[at] == InstructionKind.HALT:
            return Cause.IDLE, None
        names = [each.name for each in call.chain()]
        in_interrupt = any(each.kind == INTERRUPT for each in call.chain())
        if at >= self._arrived and call.task is self._own_task and self._arrived > self._first:
            if is_program:
                return Cause.RETURN, None
            if self._cleans_up(at, call):
                return self._held(at, names, is_program=is_program)
            if in_interrupt:
                return Cause.TIMER_IRQ, None
            return Cause.RETURN, None
        if at < self._interrupted:
            return (Cause.IRQ_LATE, None) if self._masked[at] else (Cause.TIMER_IRQ, Why.BEFORE_INTERRUPT)
        if self._cleans_up(at, call):
            return self._held(at, names, is_program=is_program)
        if _in_scheduler(call):
            return Cause.SWITCH, None
        if in_interrupt and not _in_softirq(names):
            return Cause.TIMER_IRQ, None
        if call.task is not self._interrupted_task and call.task is not self._own_task:
            return (Cause.SWITCH if call.name in _AROUND_SCHEDULER else Cause.HIGHER_TASK), None
        if call.task is self._own_task:  # it was never switched away from: the way back from the interrupt
            return Cause.RETURN, None
        return self._held(at, names, is_program=is_program)

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

    def _held(self, at: int, names: Sequence[str], *, is_program: bool) -> tuple[Cause, Why | None]:
        """What went on, or was cleaned up, though the task had been woken."""
        if is_program:
            return Cause.NOT_PREEMPTIBLE, Why.IN_PROGRAM
        if _in_softirq(names):
            return Cause.SOFTIRQ, None
        if self._masked[at]:
            return Cause.NOT_PREEMPTIBLE, Why.INTERRUPTS_OFF
        place = bisect.bisect_right(self._counted, at) - 1
        if place < 0:
            is_locked = any(name.startswith(LOCKS) for name in names)
            return Cause.NOT_PREEMPTIBLE, Why.IN_LOCK if is_locked else Why.UNCOUNTED
        is_off = self._execution.log.counts[place][1] & _COUNTED
        return Cause.NOT_PREEMPTIBLE, Why.PREEMPTION_OFF if is_off else Why.NO_KERNEL_PREEMPTION


HALT = "(halted)"
_COUNTED = 0x7FFFFFFF
"""The highest bit of the count is not a count: it says that nobody wants the CPU."""
_SCHEDULERS = frozenset(("__schedule", "schedule_idle"))
_AROUND_SCHEDULER = frozenset(
    (
        *("schedule", "preempt_schedule_common", "preempt_schedule_irq", "schedule_preempt_disabled"),
        *("__switch_to", "__switch_to_asm", "cpu_switch_to"),
    )
)
"""The first ones call the scheduler again on request. A new task begins in one of the rest."""
_FINISH_SWITCH = ("finish_task_switch", "finish_lock_switch", "finish_arch_post_lock_switch", "schedule_tail")
"""What the kernel calls in the following task; the last one where that is new. Compilers add to the names."""
_OF_LEFT_TASK = ("__mmdrop", "put_task_stack", "put_task_struct", "__put_task_struct")
"""What the scheduler itself calls only after a switch, where it has no function for all of it."""
_SWITCH = ("__switch_to", "cpu_switch_to", "__x86_")
"""The switch itself, and how functions return."""
SOFTIRQS = frozenset(("__do_softirq", "handle_softirqs", "do_softirq_own_stack"))
_OF_A_PART = (None, Why.BEFORE_INTERRUPT)
"""What else is known of a slice is a reason of its part's."""
_TIMERS = (
    "asm_sysvec_apic_timer",
    "sysvec_apic_timer",
    "arch_timer_handler",
    "hrtimer_interrupt",
    "timer_interrupt",
)
"""Functions of the timer's interrupt begin so."""
_IPIS = (
    "asm_sysvec_reschedule",
    "asm_sysvec_call_function",
    "asm_sysvec_irq_work",
    "ipi_handler",
    "do_handle_IPI",
)
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


def parts_of(slices: Sequence[Slice]) -> Iterable[CausePart]:
    """The parts of slices that follow each other; neighbours of one cause are one part."""
    for _key, run in groupby(slices, lambda piece: piece.part):
        yield _part(list(run))


def _part(run: Sequence[Slice]) -> CausePart:
    own: Counter[tuple[str, ...]] = Counter()
    reasons: Counter[Why] = Counter()
    for piece in run:
        own[_labelled(piece.call)] += piece.ns
        if piece.why is not None and piece.why not in _OF_A_PART:
            reasons[piece.why] += piece.ns
    *callers, function = own.most_common(1)[0][0]
    cause, name = run[0].cause, ""
    if cause is Cause.TIMER_IRQ and run[0].why is None:
        cause, name = _interrupt(run)
    elif cause is Cause.SOFTIRQ:
        name = _softirq(run)
    return CausePart(
        cause,
        run[0].from_ns,
        sum(piece.ns for piece in run),
        name,
        why=reasons.most_common(1)[0][0] if reasons else run[0].why,
        state=-1 if cause is Cause.IDLE else None,
        function=function,
        callers=tuple(reversed(callers)),
        reasons=tuple(reasons.most_common()),
    )


def _interrupt(run: Sequence[Slice]) -> tuple[Cause, str]:
    """Whose interrupt it is; of another than the timer's where the CPU entered the kernel."""
    chains = [_since_entry(piece.call) for piece in run]
    names = {name for chain in chains for name in chain}
    if any(name.startswith(_TIMERS) for name in names):
        return Cause.TIMER_IRQ, ""
    entry = chains[0][-1]
    return (Cause.IPI if any(name.startswith(_IPIS) for name in names) else Cause.IRQ), entry


def _since_entry(call: Call) -> list[str]:
    """From the innermost call to the entry of its interrupt: what was interrupted may stand on another one."""
    names = []
    for each in call.chain():
        names.append(each.name)
        if each.kind == INTERRUPT:
            break
    return names


def _softirq(run: Sequence[Slice]) -> str:
    """The function that handles most of it: what is called by the loop over softirqs."""
    handlers: Counter[str] = Counter()
    for piece in run:
        names = [call.name for call in piece.call.chain()]
        at = next(place for place, name in enumerate(names) if name in SOFTIRQS)
        handlers[names[max(0, at - 1)]] += piece.ns
    return handlers.most_common(1)[0][0]
