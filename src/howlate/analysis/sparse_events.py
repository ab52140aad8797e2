"""Events as they are recorded, completed from what the others say: when timers were over, which no event tells, and
with few events (`--explain-events few`) when the timer's interrupt began and ended. Pure."""

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
INFERRED = frozenset((_OVER, _ENDS))
"""The ends of a timer, and with few events of its interrupt."""


def completed(events: Sequence[TraceEvent], recorded: Sequence[str], t0_ns: int) -> list[TraceEvent]:
    """The events with what is missing, in the order of time. Recordings of earlier probes have the ends of timers."""
    if _OVER in recorded or _EXPIRES not in recorded:
        return list(events)
    found: list[TraceEvent] = []
    for cpu in sorted({event.cpu for event in events}):
        completion = _Completion(_BEGINS in recorded, t0_ns)
        for event in events:
            if event.cpu == cpu:
                completion.take(event)
        found += completion.ended()
    return sorted(found, key=lambda event: event.time_ns)


@dataclass
class _Completion:
    """Of one CPU."""

    has_vectors: bool
    t0_ns: int
    done: list[TraceEvent] = field(default_factory=list)
    timer: TraceEvent | None = None
    """The last one that expired, while it is not over."""
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
        is_vector = event.kind.endswith(("_entry", "_exit")) and event.kind != _EXPIRES
        is_vector = is_vector and not event.kind.startswith("softirq")
        began_ns = self._began(event) if event.kind == _EXPIRES else 0
        if self.is_inferred and (not is_hard or is_vector or began_ns > self.last_ns):
            self._end(event.time_ns)
        elif self.timer is not None and event.kind not in ("sched_waking", "kernel_stack"):
            self._timer_over(self.timer, event.time_ns)
        if event.kind == _EXPIRES:
            self._expire(event, is_hard, began_ns)
        elif is_vector:
            self.depth = max(0, self.depth + (1 if event.kind.endswith("_entry") else -1))
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
        self.timer = event
        if is_hard and not self.depth and not self.has_vectors and not self.is_inferred:
            at_ns = max(began_ns, self.done[-1].time_ns) if self.done else began_ns
            self.done.append(replace(event, kind=_BEGINS, time_ns=at_ns, a=0, b=0, c=0))
            self.is_inferred = True

    def _timer_over(self, timer: TraceEvent, at_ns: int) -> None:
        self.done.append(replace(timer, kind=_OVER, time_ns=at_ns, b=0, c=0))
        self.timer = None

    def _end(self, latest_ns: int) -> None:
        """Of an interrupt that has no event of its own: at its last event, or a little later."""
        end_ns = min(latest_ns, self.last_ns + (0 if self.is_woken else TAIL_NS))
        if self.timer is not None:
            timer = self.timer
            self._timer_over(timer, end_ns)
            self.done.append(replace(timer, kind=_ENDS, time_ns=end_ns, a=0, b=0, c=0))
        self.is_inferred = False
