"""Traces made by hand: events of a CPU one after the other, and the case around a release."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, ExplainedCase
from howlate.model.trace import CellTrace, TraceCase, TracedTask, TraceEvent, TraceNames
from howlate.why.case_events import MachineFacts
from howlate.why.causes import explain_cases

OWN = TracedTask(100, "howlate", 19)
LOAD = TracedTask(200, "hackbench", 120)
URGENT = TracedTask(300, "irq/9-acpi", 9)
EQUAL = TracedTask(301, "peer", 19)
PEER = TracedTask(201, "hackbench", 120)
IDLE = TracedTask(0, "swapper", 120)
KSOFTIRQD = TracedTask(15, "ksoftirqd/1", 120)
TASKS = {task.pid: task for task in (OWN, LOAD, PEER, URGENT, EQUAL, IDLE, KSOFTIRQD)}
HARD, SOFT = 0x08, 0x10
HRTIMER_WAKEUP, TICK = 0x1000, 0x2000
STACK = (
    "hrtimer_interrupt",
    "asm_sysvec_apic_timer_interrupt",
    "_raw_spin_unlock_irqrestore",
    "free_pages",
    "sys_munmap",
)
"""Of the timer's interrupt, the innermost function first."""
NAMES = TraceNames(
    {task.pid: task.name for task in TASKS.values()},
    {9: "acpi", 11: "arch_timer", 12: "IPI"},
    {HRTIMER_WAKEUP: "hrtimer_wakeup", TICK: "tick_sched_timer"}
    | {0x3000 + i: name for i, name in enumerate(STACK)},
    ("Rescheduling interrupts", "Function call interrupts"),
)
RELEASE_NS = 1_000_000
LAB = MachineFacts(is_virtual_time=True, preemption="full")
CLOUD = MachineFacts(is_guest=True, preemption="full")
METAL = MachineFacts(is_guest=False, preemption="full", smi=0)
NONE = replace(LAB, preemption="none")
RT = replace(LAB, preemption="rt")
FEW = (
    "sched_switch",
    "sched_waking",
    "irq_handler_entry",
    "irq_handler_exit",
    "softirq_entry",
    "softirq_exit",
    "reschedule_entry",
    "reschedule_exit",
    "hrtimer_expire_entry",
    "page_fault_user",
    "nmi_handler",
    "lost",
)
"""What is recorded with few events."""
NO_ENDS = (*FEW, "local_timer_entry", "local_timer_exit", "cpu_idle")
"""All but what tells when a timer was over."""
ALL = (*NO_ENDS, "hrtimer_expire_exit")
NO_ENDS_ARM64 = (*FEW, "ipi_entry", "ipi_exit", "cpu_idle")
"""There the timer's interrupt is an ordinary one."""


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

    def stack(self, at: int, frames: Sequence[int] = range(0x3000, 0x3000 + len(STACK))) -> MadeTrace:
        """The rows of a stack, three frames each."""
        for first in range(0, len(frames), 3):
            row = [*frames[first : first + 3], 0, 0][:3]
            self.add(at, "kernel_stack", HARD, a=first, b=row[0], c=row[1], d=row[2])
        return self

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
        return CellTrace((case,), tuple(events), {0: OWN}, NAMES, ALL, "all", event_cost_ns=cost_ns)

    def explained(self, latency_ns: int, facts: MachineFacts = LAB, cost_ns: int = 0) -> ExplainedCase:
        cell = self.cell(latency_ns, cost_ns=cost_ns)
        return explain_cases(cell, facts)[0]


def brief(parts: Sequence[CausePart]) -> list[tuple[Cause, int, int]]:
    """Cause, begin and length of each part."""
    return [(part.cause, part.from_ns, part.ns) for part in parts]


def usual(made: MadeTrace) -> MadeTrace:
    """From the wake-up on: the interrupt ends, the task is switched to."""
    return made.timer(500, 900, 1_400).switch(2_000, OWN, 0)


