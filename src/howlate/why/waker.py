"""What ended a sleep of the measuring task: its timer, or something else that it had waited for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from howlate.model.trace import IDLE_PID, TracedTask
from howlate.why.case_events import CaseEvents, innermost
from howlate.why.cpu_spans import FrameKind, HandlerFrame, Span, is_timer
from howlate.why.thread_timeline import OwnStretch

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
