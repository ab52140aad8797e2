"""What can be done about a cause: a sentence, and the checks of the doctor that look at it (docs/doctor.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from howlate.doctor import checks_of, knobs_of
from howlate.model.cause import Cause, CausePart
from howlate.model.finding import Finding
from howlate.why.explained_cells import CauseSum, weighty_causes
from howlate.words.statement import Message, message

IRQ_LATE = message(
    "remedy.irq-late",
    "A driver or the kernel ran with interrupts off. Move the driver's work to another CPU, or use a kernel of "
    "PREEMPT_RT.",
)
IRQ_LATE_ON_RT = message(
    "remedy.irq-late-on-rt",
    "A driver or the kernel ran with interrupts off, which PREEMPT_RT allows too. Move the driver's work to another "
    "CPU.",
)
IRQ_LATE_OR_GAP = message(
    "remedy.irq-late-or-gap",
    "Events do not show which of two it was: a driver or the kernel ran with interrupts off, or the hypervisor or "
    "firmware had the CPU (`howlate probe hardware-gap` measures it). Give a virtual CPU a CPU of its own, or move "
    "the driver's work to another CPU.",
)
GAP = message(
    "remedy.gap",
    "The time went below the kernel, to a hypervisor or to firmware (`howlate probe hardware-gap` measures it). Give "
    "a virtual CPU a CPU of its own, or switch off what the firmware does meanwhile.",
)
IDLE = message(
    "remedy.idle",
    "Keep the CPU out of deep idle states: hold 0 in /dev/cpu_dma_latency, as the knob cpu_dma_latency does, or "
    "switch off the deep ones, as c_states does.",
)
IDLE_POLL = message(
    "remedy.idle-poll",
    "No knob changes this: the idle loop itself had interrupts off, or the kernel has no idle states to choose from. "
    "Boot with idle=poll to keep the CPU running while idle; it then takes full power.",
)
TIMER_SLACK = message(
    "remedy.timer-slack", "Use a real-time policy, or a smaller timer slack (prctl PR_SET_TIMERSLACK)."
)
IRQ = message("remedy.irq", "Move the interrupt to another CPU.")
IPI = message(
    "remedy.ipi",
    "Other CPUs interrupt this one, mostly for memory that its tasks share with them. Isolate the CPU.",
)
SOFTIRQ = message(
    "remedy.softirq",
    "Move the device's interrupts to another CPU; on PREEMPT_RT the softirq has a thread with a priority.",
)
NMI = message("remedy.nmi", "Switch off the hard-lockup watchdog, and profilers that sample with NMIs.")
NOT_PREEMPTIBLE = message(
    "remedy.not-preemptible",
    "The kernel went on with another task's system call. Boot with preempt=full, or use a kernel of PREEMPT_RT.",
)
HIGHER_TASK = message(
    "remedy.higher-task",
    "Another task has the same or a higher priority. Raise your task's priority, or move the other away.",
)
THROTTLED = message(
    "remedy.throttled",
    "The kernel kept CPU time for ordinary tasks. Let the real-time tasks sleep before their share is used up, or "
    "lift the limit (kernel.sched_rt_runtime_us; from Linux 6.12 on also the fair server's).",
)
OWN_LATE = message(
    "remedy.own-late",
    "The activation before took longer than a period. Give the task less work, or make the period longer.",
)
BLOCKED = message(
    "remedy.blocked", "The task waited for a lock or for input. Use locks with priority inheritance."
)
STOPPED = message(
    "remedy.stopped",
    "Something stopped the process. Keep signals, debuggers and frozen cgroups away from tasks with deadlines.",
)
PAGE_FAULT = message(
    "remedy.page-fault", "Lock the memory (mlockall), and touch it before the first activation."
)
MIGRATION = message("remedy.migration", "Pin the task to one CPU.")
UNKNOWN = message(
    "remedy.unknown",
    "Record all events (`--set explain-events=all`); where some were lost or overwritten, a larger buffer keeps more "
    "(`--set explain-buffer=...`). See docs/why.md.",
)
PREEMPTIBLE = ("full", "rt")
"""Models that are what NOT_PREEMPTIBLE says to boot."""


@dataclass(frozen=True)
class Remedy:
    """What to do about one cause."""

    text: Message
    checks: frozenset[str] = frozenset()
    """The doctor's."""
    knobs: tuple[str, ...] = ()
    """What the probe can set for a trial (docs/knobs.md)."""


REMEDIES: Mapping[Cause, Message] = {
    Cause.IRQ_LATE: IRQ_LATE,
    Cause.IRQ_LATE_OR_GAP: IRQ_LATE_OR_GAP,
    Cause.GAP: GAP,
    Cause.IDLE: IDLE,
    Cause.TIMER_SLACK: TIMER_SLACK,
    Cause.IRQ: IRQ,
    Cause.IPI: IPI,
    Cause.SOFTIRQ: SOFTIRQ,
    Cause.NMI: NMI,
    Cause.NOT_PREEMPTIBLE: NOT_PREEMPTIBLE,
    Cause.HIGHER_TASK: HIGHER_TASK,
    Cause.THROTTLED: THROTTLED,
    Cause.OWN_LATE: OWN_LATE,
    Cause.BLOCKED: BLOCKED,
    Cause.STOPPED: STOPPED,
    Cause.PAGE_FAULT: PAGE_FAULT,
    Cause.MIGRATION: MIGRATION,
    Cause.UNKNOWN: UNKNOWN,
}
"""The ordinary parts of a wake-up need none."""


def remedy_of(part: CausePart, *, has_idle_states: bool | None, preemption: str = "") -> Remedy | None:
    """What to do about the cause of a part; None where nothing has to be done, or all of it is. `has_idle_states`:
    whether the kernel has any to choose from; None if nobody knows. `preemption`: its model."""
    if part.cause is Cause.NOT_PREEMPTIBLE and preemption in PREEMPTIBLE:
        return None
    if part.cause is Cause.IDLE and (part.state is None or has_idle_states is False):
        return Remedy(IDLE_POLL)
    if part.cause not in REMEDIES:
        return None
    useless = knobs_of(Cause.IDLE) if has_idle_states is False else ()
    knobs = tuple(knob for knob in knobs_of(part.cause) if knob not in useless)
    is_real_time = part.cause is Cause.IRQ_LATE and preemption == "rt"
    text = IRQ_LATE_ON_RT if is_real_time else REMEDIES[part.cause]
    return Remedy(text, checks_of(part.cause), knobs)


def of_sum(cause: CauseSum) -> Remedy | None:
    """On the kernel on which it was the worst."""
    return remedy_of(cause.example, has_idle_states=cause.has_idle_states, preemption=cause.preemption)


def remedies_of(sums: Sequence[CauseSum]) -> list[tuple[CauseSum, Remedy]]:
    """The remedies of the weighty causes, the weightiest first; each once, with the first cause that it is for."""
    found: dict[str, tuple[CauseSum, Remedy]] = {}
    for each in weighty_causes(sums):
        remedy = of_sum(each)
        if remedy is not None:
            found.setdefault(remedy.text.id, (each, remedy))
    return list(found.values())


def findings_for(remedy: Remedy, findings: Iterable[Finding]) -> list[Finding]:
    """What the doctor found in this machine that belongs to it, in the doctor's order."""
    weighty = [each for each in findings if each.level in ("late", "note") and each.change]
    return [each for each in weighty if each.check in remedy.checks]
