"""What each number of a report means."""

from __future__ import annotations

from howlate.document.sheet import Sheet, pairs
from howlate.statistics.statistics import STATISTICS
from howlate.words.language import N_, _

MEANING: tuple[tuple[str, str], ...] = (
    (
        N_("Wake-up latency"),
        N_(
            "From the release (the instant at which an activation was due) to the first time "
            "stamp that the awakened task takes in user space. It includes the timer's "
            "interrupt, the kernel's work, the switch to the task and the return to user mode, "
            "the cost of reading the clock, and whatever came between. It does not include the "
            "task's own work."
        ),
    ),
    *((entry.term, entry.meaning) for entry in STATISTICS if entry.term),
    (N_("Period exceeded"), N_("Activations whose latency was greater than the period.")),
    (
        N_("Overruns"),
        N_(
            "Releases that got no activation because an earlier one was served too late (late "
            "policy skip), or that were due and unserved at the end. With late policy backlog, "
            "passed releases are served at once, one by one."
        ),
    ),
    (
        N_("Deadline misses"),
        N_(
            "Releases that were not answered within the deadline that was stated, whether late or never: "
            "activations whose latency (or response time, where the task works) is greater than the deadline, "
            "and overruns. Warm-up is left out."
        ),
    ),
    (
        N_("Dropped"),
        N_(
            "Activations that took place but could not be recorded. They make the statistics of "
            "a row incomplete, except the maximum, which the measuring task keeps itself. "
            "Always: releases = recorded + overruns + dropped."
        ),
    ),
    (
        N_("Load achieved"),
        N_(
            "What a load really got, as a share of the CPUs given to it. A load that stays below "
            "its target disturbs less than its name says."
        ),
    ),
    (
        N_("Invalid"),
        N_(
            "A check failed that these numbers depend on, such as the clock source or the "
            "accounting; the row says which. Its numbers are shown, and left out of the short "
            "answer."
        ),
    ),
)

OF_POINTS: tuple[tuple[str, str], ...] = (
    (
        N_("Spread"),
        N_(
            "The same point was measured several times. Each repetition has one largest latency; "
            "the table gives the smallest, the median and the largest of these, and the median "
            "of the repetitions' medians. Of an even number the median is the mean of the middle "
            "two. Invalid repetitions are left out and counted."
        ),
    ),
)
OF_VIRTUAL_TIME: tuple[tuple[str, str], ...] = (
    (
        N_("Virtual time"),
        N_(
            "One instruction of the guest is one nanosecond, whatever the host does. It compares "
            "the paths through kernels: what can be preempted, how long interrupts stay off, "
            "what a switch costs in instructions. It knows no caches, no real devices, no second "
            "CPU and no firmware: these are not microseconds of your hardware."
        ),
    ),
    (
        N_("Seed"),
        N_(
            "A seed sets where in the kernel's tick the first release lies, and the dither where "
            "there is one; it is the same for all kernels and points. One seed is one case: a "
            "kernel's result is the spread over several."
        ),
    ),
)


def sheet(*, points: bool, virtual: bool) -> Sheet:
    """A row a term. `points`: the report is of repetitions."""
    terms = [*MEANING, *(OF_POINTS if points else ()), *(OF_VIRTUAL_TIME if virtual else ())]
    return pairs("meaning", "", [(_(term), _(text)) for term, text in terms])