def softirq_after_the_interrupt(made: MadeTrace, flags: int = SOFT) -> MadeTrace:
    made.timer(500, 900, 1_400).add(1_500, "softirq_entry", flags, a=3)
    return made.add(60_000, "softirq_exit", flags, a=3).switch(60_500, OWN, 0)


def held(**given: int) -> MadeTrace:
    return MadeTrace().asleep().timer(500, 900, 1_400, **given).switch(90_000, OWN, 0)


def few(made: MadeTrace, latency_ns: int, facts: MachineFacts = LAB) -> ExplainedCase:
    """Without the events that come in every wake-up; the timer's says when its interrupt began."""
    cell = made.cell(latency_ns)
    events, began = [], 0
    for event in cell.events:
        began = event.time_ns + 300 if event.kind == "local_timer_entry" else began
        if event.kind in FEW:
            is_timer = event.kind == "hrtimer_expire_entry"
            events.append(replace(event, b=began + 5_000) if is_timer else event)
    cell = replace(cell, events=tuple(events), recorded=FEW, detail="few", t0_ns=5_000)
    return explain_cases(cell, facts)[0]


def named(task: TracedTask) -> TracedTask:
    """As an explanation has it."""
    return replace(task)


def late_samples(count: int = 8, cost_ns: int = 40) -> CellTrace:
    """A cell with samples that were late for all kinds of reasons, each with its own events."""
    cells = [_late(number % 6, 60_000 + 9_000 * number).cell(0) for number in range(count)]
    cases: list[TraceCase] = []
    events: list[TraceEvent] = []
    for number, cell in enumerate(cells):
        shift = 10_000_000 * (number + 1)
        stamp = max(event.time_ns for event in cell.events) - RELEASE_NS + 700
        case = TraceCase(
            0, 10 * (number + 1), RELEASE_NS + shift, stamp, 800_000 + shift, 1_200_000 + stamp + shift
        )
        cases.append(case)
        events += [replace(event, time_ns=event.time_ns + shift) for event in cell.events]
    return CellTrace(tuple(cases), tuple(events), {0: OWN}, NAMES, ALL, "all", event_cost_ns=cost_ns)


def _late(kind: int, ns: int) -> MadeTrace:
    """One late sample; its last event is the switch to our task."""
    made = MadeTrace().asleep(to=IDLE if kind == 5 else LOAD)
    if kind == 0:
        return made.timer(ns, ns + 400, ns + 900).switch(ns + 1_500, OWN, 0)
    if kind == 1:
        made.timer(500, 900, 1_400).add(1_500, "softirq_entry", SOFT, a=3)
        return made.add(ns, "softirq_exit", SOFT, a=3).switch(ns + 500, OWN, 0)
    if kind == 2:
        return made.timer(500, 900, 1_400, preempt=1).switch(ns, OWN, 0)
    if kind == 3:
        made.timer(500, 900, 1_400).switch(2_000, URGENT, 0)
        for at in range(4_000, ns, 6_000):
            made.add(at, "irq_handler_entry", HARD, a=9).add(at + 900, "irq_handler_exit", HARD, a=9, b=1)
        return made.switch(ns, OWN, 1)
    if kind == 4:
        made.add(-9_000, "irq_handler_entry", HARD, a=9).add(ns, "irq_handler_exit", HARD, a=9, b=1)
        return made.timer(ns + 200, ns + 500, ns + 900).switch(ns + 1_500, OWN, 0)
    made.add(-90_000, "cpu_idle", a=2, b=1).timer(ns, ns + 400, ns + 900)
    return made.add(ns + 1_000, "cpu_idle", a=-1, b=1).switch(ns + 2_000, OWN, 0)


def explained_samples(count: int = 8) -> tuple[ExplainedCase, ...]:
    """The same, explained, the worst first."""
    trace = late_samples(count)
    return tuple(sorted(explain_cases(trace, LAB), key=lambda each: -each.case.latency_ns))
