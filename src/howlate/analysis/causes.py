"""Why a sample was late, from what the kernel recorded around it: parts that follow each other from the release to
the time stamp and add up to the latency exactly. A cause is named only where events show it. Pure.

Three steps: what each CPU did (cpu_spans.py), what became of the measuring task (own_course.py), and here the cause
of each piece in which both stay the same."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise

from howlate.analysis.cause import Cause, CausePart, ExplainedCase, Why, is_real_time
from howlate.analysis.cpu_spans import (
    BH_OFF_FLAG,
    HARDIRQ_FLAG,
    SOFTIRQ_FLAG,
    FrameKind,
    HandlerFrame,
    Span,
    spans_of,
)
from howlate.analysis.event_stacks import interrupted_stack
from howlate.analysis.own_course import FAULT_NS, OwnState, OwnStretch, course_of
from howlate.analysis.sparse_events import INFERRED, completed
from howlate.analysis.tiled import merged, tiled, with_nmis, without_own_cost
from howlate.model.trace import (
    IDLE_PID,
    NOTHING_KEPT,
    UNKNOWN_PRIO,
    CellTrace,
    TraceCase,
    TracedTask,
    TraceEvent,
)

ENTRY_NS = 2_000
"""So long may a timer's interrupt be on its way to the first event of its handler: longer, and something kept it."""
SWITCH_NS = 3_000
"""So long may the scheduler take where the events do not show that something kept the CPU."""
INTERRUPT_END_NS = 3_000
"""So much longer where the events do not show when the timer's interrupt ended."""
IDLE_NS = 20_000
"""So much longer than its exit latency may leaving an idle state take, and the scheduler of a preemptible kernel; the
idle CPU of a guest also waits for a round of its CPUs' turns."""

_HELPERS = ("ksoftirqd", "ktimers", "migration")
"""Threads that the end of an interrupt and the scheduler wake, by the beginnings of their names."""
OPEN_TIMER_NS = 1_000_000
"""A timer that expired longer before the release is not taken to be handled still."""


@dataclass(frozen=True)
class MachineFacts:
    """What is known of the machine besides the events."""

    is_virtual_time: bool = False
    """In the lab: nothing but the guest's instructions takes time."""
    is_guest: bool | None = None
    """Of a hypervisor in real time; None if nobody knows."""
    preemption: str = ""
    """The kernel's model (model/preemption.py); "" if nobody knows."""
    idle_exit_ns: Mapping[int, int] = field(default_factory=dict)
    """How long leaving each idle state takes at most."""
    timer_slack_ns: int = 0
    """Of the measuring task, if it is an ordinary one."""
    round_ns: int = 0
    """Of the turns in which a guest's CPUs execute in virtual time; 0 with one CPU and in real time."""
    smi: int | None = None
    """System management interrupts while the cell was measured; None if nobody knows."""

    @property
    def excludes_gaps(self) -> bool:
        """Whether neither hypervisor nor firmware can have had the CPU."""
        return self.is_virtual_time or (self.is_guest is False and self.smi == 0)


def explain_case(trace: CellTrace, case: TraceCase, facts: MachineFacts) -> ExplainedCase:
    """The parts of one case."""
    own = trace.threads.get(case.thread)
    if own is None or case.state & NOTHING_KEPT:
        return ExplainedCase(case, (CausePart(Cause.UNKNOWN, 0, case.latency_ns, why=Why.OVERWRITTEN),))
    recorded = trace.of(case)
    events = completed(recorded, trace.recorded, trace.t0_ns)
    divided = _Divided(trace, case, events, own, facts)
    parts = tiled(divided.parts(), case.latency_ns)
    parts = with_nmis(parts, _nmis(trace, case, events, divided.cpus))
    times = [event.time_ns - case.release_ns for event in recorded if event.cpu in divided.cpus]
    return ExplainedCase(case, without_own_cost(merged(parts), times, trace.event_cost_ns))


def _nmis(
    trace: CellTrace, case: TraceCase, events: Sequence[TraceEvent], cpus: frozenset[int]
) -> list[tuple[int, int, str]]:
    """From and to, since the release, and the handler of each NMI."""
    return [
        (
            event.time_ns - event.b - case.release_ns,
            event.time_ns - case.release_ns,
            trace.names.function(event.a),
        )
        for event in events
        if event.kind == "nmi_handler" and event.cpu in cpus
    ]


class _Doubt(StrEnum):
    """What decides itself by how long it takes altogether."""

    BEFORE_INTERRUPT = "before the interrupt"
    IDLE = "idle"
    HELD = "held"


