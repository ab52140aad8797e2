"""The parts of a late sample in words, and as a timeline: those that the kernel's events show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from howlate.document import sheet as sheets
from howlate.document.sheet import Sheet
from howlate.model.cause import Cause, CausePart, ExplainedCase, Why
from howlate.model.trace import RT_PRIOS, STATIC_PRIOS, UNKNOWN_PRIO, TracedTask
from howlate.replay.timeline import TimelineLine, lines_of
from howlate.why.replayed.parts import AMID, UNIT
from howlate.words.language import _
from howlate.words.say import say
from howlate.words.statement import Rule, Statement, rule

MOST_CALLERS = 5
"""So many are shown; JSON has all that were recorded."""

TASK = rule("late.task", "{name} ({pid})")
REAL_TIME_TASK = rule("late.real-time-task", "{name} ({pid}, real-time {priority})")
FAIR_TASK = rule("late.fair-task", "{name} ({pid}, nice {nice})")
DEADLINE_TASK = rule("late.deadline-task", "{name} ({pid}, deadline)")
NOBODY = rule("late.nobody", "something that was not recorded")

IRQ_LATE = rule("late.irq-late", "interrupts were off while {task} ran")
IRQ_LATE_IN_SOFTIRQ = rule("late.irq-late-in-softirq", "interrupts were off in the softirq {name}")
IRQ_LATE_OR_GAP = rule(
    "late.irq-late-or-gap",
    "interrupts were off while {task} ran, or the hypervisor or the hardware had the CPU",
)
IDLE = rule("late.idle", "leaving idle state {state}")
IDLE_UNKNOWN = rule("late.idle-unknown", "leaving an idle state")
IDLE_LOOP = rule("late.idle-loop", "the idle loop, with interrupts off")
GAP = rule(
    "late.gap", "the CPU was idle far longer than leaving its idle state takes: hypervisor or hardware"
)
GAP_IN_SWITCH = rule(
    "late.gap-in-switch", "the scheduler was called, and the hypervisor or the hardware had the CPU meanwhile"
)
TIMER_SLACK = rule(
    "late.timer-slack", "the timer was set later on purpose: the timer slack of ordinary tasks"
)
TIMER_IRQ = rule("late.timer-irq", "the timer's interrupt")
UNTIL_TIMER = rule("late.until-timer", "until the timer's interrupt")
IRQ = rule("late.irq", "the interrupt {name}")
IRQ_UNRECORDED = rule("late.irq-unrecorded", "an interrupt that the events do not identify")
OTHER_TIMER = rule("late.other-timer", "another timer in the interrupt: {name}")
IPI = rule("late.ipi", "the interrupt from another CPU {name}")
SOFTIRQ = rule("late.softirq", "the softirq {name}")
SOFT_TIMER = rule("late.soft-timer", "the timer's softirq {name} had to wait; {task} ran")
NMI = rule("late.nmi", "the NMI {name}")
PREEMPTION_OFF = rule("late.preemption-off", "{task} went on: preemption was off")
NO_KERNEL_PREEMPTION = rule(
    "late.no-kernel-preemption", "{task} went on: the kernel does not preempt itself there"
)
NOT_PREEMPTED = rule("late.not-preempted", "{task} went on and was not preempted")
IN_FUNCTION = rule("late.in-function", "{what} (the timer interrupted {function})")
HIGHER_TASK = rule("late.higher-task", "{task} ran instead")
THROTTLED = rule(
    "late.throttled", "{task} ran though ours could have: real-time throttling, or the fair server"
)
OWN_LATE = rule("late.own-late", "the measuring task was still busy with its previous activation")
BLOCKED = rule("late.blocked", "the measuring task waited for something else, until {task} woke it")
BLOCKED_UNTIL = rule(
    "late.blocked-until",
    "the measuring task waited for something else, until the interrupt, softirq or timer {name} woke it",
)
STOPPED = rule("late.stopped", "the measuring task was stopped")
PAGE_FAULT = rule("late.page-fault", "a page fault of the measuring task")
MIGRATION = rule("late.migration", "the measuring task was moved to another CPU")
SWITCH = rule("late.switch", "the scheduler, until it switches to the task")
IRQ_END_OR_SWITCH = rule(
    "late.irq-end-or-switch",
    "the end of the timer's interrupt, and the scheduler, until it switches to the task",
)
RETURN = rule("late.return", "from the switch to the time stamp")
OWN_COST = rule("late.own-cost", "recording these events")
UNKNOWN = rule("late.unknown", "unknown: no event tells")
UNKNOWN_LOST = rule("late.unknown-lost", "unknown: the kernel lost events")
UNKNOWN_OVERWRITTEN = rule("late.unknown-overwritten", "unknown: no events were kept")
UNKNOWN_EVENTLESS = rule(
    "late.unknown-eventless",
    "unknown: far longer than the ordinary way of a wake-up takes, and no event tells why",
)
UNKNOWN_TIMER_IRQ = rule(
    "late.unknown-timer-irq",
    "unknown: the timer's interrupt took far longer than usual, or the hypervisor or the hardware had the CPU in it",
)
UNKNOWN_WAKE_UP = rule("late.unknown-wake-up", "unknown: what woke the task was not recorded")


def task_statement(task: TracedTask | None) -> Statement:
    """A task with its pid, policy and priority, as far as they are known."""
    if task is None:
        return NOBODY()
    if not task.pid:
        return TASK(name=task.name, pid="idle")
    if task.prio < 0:
        return DEADLINE_TASK(name=task.name, pid=task.pid)
    if task.prio < RT_PRIOS:
        return REAL_TIME_TASK(name=task.name, pid=task.pid, priority=RT_PRIOS - 1 - task.prio)
    if task.prio == UNKNOWN_PRIO:
        return TASK(name=task.name, pid=task.pid)
    return FAIR_TASK(name=task.name, pid=task.pid, nice=task.prio - STATIC_PRIOS)


def _always(made: Rule) -> Callable[[CausePart], Statement]:
    return lambda _part: made()


def _named(made: Rule) -> Callable[[CausePart], Statement]:
    return lambda part: made(name=part.name)


def _of_task(made: Rule) -> Callable[[CausePart], Statement]:
    return lambda part: made(task=task_statement(part.task))


def _idle(part: CausePart) -> Statement:
    if part.state is None:
        return IDLE_LOOP()
    return IDLE(state=part.state) if part.state >= 0 else IDLE_UNKNOWN()


def _irq(part: CausePart) -> Statement:
    if not part.name:
        return IRQ_UNRECORDED()
    return OTHER_TIMER(name=part.name) if part.why is Why.OTHER_TIMER else IRQ(name=part.name)


def _blocked(part: CausePart) -> Statement:
    if part.task is None and part.name:
        return BLOCKED_UNTIL(name=part.name)
    return BLOCKED(task=task_statement(part.task))


_ALWAYS = {
    Cause.GAP: GAP,
    Cause.TIMER_SLACK: TIMER_SLACK,
    Cause.TIMER_IRQ: TIMER_IRQ,
    Cause.OWN_LATE: OWN_LATE,
    Cause.STOPPED: STOPPED,
    Cause.PAGE_FAULT: PAGE_FAULT,
    Cause.MIGRATION: MIGRATION,
    Cause.SWITCH: SWITCH,
    Cause.IRQ_END_OR_SWITCH: IRQ_END_OR_SWITCH,
    Cause.RETURN: RETURN,
    Cause.OWN_COST: OWN_COST,
    Cause.UNKNOWN: UNKNOWN,
}
_NAMED = {Cause.IPI: IPI, Cause.SOFTIRQ: SOFTIRQ, Cause.NMI: NMI}
_OF_TASK = {
    Cause.IRQ_LATE: IRQ_LATE,
    Cause.IRQ_LATE_OR_GAP: IRQ_LATE_OR_GAP,
    Cause.NOT_PREEMPTIBLE: NOT_PREEMPTED,
    Cause.HIGHER_TASK: HIGHER_TASK,
    Cause.THROTTLED: THROTTLED,
}
_PARTS: Mapping[Cause, Callable[[CausePart], Statement]] = {
    Cause.IDLE: _idle,
    Cause.BLOCKED: _blocked,
    Cause.IRQ: _irq,
    **{cause: _always(made) for cause, made in _ALWAYS.items()},
    **{cause: _named(made) for cause, made in _NAMED.items()},
    **{cause: _of_task(made) for cause, made in _OF_TASK.items()},
}
_MORE: Mapping[tuple[Cause, Why], Callable[[CausePart], Statement]] = {
    (Cause.IRQ_LATE, Why.IN_SOFTIRQ): _named(IRQ_LATE_IN_SOFTIRQ),
    (Cause.TIMER_IRQ, Why.BEFORE_INTERRUPT): _always(UNTIL_TIMER),
    (Cause.GAP, Why.IN_SWITCH): _always(GAP_IN_SWITCH),
    (Cause.SOFTIRQ, Why.SOFT_TIMER): lambda part: SOFT_TIMER(name=part.name, task=task_statement(part.task)),
    (Cause.NOT_PREEMPTIBLE, Why.PREEMPTION_OFF): _of_task(PREEMPTION_OFF),
    (Cause.NOT_PREEMPTIBLE, Why.NO_KERNEL_PREEMPTION): _of_task(NO_KERNEL_PREEMPTION),
    (Cause.UNKNOWN, Why.LOST): _always(UNKNOWN_LOST),
    (Cause.UNKNOWN, Why.OVERWRITTEN): _always(UNKNOWN_OVERWRITTEN),
    (Cause.UNKNOWN, Why.NO_EVENT): _always(UNKNOWN_EVENTLESS),
    (Cause.UNKNOWN, Why.IN_TIMER_IRQ): _always(UNKNOWN_TIMER_IRQ),
    (Cause.UNKNOWN, Why.NOT_WOKEN): _always(UNKNOWN_WAKE_UP),
}
"""Where the events show more than the cause."""


def part_statement(part: CausePart) -> Statement:
    """What a part of the time went to."""
    more = _MORE.get((part.cause, part.why)) if part.why is not None else None
    told = (more or _PARTS[part.cause])(part)
    return IN_FUNCTION(what=told, function=_chain_text(part)) if part.function else told


def _chain_text(part: CausePart) -> str:
    """The interrupted function and its nearest callers, the nearest first."""
    more = ("...",) if len(part.callers) > MOST_CALLERS else ()
    return " < ".join((part.function, *part.callers[:MOST_CALLERS], *more))


def line_statement(line: TimelineLine[CausePart]) -> Statement:
    """What a line of the timeline went to."""
    told = part_statement(line.part)
    return AMID(what=told) if line.is_amid else told


def summed(parts: Sequence[CausePart]) -> CausePart:
    """Several parts of one cause as one, with the name of those that took most."""
    by_key: Counter[tuple[Cause, str]] = Counter()
    for part in parts:
        by_key[part.key] += part.ns
    key = by_key.most_common(1)[0][0]
    typical = max((part for part in parts if part.key == key), key=lambda part: part.ns)
    return CausePart(
        typical.cause,
        min(part.from_ns for part in parts),
        sum(part.ns for part in parts),
        typical.name,
        typical.task,
        typical.why,
        typical.state,
        typical.function,
        typical.callers,
    )


def parts_sheet(explained: ExplainedCase, key: str = "parts") -> Sheet:
    """The timeline, in few lines."""
    lines = lines_of(explained.parts, lambda part: part.cause, summed)
    counts = sheets.numbers("count", _("times"), [line.count for line in lines])
    return Sheet(
        key,
        _("Where the time went"),
        (
            sheets.labels("what", _("what"), [say(line_statement(line)) for line in lines]),
            *([counts] if any(line.count > 1 for line in lines) else []),
            sheets.times("from", _("from [µs]"), [line.part.from_ns for line in lines], UNIT),
            sheets.times("took", _("took [µs]"), [line.part.ns for line in lines], UNIT),
        ),
        tuple(sheets.Row() for _line in lines),
        kind="late-parts",
    )
