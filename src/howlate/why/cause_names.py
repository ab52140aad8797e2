"""What the causes of late samples are called."""

from __future__ import annotations

from collections.abc import Mapping

from howlate.model.cause import Cause
from howlate.words.caption import Caption
from howlate.words.say import Text

NAMES: Mapping[Cause, Caption] = {
    Cause.IRQ_LATE: Caption("interrupts off"),
    Cause.IRQ_LATE_OR_GAP: Caption("interrupts off, or the hypervisor or hardware"),
    Cause.IDLE: Caption("leaving idle"),
    Cause.GAP: Caption("hypervisor or hardware"),
    Cause.TIMER_SLACK: Caption("timer slack"),
    Cause.TIMER_IRQ: Caption("the timer's interrupt"),
    Cause.IRQ: Caption("interrupt"),
    Cause.IPI: Caption("interrupt from another CPU"),
    Cause.SOFTIRQ: Caption("softirq"),
    Cause.NMI: Caption("NMI"),
    Cause.NOT_PREEMPTIBLE: Caption("not preempted"),
    Cause.HIGHER_TASK: Caption("another task ran"),
    Cause.THROTTLED: Caption("throttled"),
    Cause.OWN_LATE: Caption("own activation before"),
    Cause.BLOCKED: Caption("blocked"),
    Cause.STOPPED: Caption("stopped"),
    Cause.PAGE_FAULT: Caption("page fault"),
    Cause.MIGRATION: Caption("moved to another CPU"),
    Cause.SWITCH: Caption("scheduler"),
    Cause.IRQ_END_OR_SWITCH: Caption("end of the timer's interrupt, and scheduler"),
    Cause.RETURN: Caption("return to the program"),
    Cause.OWN_COST: Caption("recording"),
    Cause.UNKNOWN: Caption("unknown"),
}
"""In legends, tables and sentences."""
_IDLE_LOOP = Caption("idle loop, interrupts off")


def cause_caption(cause: Cause, name: str) -> Text:
    """A cause with what it is about (CausePart.key)."""
    if cause is Cause.IDLE and name:
        return _IDLE_LOOP
    return Caption("{cause}: {name}", cause=NAMES[cause], name=name) if name else NAMES[cause]
