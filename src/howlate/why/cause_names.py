"""What the causes of late samples are called: as rtla does, where it knows them."""

from __future__ import annotations

from collections.abc import Mapping

from howlate.model.cause import Cause
from howlate.words.caption import Caption
from howlate.words.say import Text

NAMES: Mapping[Cause, Caption] = {
    Cause.IRQ_LATE: Caption("IRQ handler delay"),
    Cause.IRQ_LATE_OR_GAP: Caption("IRQ handler delay, or hypervisor or hardware"),
    Cause.IDLE: Caption("exit from idle"),
    Cause.GAP: Caption("hypervisor or hardware"),
    Cause.TIMER_SLACK: Caption("timer slack"),
    Cause.TIMER_IRQ: Caption("timer IRQ"),
    Cause.IRQ: Caption("IRQ interference"),
    Cause.IPI: Caption("IPI interference"),
    Cause.SOFTIRQ: Caption("softirq interference"),
    Cause.NMI: Caption("NMI interference"),
    Cause.NOT_PREEMPTIBLE: Caption("blocking thread"),
    Cause.HIGHER_TASK: Caption("thread interference"),
    Cause.THROTTLED: Caption("throttling"),
    Cause.OWN_LATE: Caption("previous activation"),
    Cause.BLOCKED: Caption("blocked"),
    Cause.STOPPED: Caption("stopped"),
    Cause.PAGE_FAULT: Caption("page fault"),
    Cause.MIGRATION: Caption("migration"),
    Cause.SWITCH: Caption("scheduling"),
    Cause.IRQ_END_OR_SWITCH: Caption("end of timer IRQ, and scheduling"),
    Cause.RETURN: Caption("return to user space"),
    Cause.OWN_COST: Caption("recording"),
    Cause.UNKNOWN: Caption("unknown"),
}
"""In legends, tables and sentences."""
IDLE_LOOP = Caption("idle loop, interrupts off")


def cause_caption(cause: Cause, name: str) -> Text:
    """A cause with what it is about (CausePart.key)."""
    if cause is Cause.IDLE and name:
        return IDLE_LOOP
    return Caption("{cause}: {name}", cause=NAMES[cause], name=name) if name else NAMES[cause]
