"""What a CPU did, as far as the kernel's events show it: spans between two events, each with the interrupts, softirqs
and timers that were being handled and the task that ran or was interrupted. Pure.

NMIs stand apart: each handler says at its end how long it took. The kernel counts an NMI as a hard interrupt in an
event's flags, though no interrupt is being handled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.model.cause import CausePart
from howlate.model.trace import UNKNOWN_PRIO, TracedTask, TraceEvent, TraceNames

NMI_FLAG = 0x40
"""Of an event's flags: it was in an NMI; as in the kernel's TRACE_FLAG_NMI."""
_HANDLER = "nmi_handler"


def is_in_nmi(event: TraceEvent) -> bool:
    """Whether an event was in an NMI, so that its other flags are not of what the CPU was executing."""
    return event.kind == _HANDLER or bool(event.flags & NMI_FLAG)


def nmis_of(
    events: Sequence[TraceEvent], names: TraceNames, release_ns: int
) -> list[tuple[int, int, str, int]]:
    """From and to, since the release, the handler and the CPU of each NMI. A handler did not begin before the last
    event of its CPU outside of NMIs, whatever it says."""
    found: list[tuple[int, int, str, int]] = []
    last_ns: dict[int, int] = {}
    for event in events:
        if event.kind == _HANDLER:
            from_ns = max(event.time_ns - event.b, last_ns.get(event.cpu, event.time_ns - event.b))
            to_ns = event.time_ns - release_ns
            found.append((from_ns - release_ns, to_ns, names.function(event.a), event.cpu))
        elif not is_in_nmi(event):
            last_ns[event.cpu] = event.time_ns
    return found


def nmi_ns(nmis: Sequence[tuple[int, int, str]], part: CausePart) -> int:
    to_ns = part.from_ns + part.ns
    return sum(max(0, min(until, to_ns) - max(since, part.from_ns)) for since, until, _name in nmis)


HARDIRQ_FLAG, SOFTIRQ_FLAG, BH_OFF_FLAG = 0x08, 0x10, 0x80
"""Bits of an event's flags, as in the kernel's TRACE_FLAG_*."""
COUNT_MASK = 0x0F
"""The bits of the depth in an event's preemption count; from 5.13 on the other bits count disabled migration."""
_ENTRY, _EXIT = "_entry", "_exit"
_TIMER = "hrtimer_expire"
_IPIS = ("reschedule", "call_function", "call_function_single", "irq_work", "ipi", "reboot")
_TIMER_VECTORS = ("local_timer",)
_IPI_HANDLER = "IPI"
_ANYTIME = -2
"""In the place of the event by which a task got the CPU: whichever that was."""


class FrameKind(StrEnum):
    """What interrupts a task."""

    IRQ = "irq"
    IPI = "ipi"
    TIMER = "timer"
    """One timer that expires, in an interrupt or in a softirq."""
    SOFTIRQ = "softirq"


class HandlerFrame(Struct, frozen=True):
    """One of them, while it is being handled."""

    kind: FrameKind
    name: str
    number: int
    """The index of the event by which it began; negative if it began before the first one."""
    event: str
    """The kind of event without _entry."""

    @property
    def is_hard(self) -> bool:
        """An interrupt, as opposed to a softirq or a timer in one."""
        return self.kind in (FrameKind.IRQ, FrameKind.IPI)


class Span(Struct, frozen=True):
    """What a CPU did between two of its events."""

    from_ns: int
    to_ns: int
    number: int
    """Of the event at its beginning, in the order of all CPUs; -1 before the first."""
    frames: tuple[HandlerFrame, ...]
    """The innermost last."""
    task: TracedTask
    since: int
    """The number of the event by which that task got the CPU; -1 if that was earlier."""
    idle: int | None
    """The idle state that it is in; -1 for an unknown one, None for none."""
    is_known: bool
    """Whether the kernel lost no events here."""
    preempt: int
    """The preemption count of what was interrupted last."""
    flags: int


