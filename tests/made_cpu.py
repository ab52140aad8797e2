"""A CPU that is simulated: what it does is told to it, one thing after the other, and it writes the events that a
kernel would record of that. So the true division of a sample's time is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from howlate.model.cause import Cause, ExplainedCase
from howlate.model.trace import TracedTask
from howlate.why.case_events import MachineFacts
from made_trace import HARD, HRTIMER_WAKEUP, IDLE, LOAD, OWN, SOFT, TICK, URGENT, MadeTrace

NMI = 0x40
TIMER_VECTOR, RESCHEDULE = 236, 253


class Doing(Struct, frozen=True):
    """Something that takes the CPU for so long, with others that come in its midst."""

    kind: str
    """irq, ipi, softirq, nmi."""
    ns: int
    inside: tuple[Doing, ...] = ()


class SimulatedCpu:
    """Time goes on by what it is told to do; times are since the release. `true`: how long each cause took of what
    has come after it."""

    def __init__(self, begin: int, current: TracedTask) -> None:
        self.made = MadeTrace()
        self.now = begin
        self.true: Counter[Cause] = Counter()
        self.count = 0
        """The preemption count of the task that runs."""
        self._context = 0
        """The flags of what is being handled."""
        self.made.asleep(begin, current)

    def spend(self, cause: Cause, ns: int) -> None:
        from_ns, self.now = max(0, self.now), self.now + ns
        self.true[cause] += max(0, self.now - from_ns)

    def event(self, kind: str, **values: int) -> None:
        self.made.add(self.now, kind, self._context, self.count, **values)

    def does(self, what: Doing) -> None:
        """Handle an interrupt or a softirq, with what comes in it."""
        before = self._context
        cause = {"irq": Cause.IRQ, "ipi": Cause.IPI, "softirq": Cause.SOFTIRQ, "nmi": Cause.NMI}[what.kind]
        if what.kind == "nmi":
            self.spend(cause, what.ns)
            self._context |= NMI | HARD
            self.event("nmi_handler", a=TICK, b=what.ns, c=1)
            self._context = before
            return
        name = {"irq": "irq_handler", "ipi": "reschedule", "softirq": "softirq"}[what.kind]
        self._context |= SOFT if what.kind == "softirq" else HARD
        number = {"irq": 9, "ipi": RESCHEDULE, "softirq": 3}[what.kind]
        # an interrupt's entry has the flags of what it interrupts, and its own
        self.event(f"{name}_entry", a=number)
        self._shared(cause, what)
        self.event(f"{name}_exit", a=number)
        self._context = before

    def _shared(self, cause: Cause, what: Doing) -> None:
        """Its own time before, between and behind what comes in its midst."""
        piece = what.ns // (len(what.inside) + 1)
        for inner in what.inside:
            self.spend(cause, piece)
            self.does(inner)
        self.spend(cause, what.ns - piece * len(what.inside))

    def timer(self, own_ns: int, tick_ns: int, inside: Sequence[Doing]) -> None:
        """The timer's interrupt: perhaps the tick, then our task's timer, which wakes it."""
        before, self._context = self._context, self._context | HARD
        self.event("local_timer_entry", a=TIMER_VECTOR)
        self.spend(Cause.TIMER_IRQ, own_ns)
        if tick_ns:
            self.event("hrtimer_expire_entry", a=2, c=TICK)
            self._shared(Cause.IRQ, Doing("irq", tick_ns, tuple(inside)))
            self.event("hrtimer_expire_exit", a=2)
            self.spend(Cause.TIMER_IRQ, own_ns)
        self.event("hrtimer_expire_entry", a=1, c=HRTIMER_WAKEUP)
        self.spend(Cause.TIMER_IRQ, own_ns)
        self.event("sched_waking", a=OWN.pid, b=OWN.prio, c=self.made.cpu)
        self.spend(Cause.TIMER_IRQ, own_ns)
        self.event("hrtimer_expire_exit", a=1)
        self.spend(Cause.TIMER_IRQ, own_ns)
        self.event("local_timer_exit", a=TIMER_VECTOR)
        self._context = before

    def switch(self, to: TracedTask, state: int = 0) -> None:
        self.made.switch(self.now, to, state)
        self.count = 0

    def leaves_idle(self, ns: int) -> None:
        self.spend(Cause.IDLE, ns)
        self.event("cpu_idle", a=-1, b=self.made.cpu)

    def preempted(self, ns: int, gap: int) -> None:
        """A more urgent task takes the CPU from ours and gives it back."""
        self.spend(Cause.RETURN, gap)
        self.switch(URGENT, 0x100)
        self.spend(Cause.HIGHER_TASK, ns)
        self.switch(OWN, 1)

    def blocked(self, ns: int, waker: str, gap: int) -> None:
        """Our task waits for another one, for a device, or for a timer of its own."""
        self.spend(Cause.RETURN, gap)
        self.switch(LOAD if waker == "task" else IDLE, 2)
        self.spend(Cause.BLOCKED, ns)
        if waker == "task":
            self.event("sched_waking", a=OWN.pid, b=OWN.prio, c=self.made.cpu)
            self.spend(Cause.SWITCH, gap)
        else:
            self._woken_by(waker, gap)
        self.switch(OWN)

    def _woken_by(self, waker: str, gap: int) -> None:
        kind, name = {"irq": (HARD, "irq_handler"), "softirq": (SOFT, "softirq")}[waker]
        before, self._context = self._context, self._context | kind
        self.event(f"{name}_entry", a=4 if waker == "softirq" else 9)
        self.spend(Cause.BLOCKED, gap)
        self.event("sched_waking", a=OWN.pid, b=OWN.prio, c=self.made.cpu)
        self.spend(Cause.IRQ if waker == "irq" else Cause.SOFTIRQ, gap)
        self.event(f"{name}_exit", a=4 if waker == "softirq" else 9)
        self._context = before
        self.spend(Cause.SWITCH, gap)

    def moved(self, ns: int, gap: int) -> None:
        """A more urgent task takes the CPU, and ours is moved to the other CPU, which is idle."""
        self.spend(Cause.RETURN, gap)
        self.switch(URGENT, 0x100)
        self.spend(Cause.HIGHER_TASK, gap)
        other = 1 - self.made.cpu
        self.event("sched_migrate_task", a=OWN.pid, b=OWN.prio, c=self.made.cpu, d=other)
        self.spend(Cause.MIGRATION, ns)
        self.made.current = IDLE
        self.made.on(other)
        self.switch(OWN)

    def faults(self, ns: int) -> None:
        self.event("page_fault_user", a=0x1000, b=2, c=4)
        self.spend(Cause.PAGE_FAULT, ns)

    def explained(self, facts: MachineFacts) -> ExplainedCase:
        """The sample whose time stamp is now."""
        return self.made.explained(self.now, facts)
