"""Pieces of a case whose cause decides itself by how long they take altogether. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, Why
from howlate.model.trace import TracedTask, is_real_time
from howlate.why.case_events import CaseEvents
from howlate.why.cpu_spans import nmi_ns

ENTRY_NS = 2_000
"""So long may a timer's interrupt be on its way to the first event of its handler: longer, and something kept it."""
SWITCH_NS = 3_000
"""So long may the scheduler take where the events do not show that something kept the CPU."""
INTERRUPT_END_NS = 3_000
"""So much longer where the events do not show when the timer's interrupt ended."""
IDLE_NS = 20_000
"""So much longer than its exit latency may leaving an idle state take, and the scheduler of a preemptible kernel; the
idle CPU of a guest also waits for a round of its CPUs' turns."""
EVENTLESS_NS = 50_000
"""So long may each of the rest of a wake-up's ordinary way take: the timer's own interrupt, the switch from the idle
task, the move to another CPU, the return to the program. Longer, and something happened that no event shows."""


class Ambiguity(StrEnum):
    """What decides itself by how long it takes altogether."""

    BEFORE_INTERRUPT = "before the interrupt"
    IDLE = "idle"
    CPU_BUSY = "held"
    ORDINARY = "ordinary"
    """Part of the ordinary way, unless it is too long for that."""
    TIMER_IRQ = "timer irq"
    """The same of the timer's own interrupt, which executed instructions all the while if nothing else can have had
    the CPU."""


class AmbiguousPart(Struct, frozen=True):
    """A part whose cause may still be in doubt."""

    part: CausePart
    doubt: Ambiguity | None = None
    owner: tuple[int, int] = (0, 0)
    """What is summed up: the part of the course, and since when the task had the CPU."""
    idle_task: TracedTask | None = None
    """Of IDLE: the idle task of its CPU."""
    is_elsewhere: bool = False
    """Of IDLE: another CPU woke the task, or nothing that was recorded."""
    open_timer: str = ""
    """Of IDLE: the function of a timer that expired as the CPU's last event, and whose end no event shows."""
    lacks_end: bool = False
    """Of CPU_BUSY: the timer's interrupt may still be handled at its beginning."""
    is_going_on: bool = False
    """Of CPU_BUSY: at its beginning what was interrupted woke another task, so it went on."""


def decided(events: CaseEvents, pieces: Iterable[AmbiguousPart]) -> list[CausePart]:
    every = list(pieces)
    sums: Counter[tuple[Ambiguity, tuple[int, int]]] = Counter()
    for piece in every:
        if piece.doubt is not None:
            sums[piece.doubt, piece.owner] += piece.part.ns - nmi_ns(events.nmis, piece.part)
    went_on = {piece.owner for piece in every if piece.is_going_on}
    return [
        piece.part
        if piece.doubt is None
        else _decided(events, piece, sums[piece.doubt, piece.owner], went_on=piece.owner in went_on)
        for piece in every
    ]


def _decided(events: CaseEvents, piece: AmbiguousPart, whole_ns: int, *, went_on: bool) -> CausePart:
    part = piece.part
    if piece.doubt is Ambiguity.CPU_BUSY:
        return _held(events, piece, whole_ns, went_on=went_on)
    if piece.doubt is Ambiguity.IDLE:
        return _idle(events, piece, whole_ns)
    if piece.doubt in (Ambiguity.ORDINARY, Ambiguity.TIMER_IRQ):
        is_executed = piece.doubt is Ambiguity.TIMER_IRQ and events.facts.excludes_gaps
        return (
            part if is_executed or whole_ns <= _limit_ns(events, EVENTLESS_NS) else _eventless(events, part)
        )
    if whole_ns <= _limit_ns(events, ENTRY_NS):
        why = Why.BEFORE_INTERRUPT
        return replace(part, cause=Cause.TIMER_IRQ, name="", task=None, why=why, function="", callers=())
    return part


