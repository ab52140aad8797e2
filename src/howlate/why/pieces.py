"""The pieces of a case in which what a CPU did and what became of the measuring task stay the same, each with its
cause, or with what that depends on (ambiguous.py). What ended a sleep of the task is its timer, or something else
that it had waited for (`Via`). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise

from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, Why
from howlate.model.trace import IDLE_PID, UNKNOWN_PRIO, TracedTask, is_real_time
from howlate.why.ambiguous import Ambiguity, AmbiguousPart
from howlate.why.case_events import CaseEvents, innermost
from howlate.why.cpu_spans import BH_OFF_FLAG, SOFTIRQ_FLAG, FrameKind, HandlerFrame, Span, is_timer
from howlate.why.thread_timeline import OwnState, OwnStretch

_OF_DEVICES = frozenset(("NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "HI"))
"""Softirqs in which no timer expires: they do the work of a device's interrupt."""


class Via(StrEnum):
    INTERRUPT = "interrupt"
    SOFTIRQ = "softirq"
    DEVICE = "device"
    """A device's interrupt or softirq: the task had waited for input, or for a disk."""
    TASK = "task"
    ELSEWHERE = "elsewhere"
    """Another CPU, or nothing that was recorded."""


def via(events: CaseEvents, stretch: OwnStretch) -> Via:
    """The context of the wake-up that ended an interval."""
    event, span = stretch.woken_by, events.span_of(stretch.woken_number)
    if event is None or span is None:
        return Via.ELSEWHERE
    inner = innermost(span.frames)
    if not inner:
        return Via.ELSEWHERE if span.task.pid == IDLE_PID else Via.TASK  # an idle task wakes nobody by itself
    if events.knows_timers and _is_of_device(inner):
        return Via.DEVICE
    if event.cpu != stretch.cpu:
        return Via.ELSEWHERE
    return Via.INTERRUPT if any(frame.is_hard for frame in inner) else Via.SOFTIRQ


def _is_of_device(inner: Sequence[HandlerFrame]) -> bool:
    """Whether a device's interrupt or softirq is being handled, and no timer and no other CPU's wish in it."""
    if any(frame.kind in (FrameKind.TIMER, FrameKind.IPI) for frame in inner):
        return False
    first = inner[0]
    if first.kind is FrameKind.SOFTIRQ:
        return first.name in _OF_DEVICES
    return first.event == "irq_handler" and not is_timer(first)


def is_blocked(events: CaseEvents, stretch: OwnStretch) -> bool:
    """Whether the task waited for something else than its release."""
    is_later = stretch.from_ns > events.case.release_ns and events.has_run(stretch)
    return is_later or via(events, stretch) in (Via.TASK, Via.DEVICE)


def waking_handler(events: CaseEvents, stretch: OwnStretch) -> str:
    """The interrupt, the softirq, or the function of the timer that ended an interval; "" if none did."""
    frames = span.frames if (span := _woken_in(events, stretch)) is not None else ()
    return next((frame.name for frame in reversed(innermost(frames)) if frame.name), "")


def waking_task(events: CaseEvents, stretch: OwnStretch) -> TracedTask | None:
    """The task that ended an interval by itself; None if an interrupt or a softirq did, for the idle task, and if
    nobody knows."""
    span = _woken_in(events, stretch)
    return None if span is None or span.frames or span.task.pid == IDLE_PID else span.task


def _woken_in(events: CaseEvents, stretch: OwnStretch) -> Span | None:
    return events.span_of(stretch.woken_number) if stretch.woken_by is not None else None


def pieces_of(events: CaseEvents) -> Iterator[AmbiguousPart]:
    """In order, as far as anything was recorded; times are since the release."""
    return _Pieces(events).pieces()


