"""Events as they are recorded, completed from what the others say: when timers were over, and when a timer's
interrupt began and ended that has no event of its own. That is all of them with few events (`--explain-events few`),
and some hypervisors' timers with all. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from howlate.analysis.cpu_spans import HARDIRQ_FLAG
from howlate.analysis.nmis import is_in_nmi
from howlate.model.trace import TraceEvent

TAIL_NS = 5_000
"""So long a timer that is not followed by another event of its interrupt is taken to last, if nothing else comes."""
_OLDEST_NS = 1_000_000
"""A timer whose interrupt began earlier than that is of another clock than the trace."""
_EXPIRES, _OVER = "hrtimer_expire_entry", "hrtimer_expire_exit"
_BEGINS, _ENDS = "local_timer_entry", "local_timer_exit"
_WITHIN_HARD = frozenset(("sched_waking", "sched_migrate_task", "kernel_stack"))
"""What the function of a timer does that expires in an interrupt."""
_AFTER_SOFT = frozenset(("softirq_exit", "sched_switch", "lost"))
"""What ends a timer that expires in a softirq; interrupts may come in its midst."""


def completed(events: Sequence[TraceEvent], recorded: Sequence[str], t0_ns: int) -> list[TraceEvent]:
    """The events with what is missing, in the order of time. Recordings of earlier probes have the ends of timers.
    `recorded`: the kinds that were recorded; empty: all of them."""
    is_told = any(event.kind == _OVER for event in events) if not recorded else _OVER in recorded
    if is_told or (recorded and _EXPIRES not in recorded):
        return list(events)
    found: list[TraceEvent] = []
    for cpu in sorted({event.cpu for event in events}):
        found += _completed([event for event in events if event.cpu == cpu], t0_ns)
    return sorted(found, key=lambda event: event.time_ns)


def is_inferred(event: TraceEvent) -> bool:
    """Whether no event told it: an interrupt's has a vector, and one of the kernel's has a number above 0."""
    return event.kind == _OVER or (event.kind in (_BEGINS, _ENDS) and not event.a)


def _completed(events: Sequence[TraceEvent], t0_ns: int) -> list[TraceEvent]:
    """Of one CPU."""
    completion = _Completion(t0_ns)
    completion.depth = _depth(events)
    for number, event in enumerate(events):
        completion.take(event)
        if event.kind == "lost":
            completion.depth = _depth(events[number + 1 :])
    return completion.ended()


def _depth(events: Sequence[TraceEvent]) -> int:
    """So many recorded interrupts are being handled before the first event: they end without having begun."""
    now = most = 0
    for event in events:
        if event.kind in ("sched_switch", "lost"):
            break
        now += _nesting(event)
        most = min(most, now)
    return -most


def _nesting(event: TraceEvent) -> int:
    """1 at the beginning of a recorded interrupt, -1 at its end, else 0."""
    if event.kind in (_EXPIRES, _OVER) or event.kind.startswith("softirq"):
        return 0
    return event.kind.endswith("_entry") - event.kind.endswith("_exit")


@dataclass
class _Completion:
    """Of one CPU."""

    t0_ns: int
    done: list[TraceEvent] = field(default_factory=list)
    hard: TraceEvent | None = None
    """The last timer that expired in an interrupt, while it is not over."""
    soft: TraceEvent | None = None
    """The last timer that expired in a softirq, while it is not over."""
    depth: int = 0
    """So many recorded interrupts are being handled."""
    is_inferred: bool = False
    """The timer's interrupt has no event of its own."""
    last_ns: int = 0
    """When the last event of that interrupt was."""
    is_woken: bool = False
    """That event was a wake-up: the timer has done what it was for."""

    def take(self, event: TraceEvent) -> None:
        if is_in_nmi(event):  # what it interrupted goes on
            self.done.append(event)
            return
        is_hard = bool(event.flags & HARDIRQ_FLAG)
        nesting = _nesting(event)
        began_ns = self._began(event) if event.kind == _EXPIRES else 0
        if self.is_inferred and (not is_hard or nesting or began_ns > self.last_ns):
            self._end(event.time_ns)
        elif self.hard is not None and event.kind not in _WITHIN_HARD:
            self._over(self.hard, event.time_ns)
            self.hard = None
        if self.soft is not None and (event.kind in _AFTER_SOFT or (event.kind == _EXPIRES and not is_hard)):
            self._over(self.soft, event.time_ns)
            self.soft = None
        if event.kind == _EXPIRES:
            self._expire(event, is_hard, began_ns)
        self.depth = max(0, self.depth + nesting)
        if event.kind != "kernel_stack":
            self.last_ns, self.is_woken = event.time_ns, event.kind == "sched_waking"
        self.done.append(event)

    def ended(self) -> list[TraceEvent]:
        if self.is_inferred:
            self._end(self.last_ns + TAIL_NS)
        return self.done

    def _began(self, event: TraceEvent) -> int:
        """When the interrupt of a timer began: the time by which it judged what had expired."""
        began_ns = event.b - self.t0_ns
        is_plausible = event.time_ns - _OLDEST_NS <= began_ns <= event.time_ns
        return began_ns if is_plausible else event.time_ns

    def _expire(self, event: TraceEvent, is_hard: bool, began_ns: int) -> None:
        if not is_hard:
            self.soft = event
            return
        self.hard = event
        if not self.depth and not self.is_inferred:
            at_ns = max(began_ns, self.done[-1].time_ns) if self.done else began_ns
            self.done.append(replace(event, kind=_BEGINS, time_ns=at_ns, a=0, b=0, c=0))
            self.is_inferred = True

    def _over(self, timer: TraceEvent, at_ns: int) -> None:
        self.done.append(replace(timer, kind=_OVER, time_ns=at_ns, b=0, c=0))

    def _end(self, latest_ns: int) -> None:
        """Of an interrupt that has no event of its own: at its last event, or a little later."""
        end_ns = min(latest_ns, self.last_ns + (0 if self.is_woken else TAIL_NS))
        if self.hard is not None:
            self._over(self.hard, end_ns)
            self.done.append(replace(self.hard, kind=_ENDS, time_ns=end_ns, a=0, b=0, c=0))
            self.hard = None
        self.is_inferred = False
