"""The events of one case, read: what each CPU did, what became of the measuring task, and what these events can show
at all; and the stacks recorded with the timer's interrupt (`--explain-stacks`): what it interrupted. Pure."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct, field

from howlate.model.trace import CellTrace, TraceCase, TracedTask, TraceEvent, TraceNames, is_real_time
from howlate.why.cpu_spans import (
    HARDIRQ_FLAG,
    SOFTIRQ_FLAG,
    FrameKind,
    HandlerFrame,
    Span,
    is_in_nmi,
    nmis_of,
    spans_of,
)
from howlate.why.sparse_events import is_inferred, missing_ends
from howlate.why.thread_timeline import OwnState, OwnStretch, course_of


class MachineFacts(Struct, frozen=True):
    """What is known of the machine besides the events."""

    is_virtual_time: bool = False
    """In the lab: nothing but the guest's instructions takes time."""
    is_guest: bool | None = None
    """Whether it is a guest of a hypervisor in real time; None if unknown."""
    preemption: str = ""
    """The kernel's model (model/preemption.py); "" if nobody knows."""
    idle_exit_ns: Mapping[int, int] = field(default_factory=dict)
    """How long leaving each idle state takes at most."""
    timer_slack_ns: int = 0
    """Of the measuring task, if it is an ordinary one."""
    round_ns: int = 0
    """A round of the turns in which a guest's CPUs execute in virtual time; 0 with one CPU and in real time."""
    instruction_ns: int = 1
    """What an instruction of a guest takes in virtual time."""
    smi: int | None = None
    """System management interrupts while the cell was measured; None if nobody knows."""
    may_clear_huge: bool = False
    """Whether a page fault of the measuring task may clear a huge page, on a machine whose events would show it."""

    @property
    def excludes_gaps(self) -> bool:
        """Whether neither hypervisor nor firmware can have had the CPU."""
        return self.is_virtual_time or (self.is_guest is False and self.smi == 0)


_STACK = "kernel_stack"
_ENTRIES = ("asm_sysvec_", "asm_common_interrupt", "el1h_64_irq", "el1_irq", "el0t_64_irq", "el0_irq")
"""Functions in which an interrupt enters the kernel: the frame below is what it interrupted."""
_LOCKS = "_raw_"


def interrupted_stack(events: Sequence[TraceEvent], names: TraceNames, release_ns: int) -> tuple[str, ...]:
    """The function that was interrupted, and its callers, the nearest first: of the first stack after the release,
    without the end of a lock, where interrupts often come. Empty if there is none, or a program was interrupted."""
    frames: list[int] = []
    for event in events:
        if event.kind != _STACK or event.time_ns < release_ns:
            if frames:
                break
        elif event.a == 0 and frames:
            break
        else:
            frames += [address for address in (event.b, event.c, event.d) if address]
    return chain_of([names.function(address) for address in frames])


def chain_of(called: Sequence[str]) -> tuple[str, ...]:
    """Of the functions of a stack, the innermost first, what an interrupt interrupted and its callers."""
    place = next((i for i, name in enumerate(called) if name.startswith(_ENTRIES)), len(called))
    while place < len(called) and called[place].startswith((*_ENTRIES, _LOCKS)):
        place += 1
    return tuple(called[place:])


_HELPERS = ("ksoftirqd", "ktimers", "migration")
"""Threads that the end of an interrupt and the scheduler wake, by the beginnings of their names."""
OPEN_TIMER_NS = 1_000_000
"""A timer that expired longer before the release is not taken to be handled still."""


