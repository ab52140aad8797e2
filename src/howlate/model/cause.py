"""The causes of a late sample, and the parts into which its latency is divided (docs/why.md)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from howlate.model.trace import RT_PRIOS, TraceCase, TracedTask


class Cause(StrEnum):
    """What a part of the time went to."""

    IRQ_LATE = "irq-late"
    """Interrupts were off, so that the timer's could not come."""
    IRQ_LATE_OR_GAP = "irq-late-or-gap"
    """Interrupts were off, or the hypervisor or the hardware had the CPU: the events do not tell which."""
    IDLE = "idle"
    GAP = "gap"
    """The CPU did nothing that the kernel knows of."""
    TIMER_SLACK = "timer-slack"
    """The kernel lets the timers of ordinary tasks expire so much later."""
    TIMER_IRQ = "timer-irq"
    IRQ = "irq"
    IPI = "ipi"
    SOFTIRQ = "softirq"
    NMI = "nmi"
    NOT_PREEMPTIBLE = "not-preemptible"
    HIGHER_TASK = "higher-task"
    THROTTLED = "throttled"
    OWN_LATE = "own-late"
    BLOCKED = "blocked"
    STOPPED = "stopped"
    PAGE_FAULT = "page-fault"
    MIGRATION = "migration"
    SWITCH = "switch"
    IRQ_END_OR_SWITCH = "irq-end-or-switch"
    """The end of the timer's interrupt, and the scheduler: few events do not show where the one becomes the other."""
    RETURN = "return"
    OWN_COST = "own-cost"
    """What recording took."""
    UNKNOWN = "unknown"


ORDINARY = frozenset(
    (Cause.TIMER_IRQ, Cause.IDLE, Cause.SWITCH, Cause.IRQ_END_OR_SWITCH, Cause.RETURN, Cause.OWN_COST)
)
"""The way of every wake-up, late or not."""

IDLE_LOOP = "idle loop"
"""What IDLE has for a name outside of any idle state: other knobs change that, or none."""


class Why(StrEnum):
    """What more the events show of a part."""

    PREEMPTION_OFF = "preemption off"
    """The preemption count of what was interrupted was not 0."""
    NO_KERNEL_PREEMPTION = "no kernel preemption"
    """The kernel gives the CPU up only where it calls the scheduler itself."""
    IN_SOFTIRQ = "in a softirq"
    BEFORE_INTERRUPT = "before its interrupt"
    """The timer had not interrupted yet."""
    OTHER_TIMER = "another timer"
    """Not an interrupt as a whole, but a timer that expired in it."""
    IN_SWITCH = "in a switch"
    """The scheduler had been called."""
    SOFT_TIMER = "soft timer"
    """The timer expires in a softirq, which had to wait."""
    LOST = "events lost"
    OVERWRITTEN = "events overwritten"
    NOT_WOKEN = "wake-up not recorded"
    IN_TIMER_IRQ = "in the timer's interrupt"
    """Far longer than it takes: it executed that long, or the hypervisor or the hardware had the CPU."""
    NO_EVENT = "longer than that takes"
    """It would be part of the ordinary way of a wake-up, but for its length."""


@dataclass(frozen=True)
class CausePart:
    """A stretch of one cause, between the release and the time stamp."""

    cause: Cause
    from_ns: int
    """Since the release."""
    ns: int
    name: str = ""
    """Of the interrupt, IPI, softirq, or the timer's function."""
    task: TracedTask | None = None
    """Who ran, was interrupted, or woke our task at last."""
    why: Why | None = None
    state: int | None = None
    """Of IDLE and GAP: the idle state; -1 for an unknown one, None where the CPU was in none."""
    function: str = ""
    """Of what went on: the kernel's function that the timer interrupted, where stacks were recorded."""
    callers: tuple[str, ...] = ()
    """Of that function, the nearest first."""

    @property
    def key(self) -> tuple[Cause, str]:
        """What parts of one cause have in common over a run."""
        if self.cause is Cause.IDLE and self.state is None:
            return self.cause, IDLE_LOOP
        return self.cause, self.name or (self.task.name if self.task is not None else "")


@dataclass(frozen=True)
class ExplainedCase:
    """One sample, and where its time went."""

    case: TraceCase
    parts: tuple[CausePart, ...]
    """They follow each other without a gap, and add up to the latency."""
    steal_permille: int | None = None
    """Of its CPU in that second; None if nobody knows."""

    @property
    def largest(self) -> CausePart:
        """The longest part of the cause with the most time."""
        sums: Counter[tuple[Cause, str]] = Counter()
        for part in self.parts:
            sums[part.key] += part.ns
        key = sums.most_common(1)[0][0]
        return max((part for part in self.parts if part.key == key), key=lambda part: part.ns)

    def ns_of(self, cause: Cause) -> int:
        return sum(part.ns for part in self.parts if part.cause is cause)


def is_real_time(prio: int) -> bool:
    return prio < RT_PRIOS
