"""What ended a sleep of the measuring task: its timer, or something else that it had waited for. Pure."""

from __future__ import annotations

from enum import StrEnum

from howlate.analysis.case_events import CaseEvents, innermost
from howlate.analysis.own_course import OwnStretch
from howlate.model.trace import IDLE_PID, TracedTask


class Via(StrEnum):
    """What woke the task."""

    INTERRUPT = "interrupt"
    SOFTIRQ = "softirq"
    TASK = "task"
    ELSEWHERE = "elsewhere"
    """Another CPU, or nothing that was recorded."""


def via(events: CaseEvents, stretch: OwnStretch) -> Via:
    """In what the wake-up was that ended a stretch."""
    event = stretch.woken_by
    span = events.span_of(stretch.woken_number)
    if event is None or event.cpu != stretch.cpu or span is None:
        return Via.ELSEWHERE
    if not span.frames:
        return Via.TASK
    is_hard = any(frame.is_hard for frame in innermost(span.frames))
    return Via.INTERRUPT if is_hard else Via.SOFTIRQ


def is_blocked(events: CaseEvents, stretch: OwnStretch) -> bool:
    """Whether the task waited for something else than its release."""
    is_later = stretch.from_ns > events.case.release_ns and events.has_run(stretch)
    return is_later or via(events, stretch) is Via.TASK


def waking_task(events: CaseEvents, stretch: OwnStretch) -> TracedTask | None:
    """The task that ended a stretch, or in which an interrupt did; None for the idle task, and if nobody knows."""
    event, span = stretch.woken_by, events.span_of(stretch.woken_number)
    return None if event is None or event.pid == IDLE_PID or span is None else span.task
