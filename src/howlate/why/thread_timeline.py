"""What became of the measuring task, as far as the kernel's events show it: stretches in which it waited, could run,
ran, or was stopped. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.trace import TraceEvent

_STATE_BITS, _STOPPED_BITS = 0xFF, 0x04 | 0x08
"""The state of a task that gives up the CPU; 0 if it was preempted."""
_FAULTS = ("page_fault_user", "page_fault_kernel")
FAULT_NS = 100_000
"""A task that runs or goes to sleep later than this after its page fault is not in the fault any more: the kernel
asks for the page and gives up the CPU, or clears the page, within tens of microseconds. No event shows the end."""
HUGE_FAULT_NS = 2_000_000
"""So much later where the kernel may have cleared a huge page: 2 MiB at 1 GB/s."""
_HUGE_SHIFT = 21
"""A huge page's addresses have the bits above this in common."""
_ERROR_BITS, _WRITE_TO_ABSENT = 0x03, 0x02
"""Of x86's error code: the page was there; it was a write. The kernel clears the page of a write to an absent one."""


class PageFault(Struct, frozen=True):
    at_ns: int
    until_ns: int
    """When it is over at the latest."""


class OwnState(StrEnum):
    UNKNOWN = "unknown"
    ASLEEP = "asleep"
    STOPPED = "stopped"
    RUNNABLE = "runnable"
    RUNNING = "running"


class OwnStretch(Struct, frozen=True):
    """A time in which its state was one."""

    state: OwnState
    cpu: int
    from_ns: int
    to_ns: int
    number: int
    """The index of the event by which it began; -1 if that was before the first."""
    woken_by: TraceEvent | None = None
    """Of ASLEEP and STOPPED: the event by which it ended."""
    woken_number: int = -1
    queued_number: int = -1
    """Of RUNNABLE: of the event that says that it stands in its CPU's queue; -1 if there is none."""
    is_seen: bool = True
    """Of RUNNABLE: whether its beginning was recorded."""
    is_fault: bool = False
    """Of ASLEEP: it followed a page fault of the task closely."""
    is_migrated: bool = False
    """Of RUNNABLE: the task was moved to this CPU."""
    faults: tuple[PageFault, ...] = ()
    """Of RUNNING: the task's page faults."""


def course_of(
    events: Sequence[TraceEvent], pid: int, from_ns: int, to_ns: int, *, may_clear_huge: bool = False
) -> list[OwnStretch]:
    """All stretches between two times, in order and without a gap. `may_clear_huge`: whether this kernel may clear a
    huge page in a fault whose code is x86's (case_events.py)."""
    huge_pages = _huge_pages(events, pid) if may_clear_huge else frozenset[int]()
    course = _Course(pid, _begun(events, pid, from_ns), huge_pages)
    for number, event in enumerate(events):
        course.take(number, event)
    return course.ended(to_ns)


def _begun(events: Sequence[TraceEvent], pid: int, from_ns: int) -> OwnStretch:
    """The first interval, from the first event that shows what the task had been doing."""
    for event in events:
        if event.kind == "sched_switch" and event.c == pid != event.pid:
            return OwnStretch(OwnState.RUNNABLE, event.cpu, from_ns, from_ns, -1, is_seen=False)
        if event.kind in ("sched_waking", "sched_wakeup") and event.a == pid != event.pid:
            return OwnStretch(OwnState.ASLEEP, event.c, from_ns, from_ns, -1)
        if event.pid == pid:
            return OwnStretch(OwnState.RUNNING, event.cpu, from_ns, from_ns, -1)
    return OwnStretch(OwnState.UNKNOWN, events[0].cpu if events else 0, from_ns, from_ns, -1)


def _huge_pages(events: Sequence[TraceEvent], pid: int) -> frozenset[int]:
    """The places of 2 MiB in which the task had one page fault alone."""
    faults = Counter(event.a >> _HUGE_SHIFT for event in events if event.kind in _FAULTS and event.pid == pid)
    return frozenset(place for place, count in faults.items() if count == 1)