def _limit_ns(events: CaseEvents, ns: int) -> int:
    """A limit of this machine: in virtual time an instruction may take several ns, and a round of the CPUs' turns may
    come between any two."""
    return ns * events.facts.instruction_ns + events.facts.round_ns


def _eventless(events: CaseEvents, part: CausePart) -> CausePart:
    """Of the ordinary way, and far too long for it. Between the choice of our task and the switch the kernel does
    nothing that takes so long; elsewhere it might."""
    if part.cause in (Cause.SWITCH, Cause.IRQ_END_OR_SWITCH) and not events.facts.excludes_gaps:
        return replace(part, cause=Cause.GAP, why=Why.IN_SWITCH)
    why = Why.IN_TIMER_IRQ if part.cause is Cause.TIMER_IRQ else Why.NO_EVENT
    return replace(part, cause=Cause.UNKNOWN, task=None, name="", why=why)


def _idle(events: CaseEvents, piece: AmbiguousPart, whole_ns: int) -> CausePart:
    """Leaving idle, or what else took longer than that: events that do not show idle states cannot exclude that a
    timer was still being handled, or that interrupts were off."""
    part, facts = piece.part, events.facts
    exits = facts.idle_exit_ns
    exit_ns = exits.get(part.state, 0) if part.state is not None and part.state >= 0 else 0
    if part.state == -1:
        exit_ns = max(exits.values(), default=0)
    if whole_ns <= exit_ns + _limit_ns(events, IDLE_NS):
        return part
    if piece.is_elsewhere:
        return replace(part, cause=Cause.UNKNOWN, why=Why.NOT_WOKEN, state=None)
    if piece.open_timer and facts.excludes_gaps:
        return replace(part, cause=Cause.IRQ, name=piece.open_timer, why=Why.OTHER_TIMER, state=None)
    if facts.excludes_gaps and events.knows_idle:
        return part
    if facts.excludes_gaps or piece.open_timer:
        cause = Cause.IRQ_LATE if facts.excludes_gaps else Cause.IRQ_LATE_OR_GAP
        return replace(part, cause=cause, task=piece.idle_task, state=None)
    return replace(part, cause=Cause.GAP)


def _held(events: CaseEvents, piece: AmbiguousPart, whole_ns: int, *, went_on: bool) -> CausePart:
    """What was interrupted went on: because it could not be preempted, or no longer than a switch takes. Where the
    interrupt's end is not seen, a task that it woke meanwhile shows that it went on, however short that was."""
    part, facts = piece.part, events.facts
    is_preemptible = _is_preemptible(events)
    cause = Cause.IRQ_END_OR_SWITCH if piece.lacks_end else Cause.SWITCH
    switch = replace(part, cause=cause, task=None, why=None, function="", callers=())
    is_shown = bool(part.why) if events.sees_end else went_on and not is_preemptible
    is_shown = is_shown and not facts.round_ns  # where it may have been a turn of another CPU all the while
    if whole_ns <= _switch_ns(events) and not is_shown:
        return switch
    if part.why is not None:
        return part
    if not is_preemptible:
        return replace(part, why=Why.NO_KERNEL_PREEMPTION if facts.preemption else None)
    # there the end of an interrupt is where the kernel preempts
    most_ns = EVENTLESS_NS if facts.excludes_gaps else IDLE_NS
    return switch if whole_ns <= _limit_ns(events, most_ns) else _eventless(events, switch)


def _switch_ns(events: CaseEvents) -> int:
    """So long the scheduler may take, with the recording of its two events."""
    whole_ns = SWITCH_NS + (0 if events.sees_end else INTERRUPT_END_NS)
    return _limit_ns(events, whole_ns) + 2 * events.trace.event_cost_ns


def _is_preemptible(events: CaseEvents) -> bool:
    """Whether the kernel preempts itself for our task: a lazy one does for a real-time task."""
    model = events.facts.preemption
    return model in ("full", "rt") or (model == "lazy" and is_real_time(events.own.prio))