class _Via(StrEnum):
    """What woke the task."""

    INTERRUPT = "interrupt"
    SOFTIRQ = "softirq"
    TASK = "task"
    ELSEWHERE = "elsewhere"
    """Another CPU, or nothing that was recorded."""


@dataclass(frozen=True)
class _Piece:
    """A part whose cause may still be in doubt."""

    part: CausePart
    doubt: _Doubt | None = None
    owner: tuple[int, int] = (0, 0)
    """What is summed up: the stretch, and since when the task had the CPU."""
    idle_task: TracedTask | None = None
    """Of IDLE: the idle task of its CPU."""
    open_timer: str = ""
    """Of IDLE: the function of a timer that expired as the CPU's last event, and whose end no event shows."""
    is_end_unseen: bool = False
    """Of HELD: the timer's interrupt may still be handled at its beginning."""
    is_going_on: bool = False
    """Of HELD: at its beginning what was interrupted woke another task, so it went on."""


class _Divided:
    def __init__(
        self,
        trace: CellTrace,
        case: TraceCase,
        events: Sequence[TraceEvent],
        own: TracedTask,
        facts: MachineFacts,
    ) -> None:
        self._case, self._events, self._own, self._facts = case, events, own, facts
        self._trace = trace
        self._sees_end = not trace.recorded or "hrtimer_expire_exit" in trace.recorded
        own_ns = 0 if self._sees_end else INTERRUPT_END_NS
        self._switch_ns = SWITCH_NS + own_ns + 2 * trace.event_cost_ns
        self._slack_ns = 0 if is_real_time(own.prio) else facts.timer_slack_ns
        self._knows_idle = not trace.recorded or "cpu_idle" in trace.recorded
        has_timer = any("timer" in name.lower() for name in trace.names.irqs.values())
        self._knows_timer = not trace.recorded or "local_timer_entry" in trace.recorded or has_timer
        self._course = course_of(events, own.pid, case.from_ns, case.to_ns)
        self._spans: dict[int, list[Span]] = {}
        self._starts: dict[int, list[int]] = {}
        for cpu in sorted({event.cpu for event in events}):
            numbered = [(number, event) for number, event in enumerate(events) if event.cpu == cpu]
            self._spans[cpu] = spans_of(numbered, trace.names, case.from_ns, case.to_ns, trace.prios)
            self._starts[cpu] = [span.to_ns for span in self._spans[cpu]]
        self._by_number = {span.number: span for spans in self._spans.values() for span in spans}
        self._own_frames = self._frames_of_wakes()
        self._interrupted = interrupted_stack(events, trace.names, case.release_ns)

    @property
    def cpus(self) -> frozenset[int]:
        """Those that the task was on, or waited for, meanwhile."""
        return frozenset(
            stretch.cpu
            for stretch in self._course
            if stretch.to_ns >= self._case.release_ns and stretch.from_ns <= self._case.stamp_ns
        )

    def _called(self, part: CausePart) -> CausePart:
        """A part with what the timer interrupted, if that is known."""
        if not self._interrupted:
            return part
        return replace(part, function=self._interrupted[0], callers=self._interrupted[1:])

    def _frames_of_wakes(self) -> frozenset[int]:
        """What was being handled when the task was woken: its own timer."""
        found: set[int] = set()
        for stretch in self._course:
            is_own = self._via(stretch) is not _Via.ELSEWHERE and not self._is_blocked(stretch)
            if is_own and stretch.to_ns >= self._case.release_ns:
                frames = _innermost(self._by_number[stretch.woken_number].frames)
                found.update(frame.number for frame in frames if frame.kind is not FrameKind.SOFTIRQ)
        return frozenset(found)

    def _via(self, stretch: OwnStretch) -> _Via:
        event = stretch.woken_by
        if event is None or event.cpu != stretch.cpu:
            return _Via.ELSEWHERE
        frames = self._by_number[stretch.woken_number].frames
        if not frames:
            return _Via.TASK
        is_hard = any(frame.is_hard for frame in _innermost(frames))
        return _Via.INTERRUPT if is_hard else _Via.SOFTIRQ

    def parts(self) -> list[CausePart]:
        """In order, as far as anything was recorded; times are since the release."""
        pieces = list(self._pieces())
        sums: Counter[tuple[_Doubt, tuple[int, int]]] = Counter()
        for piece in pieces:
            if piece.doubt is not None:
                sums[piece.doubt, piece.owner] += piece.part.ns
        went_on = {piece.owner for piece in pieces if piece.is_going_on}
        return [
            piece.part
            if piece.doubt is None
            else self._decided(piece, sums[piece.doubt, piece.owner], piece.owner in went_on)
            for piece in pieces
        ]

    def _decided(self, piece: _Piece, whole_ns: int, went_on: bool) -> CausePart:
        part = piece.part
        if piece.doubt is _Doubt.HELD:
            return self._held(piece, whole_ns, went_on)
        if piece.doubt is _Doubt.IDLE:
            return self._idle(piece, whole_ns)
        if whole_ns <= ENTRY_NS:
            why = Why.BEFORE_INTERRUPT
            return replace(part, cause=Cause.TIMER_IRQ, name="", task=None, why=why, function="", callers=())
        return part

    def _idle(self, piece: _Piece, whole_ns: int) -> CausePart:
        """Leaving idle, or what else took longer than that: events that do not show idle states cannot exclude
        that a timer was still being handled, or that interrupts were off."""
        part, excludes_gaps = piece.part, self._facts.excludes_gaps
        exits = self._facts.idle_exit_ns
        exit_ns = exits.get(part.state, 0) if part.state is not None and part.state >= 0 else 0
        if part.state == -1:
            exit_ns = max(exits.values(), default=0)
        if whole_ns <= exit_ns + IDLE_NS + self._facts.round_ns:
            return part
        if piece.open_timer and excludes_gaps:
            return replace(part, cause=Cause.IRQ, name=piece.open_timer, why=Why.OTHER_TIMER, state=None)
        if excludes_gaps and self._knows_idle:
            return part
        if excludes_gaps or piece.open_timer:
            cause = Cause.IRQ_LATE if excludes_gaps else Cause.IRQ_LATE_OR_GAP
            return replace(part, cause=cause, task=piece.idle_task, state=None)
        return replace(part, cause=Cause.GAP)

    def _held(self, piece: _Piece, whole_ns: int, went_on: bool) -> CausePart:
        """What was interrupted went on: because it could not be preempted, or no longer than a switch takes. Where
        the interrupt's end is not seen, a task that it woke meanwhile shows that it went on, however short that
        was."""
        part = piece.part
        is_preemptible = self._is_preemptible
        cause = Cause.IRQ_END_OR_SWITCH if piece.is_end_unseen else Cause.SWITCH
        switch = replace(part, cause=cause, task=None, why=None, function="", callers=())
        is_shown = bool(part.why) if self._sees_end else went_on and not is_preemptible
        if whole_ns <= self._switch_ns and not is_shown:
            return switch
        if part.why is not None:
            return part
        if not is_preemptible:
            return replace(part, why=Why.NO_KERNEL_PREEMPTION if self._facts.preemption else None)
        # there the end of an interrupt is where the kernel preempts
        is_gap = whole_ns > IDLE_NS and not self._facts.excludes_gaps
        return replace(switch, cause=Cause.GAP, why=Why.IN_SWITCH) if is_gap else switch

    @property
    def _is_preemptible(self) -> bool:
        """Whether the kernel preempts itself for our task: a lazy one does for a real-time task."""
        model = self._facts.preemption
        return model in ("full", "rt") or (model == "lazy" and is_real_time(self._own.prio))

    def _pieces(self) -> Iterator[_Piece]:
        release_ns, stamp_ns = self._case.release_ns, self._case.stamp_ns
        for place, stretch in enumerate(self._course):
            from_ns, to_ns = max(stretch.from_ns, release_ns), min(stretch.to_ns, stamp_ns)
            if from_ns >= to_ns:
                continue
            faults_over_ns = (fault_ns + FAULT_NS for fault_ns in stretch.faults_ns)
            marks = sorted((*stretch.faults_ns, *faults_over_ns, release_ns + self._slack_ns))
            cuts = [from_ns, *(at for at in marks if from_ns < at < to_ns), to_ns]
            for begin_ns, end_ns in pairwise(cuts):
                for span, first_ns, last_ns in self._overlapping(stretch.cpu, begin_ns, end_ns):
                    part = CausePart(Cause.UNKNOWN, first_ns - release_ns, last_ns - first_ns)
                    yield self._piece(part, place, stretch, span)

    def _overlapping(self, cpu: int, from_ns: int, to_ns: int) -> Iterator[tuple[Span | None, int, int]]:
        spans, ends = self._spans.get(cpu, []), self._starts.get(cpu, [])
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

    def _piece(self, part: CausePart, place: int, stretch: OwnStretch, span: Span | None) -> _Piece:
        if stretch.state is OwnState.STOPPED:
            return _Piece(replace(part, cause=Cause.STOPPED, task=self._waker(stretch)))
        if stretch.state is OwnState.ASLEEP and self._is_blocked(stretch):
            cause = Cause.PAGE_FAULT if stretch.is_fault else Cause.BLOCKED
            return _Piece(replace(part, cause=cause, task=self._waker(stretch)))
        if span is None:
            cause = Cause.MIGRATION if stretch.is_migrated else Cause.UNKNOWN
            return _Piece(replace(part, cause=cause, why=Why.NOT_WOKEN if cause is Cause.UNKNOWN else None))
        if not span.is_known:
            return _Piece(replace(part, why=Why.LOST))
        if stretch.state is OwnState.UNKNOWN:
            return _Piece(replace(part, why=Why.NOT_WOKEN))
        if (framed := self._framed(part, stretch, span)) is not None:
            return _Piece(framed)
        if stretch.state is OwnState.RUNNING:
            return _Piece(self._running(part, stretch))
        owner = (place, span.since)
        if stretch.state is OwnState.ASLEEP:
            return self._asleep(part, stretch, span, owner)
        return self._runnable(part, stretch, span, owner)

    def _is_blocked(self, stretch: OwnStretch) -> bool:
        """Whether the task waited for something else than its release."""
        return (stretch.from_ns > self._case.release_ns and self._has_run(stretch)) or self._via(
            stretch
        ) is _Via.TASK

    def _has_run(self, stretch: OwnStretch) -> bool:
        """Whether the task had the CPU for this release before it slept."""
        before = self._course[: self._course.index(stretch)]
        return any(
            each.state is OwnState.RUNNING and each.from_ns >= self._case.release_ns for each in before
        )

    def _waker(self, stretch: OwnStretch) -> TracedTask | None:
        event = stretch.woken_by
        if (
            event is None
            or event.pid == IDLE_PID
            or (span := self._by_number.get(stretch.woken_number)) is None
        ):
            return None
        return span.task

    def _framed(self, part: CausePart, stretch: OwnStretch, span: Span) -> CausePart | None:
        """The cause where something is handled that interrupts a task; None where a task counts."""
        inner = _innermost(span.frames)
        if not inner:
            return None
        top, hard = inner[-1], next((frame for frame in inner if frame.is_hard), None)
        if hard is None:
            is_before = stretch.state is OwnState.ASLEEP and self._via(stretch) is _Via.INTERRUPT
            if is_before or self._facts.preemption == "rt":
                return None
            return replace(part, cause=Cause.SOFTIRQ, name=top.name or inner[0].name)
        if top.number in self._own_frames:
            return replace(part, cause=Cause.TIMER_IRQ)
        if any(frame.kind is FrameKind.IPI for frame in inner):
            return replace(part, cause=Cause.IPI, name=top.name)
        why = Why.OTHER_TIMER if top.kind is FrameKind.TIMER else None
        return replace(part, cause=Cause.IRQ, name=top.name or hard.name, why=why)

    def _running(self, part: CausePart, stretch: OwnStretch) -> CausePart:
        release_ns = self._case.release_ns
        from_ns = release_ns + part.from_ns
        if any(release_ns <= fault_ns <= from_ns < fault_ns + FAULT_NS for fault_ns in stretch.faults_ns):
            return replace(part, cause=Cause.PAGE_FAULT)
        if stretch.from_ns < self._case.release_ns:
            return replace(part, cause=Cause.OWN_LATE)
        return replace(part, cause=Cause.RETURN)

    def _asleep(self, part: CausePart, stretch: OwnStretch, span: Span, owner: tuple[int, int]) -> _Piece:
        """The release has passed, and its wake-up has not come."""
        via = self._via(stretch)
        if part.from_ns < self._slack_ns and via is not _Via.ELSEWHERE:
            return _Piece(replace(part, cause=Cause.TIMER_SLACK))
        if span.task.pid == IDLE_PID:
            doubt = None if via is _Via.ELSEWHERE else _Doubt.IDLE
            state = span.idle if self._knows_idle else -1
            idle = replace(part, cause=Cause.IDLE, state=state)
            return _Piece(idle, doubt, (owner[0], 0), span.task, self._open_timer(span))
        if via is _Via.ELSEWHERE:
            return _Piece(replace(part, why=Why.NOT_WOKEN))
        if via is _Via.SOFTIRQ and self._timer_came(span):
            name = _innermost(self._by_number[stretch.woken_number].frames)[0].name
            return _Piece(replace(part, cause=Cause.SOFTIRQ, name=name, task=span.task, why=Why.SOFT_TIMER))
        cause = Cause.IRQ_LATE if self._facts.excludes_gaps else Cause.IRQ_LATE_OR_GAP
        inner = _innermost(span.frames)
        name, why = (inner[0].name, Why.IN_SOFTIRQ) if inner else ("", None)
        part = self._called(replace(part, cause=cause, task=span.task, name=name, why=why))
        return _Piece(part, _Doubt.BEFORE_INTERRUPT, (owner[0], 0))

    def _open_timer(self, span: Span) -> str:
        """The function of the timer that expired as the last recorded event before a span; "" if another event
        came last, or if the ends of timers are recorded."""
        if self._sees_end or span.number < 0:
            return ""
        cpu = self._events[span.number].cpu
        for event in reversed(self._events[: span.number + 1]):
            if event.cpu == cpu and event.kind not in INFERRED and event.kind != "kernel_stack":
                is_recent = self._case.release_ns - event.time_ns <= OPEN_TIMER_NS
                is_timer = event.kind == "hrtimer_expire_entry" and is_recent
                return self._trace.names.function(event.c) if is_timer else ""
        return ""

    def _timer_came(self, span: Span) -> bool:
        """Whether a timer's interrupt came between the release and this span, if that is recorded."""
        return not self._knows_timer or any(
            self._case.release_ns <= event.time_ns <= span.from_ns
            and event.cpu == self._events[span.number].cpu
            and event.kind.endswith("_entry")
            for event in self._events[: span.number + 1]
        )

    def _runnable(self, part: CausePart, stretch: OwnStretch, span: Span, owner: tuple[int, int]) -> _Piece:
        """The task could run, and did not."""
        task = span.task
        if not stretch.is_seen:
            return _Piece(replace(part, why=Why.NOT_WOKEN))
        queued = max(stretch.number, stretch.queued_number)
        is_chosen = span.since >= queued  # after our task stood in the queue
        if task.pid == IDLE_PID:
            if is_chosen:
                return _Piece(replace(part, cause=Cause.THROTTLED, task=task))
            if stretch.is_migrated:
                return _Piece(replace(part, cause=Cause.MIGRATION))
            if span.idle is not None:
                return _Piece(replace(part, cause=Cause.IDLE, state=span.idle))
            is_unseen = self._is_end_unseen(span)
            return _Piece(replace(part, cause=Cause.IRQ_END_OR_SWITCH if is_unseen else Cause.SWITCH))
        if task.prio == UNKNOWN_PRIO:
            return _Piece(replace(part, task=task))
        if self._outranks(task):
            return _Piece(replace(part, cause=Cause.HIGHER_TASK, task=task))
        if is_chosen:
            return _Piece(replace(part, cause=Cause.THROTTLED, task=task))
        is_off = bool(span.preempt) or bool(span.flags & (SOFTIRQ_FLAG | BH_OFF_FLAG))
        why = Why.PREEMPTION_OFF if is_off else None
        held = self._called(replace(part, cause=Cause.NOT_PREEMPTIBLE, task=task, why=why))
        is_unseen, is_going_on = self._is_end_unseen(span), self._is_going_on(span)
        return _Piece(held, _Doubt.HELD, owner, is_end_unseen=is_unseen, is_going_on=is_going_on)

    def _is_end_unseen(self, span: Span) -> bool:
        """Whether the timer's interrupt may still be handled when a span begins: its end is not recorded but
        inferred, and no event has come since."""
        if self._sees_end or "local_timer_exit" in self._trace.recorded or span.number < 0:
            return False
        return self._events[span.number].kind == "local_timer_exit"

    def _is_going_on(self, span: Span) -> bool:
        """Whether a span begins with a wake-up by the task itself, of another one than ours. The end of an interrupt
        and the scheduler wake none but their helpers."""
        if span.number < 0:
            return False
        event = self._events[span.number]
        is_by_task = event.kind == "sched_waking" and not event.flags & (HARDIRQ_FLAG | SOFTIRQ_FLAG)
        is_another = event.a != self._own.pid
        return is_by_task and is_another and not self._trace.names.task(event.a).startswith(_HELPERS)

    def _outranks(self, task: TracedTask) -> bool:
        """Whether the scheduler may let it run first; fair tasks take turns."""
        if not is_real_time(self._own.prio):
            return task.pid != IDLE_PID
        return task.prio <= self._own.prio


def _innermost(frames: Sequence[HandlerFrame]) -> Sequence[HandlerFrame]:
    """What the CPU is in: the innermost interrupt or softirq, and the timer that expires in it."""
    for place in range(len(frames) - 1, -1, -1):
        if frames[place].kind is not FrameKind.TIMER:
            first = place
            while first and {frames[first].kind, frames[first - 1].kind} == {FrameKind.IPI}:
                first -= 1  # of arm64: the IPI stands in the handler of its interrupt
            return frames[first:]
    return frames
