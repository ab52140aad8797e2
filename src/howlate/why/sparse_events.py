"""Events as they are recorded, completed from what the others say: when a timer's interrupt began and ended that has
no event of its own, and with few events (`--explain-events few`) when timers were over. With few events that is every
timer's interrupt, with all those of some hypervisors (Hyper-V). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from howlate.model.trace import TraceEvent
from howlate.why.cpu_spans import HARDIRQ_FLAG, is_in_nmi

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
_Placed = tuple[int, int, TraceEvent]
"""When, the place among all events at which it came, and what."""


def completed(events: Sequence[TraceEvent], recorded: Sequence[str], t0_ns: int) -> list[TraceEvent]:
    """The events with what is missing, in the order of time. `recorded`: the kinds that were recorded; empty: all."""
    if recorded and _EXPIRES not in recorded:
        return list(events)
    tells_ends = _OVER in recorded or (not recorded and any(event.kind == _OVER for event in events))
    found: list[_Placed] = []
    for cpu in sorted({event.cpu for event in events}):
        placed = [(event.time_ns, place, event) for place, event in enumerate(events) if event.cpu == cpu]
        found += _Completion(placed, t0_ns, tells_ends=tells_ends).completed()
    return [event for _, _, event in sorted(found, key=lambda each: each[:2])]


def is_inferred(event: TraceEvent, recorded: Sequence[str]) -> bool:
    """Whether it was not recorded: the end of a timer, or begin or end of an interrupt, which has no vector then."""
    is_end_of_timer = event.kind == _OVER and _OVER not in recorded
    return is_end_of_timer or (event.kind in (_BEGINS, _ENDS) and not event.a)


def missing_ends(event: TraceEvent) -> bool:
    """Whether an interrupt ends with it that has no event of its own."""
    return event.kind == _ENDS and not event.a


def _nesting(event: TraceEvent) -> int:
    """1 at the beginning of a recorded interrupt, -1 at its end, else 0."""
    if event.kind in (_EXPIRES, _OVER) or event.kind.startswith("softirq"):
        return 0
    return event.kind.endswith("_entry") - event.kind.endswith("_exit")


class _Completion:
    """The events of one CPU."""

    def __init__(self, placed: Sequence[_Placed], t0_ns: int, *, tells_ends: bool) -> None:
        """`placed`: time, place among all events, and event. `tells_ends`: of timers."""
        self._placed, self._t0_ns, self._tells_ends = placed, t0_ns, tells_ends
        self._place = 0
        self._done: list[_Placed] = []
        self._hard: TraceEvent | None = None
        """The last timer that expired in an interrupt, while it is not over."""
        self._soft: TraceEvent | None = None
        """The last timer that expired in a softirq, while it is not over."""
        self._depth = 0
        """The number of recorded interrupts that are being handled."""
        self._opened: TraceEvent | None = None
        """The first timer of an interrupt that has no event of its own, while it is being handled."""
        self._last_ns = 0
        """When the last event of that interrupt was."""
        self._is_finished = False
        """With that event the timer has done what it was for: it woke a task, or was over."""

    def completed(self) -> list[_Placed]:
        self._depth = self._depth_at(0)
        for number, (_, place, event) in enumerate(self._placed):
            self._place = place
            if not is_in_nmi(event):  # what an NMI interrupts goes on
                self._take(event)
            self._done.append((event.time_ns, place, event))
            if event.kind == "lost":
                self._depth = self._depth_at(number + 1)
        if self._opened is not None:
            self._end(self._last_ns + TAIL_NS)
        return self._done

    def _depth_at(self, number: int) -> int:
        """The number of recorded interrupts that are being handled before an event: they end without having begun."""
        now = most = 0
        for _, _, event in islice(self._placed, number, None):
            if event.kind in ("sched_switch", "lost"):
                break
            now += _nesting(event)
            most = min(most, now)
        return -most

    def _take(self, event: TraceEvent) -> None:
        is_hard = bool(event.flags & HARDIRQ_FLAG)
        nesting = _nesting(event)
        if not is_hard and not nesting:
            self._depth = 0  # whatever ends were not told
        began_ns = self._began(event) if event.kind == _EXPIRES else None
        if self._opened is not None and (not is_hard or nesting):
            self._end(event.time_ns)
        elif self._opened is not None and began_ns is not None and began_ns > self._last_ns:
            self._end(began_ns)
        elif event.kind not in _WITHIN_HARD:
            self._end_hard(event.time_ns)
        if (event.kind in _AFTER_SOFT or (event.kind == _EXPIRES and not is_hard)) and self._soft is not None:
            self._end_timer(self._soft, event.time_ns)
            self._soft = None
        if event.kind == _EXPIRES:
            self._expire(event, is_hard=is_hard, began_ns=began_ns)
        self._depth = max(0, self._depth + nesting)
        if event.kind != "kernel_stack":
            self._last_ns, self._is_finished = event.time_ns, event.kind in ("sched_waking", _OVER)

    def _began(self, event: TraceEvent) -> int | None:
        """When the interrupt of a timer began: the time by which it judged what had expired. None if that is of
        another clock."""
        began_ns = event.b - self._t0_ns
        return began_ns if event.time_ns - _OLDEST_NS <= began_ns <= event.time_ns else None

    def _expire(self, event: TraceEvent, *, is_hard: bool, began_ns: int | None) -> None:
        if not is_hard:
            self._soft = event
            return
        self._hard = event
        if not self._depth and self._opened is None:
            at_ns = event.time_ns if began_ns is None else began_ns
            self._add(event, _BEGINS, max(at_ns, self._done[-1][0]) if self._done else at_ns)
            self._opened = event

    def _end_hard(self, at_ns: int) -> None:
        if self._hard is not None:
            self._end_timer(self._hard, at_ns)
            self._hard = None

    def _end_timer(self, timer: TraceEvent, at_ns: int) -> None:
        if not self._tells_ends:
            self._done.append((at_ns, self._place, replace(timer, kind=_OVER, time_ns=at_ns, b=0, c=0)))

    def _end(self, latest_ns: int) -> None:
        """Of an interrupt that has no event of its own: at its last event, or a little later."""
        end_ns = min(latest_ns, self._last_ns + (0 if self._is_finished else TAIL_NS))
        self._end_hard(end_ns)
        if self._opened is not None:
            self._add(self._opened, _ENDS, end_ns)
            self._opened = None

    def _add(self, timer: TraceEvent, kind: str, at_ns: int) -> None:
        self._done.append((at_ns, self._place, replace(timer, kind=kind, time_ns=at_ns, a=0, b=0, c=0)))