class CaseEvents:
    """One case, with what its events say of each CPU and of the measuring task."""

    def __init__(
        self,
        trace: CellTrace,
        case: TraceCase,
        events: Sequence[TraceEvent],
        own: TracedTask,
        facts: MachineFacts,
    ) -> None:
        """`events`: of the case, completed (sparse_events.py). `own`: the measuring task."""
        self.trace, self.case, self.events, self.own, self.facts = trace, case, events, own, facts
        self.knows_timers = not trace.recorded or "hrtimer_expire_entry" in trace.recorded
        """Whether it is recorded which timers expire."""
        self.knows_idle = not trace.recorded or "cpu_idle" in trace.recorded
        self.slack_ns = 0 if is_real_time(own.prio) else facts.timer_slack_ns
        """How much later the kernel may let the task's timer expire."""
        has_timer = any("timer" in name.lower() for name in trace.names.irqs.values())
        self._knows_timer = not trace.recorded or "local_timer_entry" in trace.recorded or has_timer
        is_told = not trace.recorded or "local_timer_exit" in trace.recorded or trace.detail == "all"
        self.sees_end = is_told and not any(map(missing_ends, events))
        """Whether the ends of the timers' interrupts are recorded. Some hypervisors' are by no event."""
        self.course = course_of(
            events, own.pid, case.from_ns, case.to_ns, may_clear_huge=facts.may_clear_huge
        )
        self._spans: dict[int, list[Span]] = {}
        self._ends: dict[int, list[int]] = {}
        for cpu in sorted({event.cpu for event in events}):
            numbered = [(number, event) for number, event in enumerate(events) if event.cpu == cpu]
            self._spans[cpu] = spans_of(numbered, trace.names, case.from_ns, case.to_ns, trace.prios)
            self._ends[cpu] = [span.to_ns for span in self._spans[cpu]]
        self._times = [event.time_ns for event in events]
        self._met: dict[int, tuple[list[int], list[int]]] = {}
        """Since when and until when the task was on each CPU, or waited for it."""
        for stretch in self.course:
            begins, ends = self._met.setdefault(stretch.cpu, ([], []))
            begins.append(stretch.from_ns)
            ends.append(stretch.to_ns)
        self._by_number = {span.number: span for spans in self._spans.values() for span in spans}
        self.nmis = [
            (max(from_ns, since), min(to_ns, until), name)
            for from_ns, to_ns, name, cpu in nmis_of(events, trace.names, case.release_ns)
            for since, until in self._times_on(cpu)
            if from_ns < until and to_ns > since
        ]
        """From and to, since the release, and the handler of each NMI on the CPU on which the task was, or waited."""
        self.interrupted = interrupted_stack(events, trace.names, case.release_ns)
        """The function of the kernel that the timer interrupted, and its callers; empty if nobody knows."""

    def _times_on(self, cpu: int) -> Iterator[tuple[int, int]]:
        """From and to, since the release, of what became of the task on a CPU."""
        release_ns = self.case.release_ns
        for from_ns, to_ns in zip(*self._met.get(cpu, ([], [])), strict=True):
            yield from_ns - release_ns, to_ns - release_ns

    def is_met(self, event: TraceEvent) -> bool:
        """Whether an event is of the CPU that the task was on then, or waited for."""
        begins, ends = self._met.get(event.cpu, ([], []))
        place = bisect.bisect_right(begins, event.time_ns) - 1
        return place >= 0 and event.time_ns < ends[place]

    def span_of(self, number: int) -> Span | None:
        return self._by_number.get(number)

    def overlapping(self, cpu: int, from_ns: int, to_ns: int) -> Iterator[tuple[Span | None, int, int]]:
        """What a CPU did from one time to another, without a gap; None where nothing was recorded."""
        spans, ends = self._spans.get(cpu, []), self._ends.get(cpu, [])
        at_ns = from_ns
        for span in spans[bisect.bisect_right(ends, from_ns) :]:
            if span.from_ns >= to_ns:
                break
            first_ns, last_ns = max(span.from_ns, from_ns), min(span.to_ns, to_ns)
            if first_ns < last_ns:
                yield span, first_ns, last_ns
                at_ns = last_ns
        if at_ns < to_ns:
            yield None, at_ns, to_ns

    def has_run(self, stretch: OwnStretch) -> bool:
        """Whether the task had the CPU for this release before this part of its course."""
        before = self.course[: self.course.index(stretch)]
        return any(each.state is OwnState.RUNNING and each.from_ns >= self.case.release_ns for each in before)

    def open_timer(self, span: Span) -> str:
        """The function of the timer that expired as the last recorded event before a span; "" if another event
        came last, or if the ends of the timers' interrupts are recorded."""
        if self.sees_end:
            return ""
        for event in self._back_from(span.number):
            if not is_inferred(event, self.trace.recorded) and event.kind != "kernel_stack":
                is_recent = self.case.release_ns - event.time_ns <= OPEN_TIMER_NS
                is_timer = event.kind == "hrtimer_expire_entry" and is_recent
                return self.trace.names.function(event.c) if is_timer else ""
        return ""

    def _back_from(self, number: int) -> Iterator[TraceEvent]:
        for place in range(number, -1, -1):
            if self.events[place].cpu == self.events[number].cpu:
                yield self.events[place]

    def timer_came(self, span: Span) -> bool:
        """Whether a timer's interrupt came between the release and this span, if that is recorded."""
        first = bisect.bisect_left(self._times, self.case.release_ns)
        return not self._knows_timer or any(
            event.time_ns <= span.from_ns
            and event.cpu == self.events[span.number].cpu
            and event.kind.endswith("_entry")
            for event in islice(self.events, first, span.number + 1)
        )

    def lacks_end(self, span: Span) -> bool:
        """Whether the timer's interrupt may still be handled when a span begins: its end is not recorded but
        inferred, and no event has come since but of NMIs and stacks."""
        for event in self._back_from(span.number):
            if event.kind != "kernel_stack" and not is_in_nmi(event):
                return missing_ends(event)
        return False

    def is_going_on(self, span: Span) -> bool:
        """Whether a span begins with a wake-up by the task itself, of another one than ours. The end of an interrupt
        and the scheduler wake none but their helpers."""
        if span.number < 0:
            return False
        event = self.events[span.number]
        is_by_task = event.kind == "sched_waking" and not event.flags & (HARDIRQ_FLAG | SOFTIRQ_FLAG)
        is_another = event.a != self.own.pid
        return is_by_task and is_another and not self.trace.names.task(event.a).startswith(_HELPERS)


def innermost(frames: Sequence[HandlerFrame]) -> Sequence[HandlerFrame]:
    """What the CPU is in: the innermost interrupt or softirq, and the timer that expires in it."""
    for place in range(len(frames) - 1, -1, -1):
        if frames[place].kind is not FrameKind.TIMER:
            first = place
            while first and {frames[first].kind, frames[first - 1].kind} == {FrameKind.IPI}:
                first -= 1  # of arm64: the IPI stands in the handler of its interrupt
            return frames[first:]
    return frames
