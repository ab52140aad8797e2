"""What is said of each cause of late samples: its name, as rtla has it where it knows the cause, and what can be done
about it."""

from __future__ import annotations

from collections.abc import Mapping

from howlate.model.cause import Cause
from howlate.words.printable import quoted
from howlate.words.say import Text
from howlate.words.statement import Caption, Message, message

_WORDS: Mapping[Cause, tuple[Caption, str]] = {
    Cause.IRQ_LATE: (
        Caption("IRQ handler delay"),
        "A driver or the kernel ran with interrupts off. Move the driver's work to another CPU, or use a kernel of "
        "PREEMPT_RT.",
    ),
    Cause.IRQ_LATE_OR_GAP: (
        Caption("IRQ handler delay, or hypervisor or hardware"),
        "Events do not show which of two it was: a driver or the kernel ran with interrupts off, or the hypervisor "
        "or firmware had the CPU (`howlate probe hardware-gap` measures it). Give a virtual CPU a CPU of its own, or "
        "move the driver's work to another CPU.",
    ),
    Cause.IDLE: (
        Caption("exit from idle"),
        "Keep the CPU out of deep idle states: hold 0 in /dev/cpu_dma_latency, as the knob cpu_dma_latency does, or "
        "switch off the deep ones, as c_states does.",
    ),
    Cause.GAP: (
        Caption("hypervisor or hardware"),
        "The time went below the kernel, to a hypervisor or to firmware (`howlate probe hardware-gap` measures it). "
        "Give a virtual CPU a CPU of its own, or switch off what the firmware does meanwhile.",
    ),
    Cause.TIMER_SLACK: (
        Caption("timer slack"),
        "Use a real-time policy, or a smaller timer slack (prctl PR_SET_TIMERSLACK).",
    ),
    Cause.TIMER_IRQ: (Caption("timer IRQ"), ""),
    Cause.IRQ: (
        Caption("IRQ interference"),
        "Move the interrupt to another CPU.",
    ),
    Cause.IPI: (
        Caption("IPI interference"),
        "Other CPUs interrupt this one, mostly for memory that its tasks share with them. Isolate the CPU.",
    ),
    Cause.SOFTIRQ: (
        Caption("softirq interference"),
        "Move the device's interrupts to another CPU; on PREEMPT_RT the softirq has a thread with a priority.",
    ),
    Cause.NMI: (
        Caption("NMI interference"),
        "Switch off the hard-lockup watchdog, and profilers that sample with NMIs.",
    ),
    Cause.NOT_PREEMPTIBLE: (
        Caption("blocking thread"),
        "The kernel continued another task's system call. Boot with preempt=full, or use a kernel of PREEMPT_RT.",
    ),
    Cause.HIGHER_TASK: (
        Caption("thread interference"),
        "Another task has the same or a higher priority. Raise your task's priority, or move the other away.",
    ),
    Cause.THROTTLED: (
        Caption("throttling"),
        "The kernel kept CPU time for ordinary tasks. Let the real-time tasks sleep before their share is used up, "
        "or lift the limit (kernel.sched_rt_runtime_us; from Linux 6.12 on also the fair server's).",
    ),
    Cause.OWN_LATE: (
        Caption("previous activation"),
        "The activation before took longer than a period. Give the task less work, or make the period longer.",
    ),
    Cause.BLOCKED: (
        Caption("blocked"),
        "The task waited for a lock or for input. Use locks with priority inheritance.",
    ),
    Cause.STOPPED: (
        Caption("stopped"),
        "Something stopped the process. Keep signals, debuggers and frozen cgroups away from tasks with deadlines.",
    ),
    Cause.PAGE_FAULT: (
        Caption("page fault"),
        "Lock the memory (mlockall), and touch it before the first activation.",
    ),
    Cause.MIGRATION: (
        Caption("migration"),
        "Pin the task to one CPU.",
    ),
    Cause.SWITCH: (Caption("scheduling"), ""),
    Cause.IRQ_END_OR_SWITCH: (Caption("end of timer IRQ, and scheduling"), ""),
    Cause.RETURN: (Caption("return to user space"), ""),
    Cause.OWN_COST: (Caption("recording"), ""),
    Cause.UNKNOWN: (
        Caption("unknown"),
        "Record all events (`--set explain-events=all`); where some were lost or overwritten, a larger buffer keeps "
        "more (`--set explain-buffer=...`). See docs/why.md.",
    ),
}
"""Name and remedy; the ordinary parts of a wake-up need none."""
NAMES: Mapping[Cause, Caption] = {cause: name for cause, (name, _) in _WORDS.items()}
"""In legends, tables and sentences."""
REMEDIES: Mapping[Cause, Message] = {
    cause: message(f"remedy.{cause}", remedy) for cause, (_, remedy) in _WORDS.items() if remedy
}
IDLE_POLL = message(
    "remedy.idle-poll",
    "No knob changes this: the idle loop itself had interrupts off, or the kernel has no idle states to choose from. "
    "Boot with idle=poll to keep the CPU running while idle; it then takes full power.",
)
PREEMPTION_OFF = message(
    "remedy.preemption-off",
    "The kernel had interrupts or preemption off, for which preempt=full waits too. Use a kernel of PREEMPT_RT.",
)
IRQ_LATE_ON_RT = message(
    "remedy.irq-late-on-rt",
    "A driver or the kernel ran with interrupts off, which PREEMPT_RT allows too. Move the driver's work to another "
    "CPU.",
)
IDLE_LOOP = Caption("idle loop, interrupts off")


def cause_caption(cause: Cause, name: str) -> Text:
    """A cause with what it is about (CausePart.key)."""
    if cause is Cause.IDLE and name:
        return IDLE_LOOP
    return Caption("{cause}: {name}", cause=NAMES[cause], name=quoted(name)) if name else NAMES[cause]
