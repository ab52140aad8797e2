"""What the kernel recorded around the worst samples of a cell (docs/stream.md, tables `trace_cases` and
`trace_events`)."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field

OVERWRITTEN, LOSSY, NOTHING_KEPT = 1, 2, 4
"""Bits of a case's state: its beginning was overwritten; the kernel lost events in it; all its events are gone."""
UNKNOWN_PRIO = 1 << 30
IDLE_PID = 0
RT_PRIOS, STATIC_PRIOS = 100, 120
"""The kernel's priorities: below the first real time, from there on fair; the second is nice 0."""
SOFTIRQS = (
    "HI",
    "TIMER",
    "NET_TX",
    "NET_RX",
    "BLOCK",
    "IRQ_POLL",
    "TASKLET",
    "SCHED",
    "HRTIMER",
    "RCU",
)


def is_real_time(prio: int) -> bool:
    return prio < RT_PRIOS


class TraceEvent(Struct, frozen=True):
    """One event. What `a` to `d` are depends on the kind."""

    time_ns: int
    """Since the first release."""
    cpu: int
    kind: str
    flags: int = 0
    preempt: int = 0
    pid: int = 0
    """Of the task that the CPU was executing, or had interrupted."""
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0


class TraceCase(Struct, frozen=True):
    """One sample whose events were kept."""

    thread: int
    release: int
    release_ns: int
    """Since the first release, as all times here."""
    latency_ns: int
    from_ns: int
    to_ns: int
    state: int = 0

    @property
    def stamp_ns(self) -> int:
        """When the program read the clock."""
        return self.release_ns + self.latency_ns


class TracedTask(Struct, frozen=True):
    """A task as the kernel's events have it."""

    pid: int
    name: str = ""
    prio: int = UNKNOWN_PRIO
    """The kernel's: -1 deadline, 0 to 99 real time (99 is the least), from 100 on fair."""


class TraceNames(Struct, frozen=True):
    """What the numbers of events stand for."""

    tasks: Mapping[int, str] = field(default_factory=dict)
    irqs: Mapping[int, str] = field(default_factory=dict)
    functions: Mapping[int, str] = field(default_factory=dict)
    ipis: Sequence[str] = ()

    def task(self, pid: int) -> str:
        return "swapper" if pid == IDLE_PID else self.tasks.get(pid, f"pid {pid}")

    def irq(self, number: int) -> str:
        return self.irqs.get(number, f"irq {number}")

    def function(self, address: int) -> str:
        return self.functions.get(address, hex(address & (1 << 64) - 1))

    def ipi(self, index: int) -> str:
        return self.ipis[index] if 0 <= index < len(self.ipis) else f"IPI {index}"

    @staticmethod
    def softirq(vector: int) -> str:
        return SOFTIRQS[vector] if 0 <= vector < len(SOFTIRQS) else f"softirq {vector}"


class CellTrace(Struct, frozen=True, dict=True):
    """Everything that was recorded of one cell."""

    cases: tuple[TraceCase, ...]
    events: tuple[TraceEvent, ...]
    """Of all CPUs, in the order of time."""
    threads: Mapping[int, TracedTask]
    names: TraceNames = field(default_factory=TraceNames)
    recorded: tuple[str, ...] = ()
    detail: str = ""
    """"few": without idle states and the timers' own interrupts; "all"; "" if nobody knows."""
    absent: tuple[str, ...] = ()
    """The kinds that this kernel does not have."""
    t0_ns: int = 0
    """The first release, by the clock of `hrtimer_expire_entry`."""
    event_cost_ns: int = 0
    """What recording one event takes; 0 if nobody knows."""
    cases_lost: int = 0
    events_lost: int = 0
    events_missed: int = 0
    """Of the whole run, on all CPUs: the same BPF program was running."""
    worst: int | None = None
    """The number of worst samples of each thread that are kept; None if unknown."""
    above_ns: int | None = None
    """Samples above this are kept too; None: none for that."""

    @cached_property
    def prios(self) -> Mapping[int, int]:
        """The last priority of each task that an event shows, for stretches in which none does."""
        found: dict[int, int] = {}
        for event in self.events:
            if event.kind == "sched_switch":
                found |= {event.pid: event.b, event.c: event.d}
            elif event.kind == "sched_waking":
                found[event.a] = event.b
        return found

    @cached_property
    def _times(self) -> list[int]:
        return [event.time_ns for event in self.events]

    def of(self, case: TraceCase) -> tuple[TraceEvent, ...]:
        return self.between(case.from_ns, case.to_ns)

    def between(self, from_ns: int, to_ns: int) -> tuple[TraceEvent, ...]:
        """The events from one time to another, both of them included."""
        first = bisect.bisect_left(self._times, from_ns)
        return self.events[first : bisect.bisect_right(self._times, to_ns)]
