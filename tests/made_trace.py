"""Traces made by hand: events of a CPU one after the other, and the case around a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from howlate.analysis.cause import Cause, ExplainedCase, Part
from howlate.analysis.causes import MachineFacts, explain_case
from howlate.model.trace import CellTrace, TraceCase, TracedTask, TraceEvent, TraceNames

OWN = TracedTask(100, "howlate", 19)
LOAD = TracedTask(200, "hackbench", 120)
URGENT = TracedTask(300, "irq/9-acpi", 9)
EQUAL = TracedTask(301, "peer", 19)
IDLE = TracedTask(0, "swapper", 120)
KSOFTIRQD = TracedTask(15, "ksoftirqd/1", 120)
TASKS = {task.pid: task for task in (OWN, LOAD, URGENT, EQUAL, IDLE, KSOFTIRQD)}
HARD, SOFT = 0x08, 0x10
HRTIMER_WAKEUP, TICK = 0x1000, 0x2000
NAMES = TraceNames(
    {task.pid: task.name for task in TASKS.values()},
    {9: "acpi", 11: "arch_timer", 12: "IPI"},
    {HRTIMER_WAKEUP: "hrtimer_wakeup", TICK: "tick_sched_timer"},
    ("Rescheduling interrupts", "Function call interrupts"),
)
RELEASE_NS = 1_000_000
LAB = MachineFacts(is_virtual_time=True, preemption="full")


class MadeTrace:
    """Events in order; each call adds one, at a time since the release."""

    def __init__(self, current: TracedTask = LOAD, cpu: int = 1) -> None:
        self.events: list[TraceEvent] = []
        self.cpu = cpu
        self.current = current

    def add(self, at: int, kind: str, flags: int = 0, preempt: int = 0, **values: int) -> MadeTrace:
        """An event while the current task runs or is interrupted."""
        event = TraceEvent(RELEASE_NS + at, self.cpu, kind, flags, preempt, self.current.pid, **values)
        self.events.append(event)
        return self

    def on(self, cpu: int) -> MadeTrace:
        self.cpu = cpu
        return self

    def switch(self, at: int, to: TracedTask, state: int = 1) -> MadeTrace:
        self.add(at, "sched_switch", 0, 0, a=state, b=self.current.prio, c=to.pid, d=to.prio)
        self.current = to
        return self

    def waking(
        self, at: int, task: TracedTask = OWN, flags: int = HARD, target: int | None = None
    ) -> MadeTrace:
        cpu = self.cpu if target is None else target
        return self.add(at, "sched_waking", flags, 0, a=task.pid, b=task.prio, c=cpu)

    def timer(self, at: int, woken: int, end: int, preempt: int = 0, flags: int = 0) -> MadeTrace:
        """The timer's interrupt from one time to another, in which our task is woken."""
        self.add(at, "local_timer_entry", HARD | flags, preempt, a=236)
        self.add(woken - 1, "hrtimer_expire_entry", HARD | flags, preempt, a=1, c=HRTIMER_WAKEUP)
        self.waking(woken, flags=HARD | flags)
        self.add(woken + 1, "hrtimer_expire_exit", HARD | flags, preempt, a=1)
        return self.add(end, "local_timer_exit", HARD | flags, preempt, a=236)

    def asleep(self, at: int = -100_000, to: TracedTask = LOAD) -> MadeTrace:
        """Our task goes to sleep until its release."""
        self.current = OWN
        return self.switch(at, to)

    def cell(self, latency_ns: int, *, state: int = 0, cost_ns: int = 0, margin: int = 200_000) -> CellTrace:
        case = TraceCase(
            0,
            7,
            RELEASE_NS,
            latency_ns,
            RELEASE_NS - margin,
            RELEASE_NS + latency_ns + margin,
            state,
        )
        events = sorted(self.events, key=lambda event: event.time_ns)
        return CellTrace((case,), tuple(events), {0: OWN}, NAMES, event_cost_ns=cost_ns)

    def explained(self, latency_ns: int, facts: MachineFacts = LAB, cost_ns: int = 0) -> ExplainedCase:
        cell = self.cell(latency_ns, cost_ns=cost_ns)
        return explain_case(cell, cell.cases[0], facts)


def brief(parts: Sequence[Part]) -> list[tuple[Cause, int, int]]:
    """Cause, begin and length of each part."""
    return [(part.cause, part.from_ns, part.ns) for part in parts]


def named(task: TracedTask) -> TracedTask:
    """As an explanation has it."""
    return replace(task)