class _State(Struct):
    """Of one CPU, while its events are read."""

    frames: list[HandlerFrame]
    pid: int
    since: int = -1
    idle: int | None = None
    preempt: int = 0
    flags: int = 0
    below: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Count and flags of what a softirq came in, by the number of its frame."""


def spans_of(
    numbered: Sequence[tuple[int, TraceEvent]],
    names: TraceNames,
    from_ns: int,
    to_ns: int,
    known_prios: Mapping[int, int] | None = None,
) -> list[Span]:
    """The spans of one CPU from one time to another. Events come with their numbers, in order. `known_prios`: of
    tasks whose priority these events do not show."""
    if not numbered:
        return []
    prios = _prios(numbered) | {(pid, _ANYTIME): prio for pid, prio in (known_prios or {}).items()}
    found: list[Span] = []
    for stretch in _stretches(numbered):
        found += _spans(stretch, names, prios, found[-1].to_ns if found else from_ns)
    last = found[-1]
    return [*found[:-1], replace(last, to_ns=max(to_ns, last.from_ns))]


def _stretches(
    numbered: Sequence[tuple[int, TraceEvent]],
) -> Iterator[Sequence[tuple[int, TraceEvent]]]:
    """Divided where events were lost; the first event of the later ones is that which says so."""
    first = 0
    for place, (_number, event) in enumerate(numbered):
        if event.kind == "lost" and place > first:
            yield numbered[first:place]
            first = place
    yield numbered[first:]


def _spans(
    stretch: Sequence[tuple[int, TraceEvent]],
    names: TraceNames,
    prios: Mapping[tuple[int, int], int],
    begin_ns: int,
) -> Iterator[Span]:
    """Of events without a loss among them; up to its last event, whose span is empty."""
    is_after_loss = stretch[0][1].kind == "lost"
    events = stretch[1:] if is_after_loss else stretch
    lost_ns = stretch[0][1].time_ns if is_after_loss else begin_ns
    state = _begun(events, names, stretch[0][1])
    saved: dict[int, list[HandlerFrame]] = {}

    def span(number: int, from_ns: int, to_ns: int, *, is_known: bool = True) -> Span:
        known = prios.get((state.pid, _ANYTIME), UNKNOWN_PRIO)
        prio = prios.get((state.pid, state.since), known)
        task = TracedTask(state.pid, names.task(state.pid), prio)
        return Span(
            from_ns=from_ns,
            to_ns=max(from_ns, to_ns),
            number=number,
            frames=tuple(state.frames),
            task=task,
            since=state.since,
            idle=state.idle,
            is_known=is_known,
            preempt=state.preempt,
            flags=state.flags,
        )

    if is_after_loss:
        yield span(stretch[0][0], begin_ns, lost_ns, is_known=False)
    at_ns = max(begin_ns, lost_ns)
    before = stretch[0][0] if is_after_loss else -1
    for number, event in events:
        yield span(before, at_ns, event.time_ns)
        at_ns = max(at_ns, event.time_ns)
        _apply(state, saved, number, event, names)
        before = number
    yield span(before, at_ns, at_ns)


def _begun(events: Sequence[tuple[int, TraceEvent]], names: TraceNames, first: TraceEvent) -> _State:
    """What the CPU was doing before the first event: what ends without a beginning had begun earlier."""
    state = _State([], events[0][1].pid if events else first.pid)
    opened: list[str] = []
    for number, event in events:
        if event.kind == "sched_switch":
            break
        if event.kind.endswith(_ENTRY):
            opened.append(event.kind.removesuffix(_ENTRY))
        elif event.kind.endswith(_EXIT):
            name = event.kind.removesuffix(_EXIT)
            if name in opened:
                del opened[len(opened) - 1 - opened[::-1].index(name) :]
            else:
                opened.clear()
                state.frames.insert(0, _frame(name, event, -1 - number, names))
    idle = next((event.a for _number, event in events if event.kind == "cpu_idle"), 0)
    state.idle = -1 if idle in (-1, 0xFFFFFFFF) and state.pid == 0 else None
    return state


def _frame(name: str, event: TraceEvent, number: int, names: TraceNames) -> HandlerFrame:
    """What begins with an event NAME_entry, or ends with NAME_exit."""
    if name == _TIMER:
        return HandlerFrame(FrameKind.TIMER, names.function(event.c) if event.c else "", number, name)
    if name == "softirq":
        return HandlerFrame(FrameKind.SOFTIRQ, names.softirq(event.a), number, name)
    if name == "irq_handler":
        called = names.irq(event.a)
        return HandlerFrame(FrameKind.IPI if called == _IPI_HANDLER else FrameKind.IRQ, called, number, name)
    if name == "ipi":
        return HandlerFrame(FrameKind.IPI, names.ipi(event.a), number, name)
    return HandlerFrame(FrameKind.IPI if name in _IPIS else FrameKind.IRQ, name, number, name)


def _apply(
    state: _State, saved: dict[int, list[HandlerFrame]], number: int, event: TraceEvent, names: TraceNames
) -> None:
    """What an event changes."""
    kind = event.kind
    _reconcile(state, number, event)
    if kind == "sched_switch":
        saved[event.pid] = [frame for frame in state.frames if frame.kind is FrameKind.SOFTIRQ]
        state.frames = saved.pop(event.c, [])
        state.pid, state.since, state.idle = event.c, number, None
        state.preempt = state.flags = 0
    elif kind == "cpu_idle":
        state.idle = None if event.a in (-1, 0xFFFFFFFF) else event.a
    elif kind.endswith(_ENTRY):
        frame = _frame(kind.removesuffix(_ENTRY), event, number, names)
        if frame.is_hard and not any(each.is_hard for each in state.frames):
            state.preempt, state.flags = event.preempt & COUNT_MASK, event.flags
        if frame.kind is FrameKind.SOFTIRQ:
            state.below[number] = state.preempt, state.flags
        state.frames.append(frame)
    elif kind.endswith(_EXIT):
        name = kind.removesuffix(_EXIT)
        places = [place for place, frame in enumerate(state.frames) if frame.event == name]
        if places:
            ended = state.frames[places[-1]].number
            state.preempt, state.flags = state.below.pop(ended, (state.preempt, state.flags))
            del state.frames[places[-1] :]


def _reconcile(state: _State, number: int, event: TraceEvent) -> None:
    """Follow what the event's flags say where entries or exits are missing."""
    if event.pid != state.pid and event.kind not in ("lost", "sched_switch"):
        state.pid, state.since, state.frames = event.pid, -1, []
    if event.kind.endswith((_ENTRY, _EXIT)) or event.kind == "kernel_stack" or is_in_nmi(event):
        return
    if event.flags & HARDIRQ_FLAG:
        if not any(frame.is_hard for frame in state.frames):
            state.frames.append(HandlerFrame(FrameKind.IRQ, "", number, "missing"))
    else:
        hard = [place for place, frame in enumerate(state.frames) if frame.event == "missing"]
        if hard or event.kind == "sched_switch":
            del state.frames[_first_hard(state.frames) :]


def _first_hard(frames: Sequence[HandlerFrame]) -> int:
    return next((place for place, frame in enumerate(frames) if frame.is_hard), len(frames))


def _prios(numbered: Sequence[tuple[int, TraceEvent]]) -> dict[tuple[int, int], int]:
    """The priority of each task while it had the CPU, by its pid and the event by which it got it: the highest that
    a switch shows (a task that holds what a more urgent one needs is raised meanwhile)."""
    found: dict[tuple[int, int], int] = {}
    running: tuple[int, int] | None = None
    for number, event in numbered:
        if event.kind != "sched_switch":
            continue
        before = running if running is not None and running[0] == event.pid else (event.pid, -1)
        found[before] = min(found.get(before, UNKNOWN_PRIO), event.b)
        running = (event.c, number)
        found[running] = event.d
    return found


def is_timer(frame: HandlerFrame) -> bool:
    return frame.kind is FrameKind.IRQ and (frame.name in _TIMER_VECTORS or "timer" in frame.name.lower())
