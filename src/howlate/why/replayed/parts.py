"""The parts of a latency in words, and as a timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from howlate.document import sheet as sheets
from howlate.document.sheet import Sheet
from howlate.document.units import Unit
from howlate.replay.lateness import Lateness, LatePart, PartKind, Reason
from howlate.replay.timeline import TimelineLine, timeline
from howlate.words.language import _
from howlate.words.say import say
from howlate.words.statement import Rule, Statement, rule

UNIT = Unit("us", 1000, 3)
"""To the nanosecond."""

HALTED = rule("why.halted", "the CPU was idle, and the timer had not interrupted it yet")
MASKED = rule("why.masked", "interrupts were off, in {function}")
UNTIL_INTERRUPT = rule("why.until-interrupt", "the timer had not interrupted yet; {function} was executed")
INTERRUPT = rule("why.interrupt", "the interrupt {function}")
HELD = rule("why.held", "{function} went on, and was not preempted: {reasons:list}")
OTHER_TASK = rule("why.other-task", "another task: {function}")
SCHEDULER = rule("why.scheduler", "the scheduler, called by {function}")
SWITCH = rule("why.switch", "the switch to the task")
RETURN = rule("why.return", "from the scheduler back to the program")
PROGRAM = rule("why.program", "the program, until it read the clock")
AMID = rule("why.amid", "amid this: {what}")

REASON_MASKED = rule("why.reason-masked", "interrupts off ({ns:time})")
REASON_SOFTIRQ = rule("why.reason-softirq", "a softirq ({ns:time})")
REASON_COUNT = rule("why.reason-count", "preemption switched off ({ns:time})")
REASON_NOT_PREEMPTIBLE = rule(
    "why.reason-not-preemptible", "the kernel does not preempt itself there ({ns:time})"
)
REASON_LOCK = rule("why.reason-lock", "in a lock, by the chain of calls ({ns:time})")
REASON_UNCOUNTED = rule(
    "why.reason-uncounted", "the reason is not known, for the preemption count was not read ({ns:time})"
)
REASON_PROGRAM = rule("why.reason-program", "a program ({ns:time})")

_REASONS: Mapping[Reason, Rule] = {
    Reason.MASKED: REASON_MASKED,
    Reason.SOFTIRQ: REASON_SOFTIRQ,
    Reason.COUNT: REASON_COUNT,
    Reason.NOT_PREEMPTIBLE: REASON_NOT_PREEMPTIBLE,
    Reason.LOCK: REASON_LOCK,
    Reason.UNCOUNTED: REASON_UNCOUNTED,
    Reason.PROGRAM: REASON_PROGRAM,
}


def _named(rule: Rule) -> Callable[[LatePart], Statement]:
    return lambda part: rule(function=part.function)


_PARTS: Mapping[PartKind, Callable[[LatePart], Statement]] = {
    PartKind.HALTED: lambda _part: HALTED(),
    PartKind.MASKED: _named(MASKED),
    PartKind.UNTIL_INTERRUPT: _named(UNTIL_INTERRUPT),
    PartKind.INTERRUPT: lambda part: INTERRUPT(function=part.entry or part.function),
    PartKind.HELD: lambda part: HELD(
        function=part.function, reasons=tuple(_REASONS[reason](ns=ns) for reason, ns in part.reasons)
    ),
    PartKind.OTHER_TASK: _named(OTHER_TASK),
    PartKind.SCHEDULER: lambda part: SCHEDULER(function=_caller_of_scheduler(part)),
    PartKind.SWITCH: lambda _part: SWITCH(),
    PartKind.RETURN: lambda _part: RETURN(),
    PartKind.PROGRAM: lambda _part: PROGRAM(),
}


def part_statement(part: LatePart) -> Statement:
    """What a part of the time went to."""
    return _PARTS[part.kind](part)


def line_statement(line: TimelineLine[LatePart]) -> Statement:
    """What a line of the timeline went to."""
    told = part_statement(line.part)
    return AMID(what=told) if line.is_amid else told


def _caller_of_scheduler(part: LatePart) -> str:
    """The first function that is not the scheduler's own."""
    above = list(part.stack)
    while above and "schedule" in above[-1]:
        above.pop()
    for place, name in enumerate(part.stack):
        if "schedule" in name and place:
            return part.stack[place - 1]
    return above[-1] if above else part.function


def parts_sheet(lateness: Lateness, key: str = "parts") -> Sheet:
    """The timeline, in few lines."""
    lines = timeline(lateness.parts)
    parts = [line.part for line in lines]
    counts = sheets.numbers("count", _("times"), [line.count for line in lines])
    places = sheets.labels("place", _("mostly at"), [part.place for part in parts])
    return Sheet(
        key,
        _("Where the time went"),
        (
            sheets.labels("what", _("what"), [say(line_statement(line)) for line in lines]),
            *([places] if any(part.place for part in parts) else []),
            *([counts] if any(line.count > 1 for line in lines) else []),
            sheets.times("from", _("from [µs]"), [part.from_ns for part in parts], UNIT),
            sheets.times("took", _("took [µs]"), [part.ns for part in parts], UNIT),
        ),
        tuple(sheets.Row() for _line in lines),
        kind="why-parts",
    )