class _Pieces:
    def __init__(self, events: CaseEvents) -> None:
        self._events = events
        self._release_ns = events.case.release_ns
        self._own_frames = self._frames_of_wakes()

    def _frames_of_wakes(self) -> frozenset[int]:
        """What was being handled when the task was woken: its own timer."""
        found: set[int] = set()
        for stretch in self._events.course:
            span = self._events.span_of(stretch.woken_number)
            is_elsewhere = via(self._events, stretch) is Via.ELSEWHERE
            if span is None or is_elsewhere or is_blocked(self._events, stretch):
                continue
            if stretch.to_ns >= self._release_ns:
                frames = innermost(span.frames)
                found.update(frame.number for frame in frames if frame.kind is not FrameKind.SOFTIRQ)
        return frozenset(found)

    def pieces(self) -> Iterator[AmbiguousPart]:
        release_ns, stamp_ns = self._release_ns, self._events.case.stamp_ns
        for place, stretch in enumerate(self._events.course):
            from_ns, to_ns = max(stretch.from_ns, release_ns), min(stretch.to_ns, stamp_ns)
            if from_ns >= to_ns:
                continue
            of_faults = (at_ns for fault in stretch.faults for at_ns in (fault.at_ns, fault.until_ns))
            marks = sorted((*of_faults, release_ns + self._events.slack_ns))
            cuts = [from_ns, *(at for at in marks if from_ns < at < to_ns), to_ns]
            for begin_ns, end_ns in pairwise(cuts):
                for span, first_ns, last_ns in self._events.overlapping(stretch.cpu, begin_ns, end_ns):
                    part = CausePart(Cause.UNKNOWN, first_ns - release_ns, last_ns - first_ns)
                    yield self._piece(part, place, stretch, span)

    def _piece(self, part: CausePart, place: int, stretch: OwnStretch, span: Span | None) -> AmbiguousPart:
        if span is not None and not span.is_known:
            return AmbiguousPart(replace(part, why=Why.LOST))
        if stretch.state is OwnState.STOPPED:
            return AmbiguousPart(replace(part, cause=Cause.STOPPED, task=waking_task(self._events, stretch)))
        if stretch.state is OwnState.ASLEEP and is_blocked(self._events, stretch):
            return AmbiguousPart(self._blocked(part, stretch))
        if span is None:
            if stretch.is_migrated:
                return AmbiguousPart(replace(part, cause=Cause.MIGRATION), Ambiguity.ORDINARY, (place, 0))
            return AmbiguousPart(replace(part, why=Why.NOT_WOKEN))
        if stretch.state is OwnState.UNKNOWN:
            return AmbiguousPart(replace(part, why=Why.NOT_WOKEN if stretch.number < 0 else Why.LOST))
        if (framed := self._framed(part, stretch, span)) is not None:
            is_own = framed.cause is Cause.TIMER_IRQ
            doubt = Ambiguity.TIMER_IRQ if is_own else None
            return AmbiguousPart(framed, doubt, (innermost(span.frames)[0].number, 0))
        if stretch.state is OwnState.RUNNING:
            running = self._running(part, stretch)
            return AmbiguousPart(
                running, Ambiguity.ORDINARY if running.cause is Cause.RETURN else None, (place, 0)
            )
        owner = (place, span.since)
        if stretch.state is OwnState.ASLEEP:
            return self._asleep(part, stretch, span, owner)
        return self._runnable(part, stretch, span, owner)

    def _blocked(self, part: CausePart, stretch: OwnStretch) -> CausePart:
        """The task waited for something else than its release, which a task or a handler told it."""
        task = waking_task(self._events, stretch)
        if stretch.is_fault:
            return replace(part, cause=Cause.PAGE_FAULT, task=task)
        name = waking_handler(self._events, stretch) if task is None else ""
        return replace(part, cause=Cause.BLOCKED, task=task, name=name)

    def _framed(self, part: CausePart, stretch: OwnStretch, span: Span) -> CausePart | None:
        """The cause where something is handled that interrupts a task; None where a task counts."""
        inner = innermost(span.frames)
        if not inner:
            return None
        top, hard = inner[-1], next((frame for frame in inner if frame.is_hard), None)
        if hard is None:
            is_asleep = stretch.state is OwnState.ASLEEP
            is_before = is_asleep and via(self._events, stretch) is Via.INTERRUPT
            if is_before or self._events.facts.preemption == "rt":
                return None
            return replace(part, cause=Cause.SOFTIRQ, name=top.name or inner[0].name)
        if top.number in self._own_frames:
            return replace(part, cause=Cause.TIMER_IRQ)
        if any(frame.kind is FrameKind.IPI for frame in inner):
            return replace(part, cause=Cause.IPI, name=top.name)
        why = Why.OTHER_TIMER if top.kind is FrameKind.TIMER else None
        return replace(part, cause=Cause.IRQ, name=top.name or hard.name, why=why)

    def _running(self, part: CausePart, stretch: OwnStretch) -> CausePart:
        release_ns = self._release_ns
        from_ns = release_ns + part.from_ns
        if any(release_ns <= fault.at_ns <= from_ns < fault.until_ns for fault in stretch.faults):
            return replace(part, cause=Cause.PAGE_FAULT)
        if stretch.from_ns < release_ns:
            return replace(part, cause=Cause.OWN_LATE)
        return replace(part, cause=Cause.RETURN)

    def _asleep(
        self, part: CausePart, stretch: OwnStretch, span: Span, owner: tuple[int, int]
    ) -> AmbiguousPart:
        """The release has passed, and its wake-up has not come."""
        events, woken_via = self._events, via(self._events, stretch)
        if part.from_ns < events.slack_ns and woken_via is not Via.ELSEWHERE:
            return AmbiguousPart(replace(part, cause=Cause.TIMER_SLACK))
        if span.task.pid == IDLE_PID:
            state = span.idle if events.knows_idle else -1
            idle = replace(part, cause=Cause.IDLE, state=state)
            is_elsewhere = woken_via is Via.ELSEWHERE
            return AmbiguousPart(
                idle,
                Ambiguity.IDLE,
                owner=(owner[0], 0),
                idle_task=span.task,
                is_elsewhere=is_elsewhere,
                open_timer=events.open_timer(span),
            )
        if woken_via is Via.ELSEWHERE:
            return AmbiguousPart(replace(part, why=Why.NOT_WOKEN))
        woken_in = events.span_of(stretch.woken_number)
        if woken_via is Via.SOFTIRQ and woken_in is not None and events.timer_came(span):
            name = innermost(woken_in.frames)[0].name
            return AmbiguousPart(
                replace(part, cause=Cause.SOFTIRQ, name=name, task=span.task, why=Why.SOFT_TIMER)
            )
        cause = Cause.IRQ_LATE if events.facts.excludes_gaps else Cause.IRQ_LATE_OR_GAP
        inner = innermost(span.frames)
        name, why = (inner[0].name, Why.IN_SOFTIRQ) if inner else ("", None)
        part = _called(events, replace(part, cause=cause, task=span.task, name=name, why=why))
        return AmbiguousPart(part, Ambiguity.BEFORE_INTERRUPT, (owner[0], 0))

    def _runnable(
        self, part: CausePart, stretch: OwnStretch, span: Span, owner: tuple[int, int]
    ) -> AmbiguousPart:
        """The task could run, and did not."""
        task, events = span.task, self._events
        if not stretch.is_seen:  # it may have slept yet; but beside this task it could not have run either
            if is_real_time(events.own.prio) and 0 <= task.prio < events.own.prio:
                return AmbiguousPart(replace(part, cause=Cause.HIGHER_TASK, task=task))
            return AmbiguousPart(replace(part, why=Why.NOT_WOKEN))
        queued = max(stretch.number, stretch.queued_number)
        is_chosen = span.since >= queued  # after our task stood in the queue
        if task.pid == IDLE_PID:
            if is_chosen:
                return AmbiguousPart(replace(part, cause=Cause.THROTTLED, task=task))
            if not stretch.is_migrated and span.idle is not None:
                return AmbiguousPart(
                    replace(part, cause=Cause.IDLE, state=span.idle), Ambiguity.IDLE, owner, task
                )
            cause = Cause.IRQ_END_OR_SWITCH if events.lacks_end(span) else Cause.SWITCH
            cause = Cause.MIGRATION if stretch.is_migrated else cause
            return AmbiguousPart(replace(part, cause=cause), Ambiguity.ORDINARY, owner)
        if task.prio == UNKNOWN_PRIO:
            return AmbiguousPart(replace(part, task=task))
        if self._outranks(task):
            return AmbiguousPart(replace(part, cause=Cause.HIGHER_TASK, task=task))
        if is_chosen:
            return AmbiguousPart(replace(part, cause=Cause.THROTTLED, task=task))
        is_off = bool(span.preempt) or bool(span.flags & (SOFTIRQ_FLAG | BH_OFF_FLAG))
        why = Why.PREEMPTION_OFF if is_off else None
        held = _called(events, replace(part, cause=Cause.NOT_PREEMPTIBLE, task=task, why=why))
        is_unseen, is_going_on = events.lacks_end(span), events.is_going_on(span)
        return AmbiguousPart(held, Ambiguity.CPU_BUSY, owner, lacks_end=is_unseen, is_going_on=is_going_on)

    def _outranks(self, task: TracedTask) -> bool:
        """Whether the scheduler may let it run first; fair tasks take turns."""
        own = self._events.own
        if not is_real_time(own.prio):
            return task.pid != IDLE_PID
        return task.prio <= own.prio


def _called(events: CaseEvents, part: CausePart) -> CausePart:
    if not events.interrupted:
        return part
    return replace(part, function=events.interrupted[0], callers=events.interrupted[1:])
