"""The causes of a late sample, and the parts into which its latency is divided (docs/why.md), whether the kernel's
events show them or a replay in the lab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from howlate.model.trace import TraceCase, TracedTask


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
    """What more is known of a part."""

    INTERRUPTS_OFF = "interrupts off"
    PREEMPTION_OFF = "preemption off"
    """The preemption count of what was interrupted was not 0."""
    NO_KERNEL_PREEMPTION = "no kernel preemption"
    """The kernel gives the CPU up only where it calls the scheduler itself."""
    IN_LOCK = "in a lock"
    """By the chain of calls, where the preemption count was not read (arm64)."""
    UNCOUNTED = "preemption count not read"
    """It may have been anything."""
    IN_PROGRAM = "in a program"
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


NEVER_PREEMPTED = frozenset(
    (Why.INTERRUPTS_OFF, Why.PREEMPTION_OFF, Why.IN_LOCK, Why.IN_SOFTIRQ, Why.IN_SWITCH)
)
"""Then a kernel without PREEMPT_RT keeps the CPU, whatever its mode of preemption."""
OF_DEVICES = "(?!local_timer)"
"""A pattern of interrupts that can be moved to another CPU."""
OF_USERS = "(?!kworker|migration/|watchdog/|irq/|ktimers|ksoftirqd|rcu)"
"""A pattern of tasks that do not belong to the kernel."""


class CausePart(Struct, frozen=True):
    """A part of one cause, between the release and the time stamp."""

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
    """The kernel's function that the timer interrupted, where stacks were recorded; in a replay, the function in
    which most of the time was spent."""
    callers: tuple[str, ...] = ()
    """Of that function, the nearest first."""
    reasons: tuple[tuple[Why, int], ...] = ()
    """Of NOT_PREEMPTIBLE in a replay: the ns of each reason, the most first."""
    place: str = ""
    """The line of source at which most of the time was spent; "" without debug information."""

    @property
    def held_ns(self) -> int:
        """So much of NOT_PREEMPTIBLE was with interrupts or preemption off, as far as that is known."""
        if self.cause is not Cause.NOT_PREEMPTIBLE:
            return 0
        reasons = self.reasons or ((self.why, self.ns),)
        return sum(ns for why, ns in reasons if why in NEVER_PREEMPTED)

    @property
    def key(self) -> tuple[Cause, str]:
        """What parts of one cause have in common over a run."""
        if self.cause is Cause.IDLE and self.state is None:
            return self.cause, IDLE_LOOP
        return self.cause, self.name or (self.task.name if self.task is not None else "")


class Function(Struct, frozen=True):
    """What a function executed in a replayed latency."""

    name: str
    self_ns: int
    inclusive_ns: int
    stack: tuple[str, ...] = ()
    """The chain of calls in which most of its own instructions were executed."""
    place: str = ""
    """The line of source at which most of them were; "" without debug information."""


class Lateness(Struct, frozen=True):
    """One latency, explained by a replay."""

    latency_ns: int
    parts: tuple[CausePart, ...]
    stacks: tuple[tuple[tuple[str, ...], int], ...]
    """Each chain of calls, outermost first, with the ns of its last function's own instructions; in the order
    of their first instruction."""
    spans: tuple[tuple[int, int, tuple[str, ...]], ...]
    """From and to, in ns since the release, and the chain of calls then."""
    instructions: int
    halted_ns: int
    places: Mapping[str, str] = field(default_factory=dict)
    """Lines of source by function."""

    @property
    def functions(self) -> tuple[Function, ...]:
        """All functions, those that executed most first."""
        own: Counter[str] = Counter()
        inclusive: Counter[str] = Counter()
        chains: dict[str, Counter[tuple[str, ...]]] = {}
        for stack, ns in self.stacks:
            own[stack[-1]] += ns
            chains.setdefault(stack[-1], Counter())[stack] += ns
            for name in set(stack):
                inclusive[name] += ns
        return tuple(
            Function(
                name,
                own[name],
                ns,
                chains[name].most_common(1)[0][0] if name in chains else (),
                self.places.get(name, ""),
            )
            for name, ns in sorted(inclusive.items(), key=lambda item: (-own[item[0]], -item[1], item[0]))
        )


class ExplainedCase(Struct, frozen=True):
    """One sample, and where its time went."""

    case: TraceCase
    parts: tuple[CausePart, ...]
    """They follow each other without a gap, and add up to the latency."""
    steal_permille: int | None = None
    """The steal of its CPU in that second; None if unknown."""
    replayed: Lateness | None = None
    """Where the sample was played again; it has the same parts."""

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