class _Course:
    def __init__(self, pid: int, first: OwnStretch, huge_pages: frozenset[int]) -> None:
        self._pid = pid
        self._huge_pages = huge_pages
        self._now = first
        self._done: list[OwnStretch] = []

    def ended(self, to_ns: int) -> list[OwnStretch]:
        return [*self._done, replace(self._now, to_ns=max(to_ns, self._now.from_ns))]

    def take(self, number: int, event: TraceEvent) -> None:
        """Follow one event. Where the kernel lost some, anything may have become of the task."""
        if event.kind == "lost":
            if event.cpu == self._now.cpu:
                self._begin(OwnState.UNKNOWN, event.cpu, number, event)
            return
        if self._now.state is OwnState.UNKNOWN and event.pid == self._pid and event.kind != "kernel_stack":
            self._begin(OwnState.RUNNING, event.cpu, number, event)
        if event.kind == "sched_switch":
            self._switch(number, event)
        elif event.kind == "sched_waking" and event.a == self._pid:
            self._wake(number, event)
        elif event.kind == "sched_wakeup" and event.a == self._pid:
            self._wake(number, event)
            if self._now.state is OwnState.RUNNABLE:
                self._now = replace(self._now, cpu=event.c, queued_number=number)
        elif event.kind == "sched_migrate_task" and event.a == self._pid:
            self._migrate(number, event)
        elif event.kind in _FAULTS and event.pid == self._pid and self._now.state is OwnState.RUNNING:
            self._now = replace(self._now, faults=(*self._now.faults, self._fault(event)))

    def _fault(self, event: TraceEvent) -> PageFault:
        may_be_huge = event.a >> _HUGE_SHIFT in self._huge_pages
        is_huge = may_be_huge and event.c & _ERROR_BITS == _WRITE_TO_ABSENT
        return PageFault(event.time_ns, event.time_ns + (HUGE_FAULT_NS if is_huge else FAULT_NS))

    def _switch(self, number: int, event: TraceEvent) -> None:
        if event.c == self._pid:
            self._begin(OwnState.RUNNING, event.cpu, number, event)
        elif event.pid == self._pid:
            left = event.a & _STATE_BITS
            if not left:
                self._begin(OwnState.RUNNABLE, event.cpu, number, event, queued_number=number)
            elif left & _STOPPED_BITS:
                self._begin(OwnState.STOPPED, event.cpu, number, event)
            else:
                is_fault = any(event.time_ns - fault.at_ns <= FAULT_NS for fault in self._now.faults[-1:])
                self._begin(OwnState.ASLEEP, event.cpu, number, event, is_fault=is_fault)

    def _wake(self, number: int, event: TraceEvent) -> None:
        """Only of a task that sleeps: another one is called, and goes on."""
        if self._now.state in (OwnState.ASLEEP, OwnState.STOPPED, OwnState.UNKNOWN):
            self._now = replace(self._now, woken_by=event, woken_number=number)
            self._begin(OwnState.RUNNABLE, event.c, number, event)

    def _migrate(self, number: int, event: TraceEvent) -> None:
        """A task that sleeps is moved when it is woken; then its new CPU is what counts."""
        if self._now.state is OwnState.RUNNABLE and event.d != self._now.cpu:
            self._begin(OwnState.RUNNABLE, event.d, number, event, is_migrated=True, queued_number=number)

    def _begin(
        self,
        state: OwnState,
        cpu: int,
        number: int,
        event: TraceEvent,
        *,
        is_fault: bool = False,
        is_migrated: bool = False,
        queued_number: int = -1,
    ) -> None:
        at_ns = max(event.time_ns, self._now.from_ns)
        self._done.append(replace(self._now, to_ns=at_ns))
        self._now = OwnStretch(
            state,
            cpu,
            at_ns,
            at_ns,
            number,
            queued_number=queued_number,
            is_fault=is_fault,
            is_migrated=is_migrated,
        )
