"""Why samples of the lab were late, as a document: for each the parts of its time, and the functions that it
was spent in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from howlate.analysis.explained import Explained
from howlate.analysis.lateness import Function, Lateness, LatePart, PartKind, Reason
from howlate.analysis.timeline import Line, timeline
from howlate.report import sheet as sheets
from howlate.report.document import Document, Item, Section, Texts
from howlate.report.sheet import Sheet
from howlate.report.units import Unit
from howlate.words.language import _
from howlate.words.say import say
from howlate.words.statement import Rule, Statement, rule

SCHEMA = 1
MOST_FUNCTIONS = 10
_UNIT = Unit("us", 1000, 3)
_MOST_CALLERS = 5

SAMPLE = rule(
    "why.sample",
    "{cell}, release {release} of {activations}: {latency_ns:time} late, played again with the same samples. "
    "Instructions executed from the release to the time stamp: {instructions:count}.",
)
HALTED_FOR = rule("why.halted-for", "The CPU was halted for {halted_ns:time} of it.")

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
REASON_PROGRAM = rule("why.reason-program", "a program ({ns:time})")

_REASONS: Mapping[Reason, Rule] = {
    Reason.MASKED: REASON_MASKED,
    Reason.SOFTIRQ: REASON_SOFTIRQ,
    Reason.COUNT: REASON_COUNT,
    Reason.NOT_PREEMPTIBLE: REASON_NOT_PREEMPTIBLE,
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


def line_statement(line: Line) -> Statement:
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


def document(found: Sequence[Explained]) -> Document:
    """A section for each sample, the latest first."""
    return Document(tuple(_section(each, number) for number, each in enumerate(found)))


def _section(explained: Explained, number: int) -> Section:
    lateness = explained.lateness
    told = SAMPLE(
        cell=explained.name,
        release=explained.release,
        activations=explained.activations,
        latency_ns=lateness.latency_ns,
        instructions=lateness.instructions,
    )
    more = [HALTED_FOR(halted_ns=lateness.halted_ns)] if lateness.halted_ns else []
    items: tuple[Item, ...] = (
        Texts("paragraph", ((told, *more),)),
        parts_sheet(lateness, f"parts-{number}"),
        functions_sheet(lateness, f"functions-{number}"),
    )
    return Section(f"why-{number}", items, explained.name, "part")


def parts_sheet(lateness: Lateness, key: str = "parts") -> Sheet:
    """The timeline, in few lines."""
    lines = timeline(lateness.parts)
    parts = [line.part for line in lines]
    counts = sheets.numbers("count", _("times"), [line.count for line in lines])
    return Sheet(
        key,
        _("Where the time went"),
        (
            sheets.labels("what", _("what"), [say(line_statement(line)) for line in lines]),
            *([counts] if any(line.count > 1 for line in lines) else []),
            sheets.times("from", _("from [µs]"), [part.from_ns for part in parts], _UNIT),
            sheets.times("took", _("took [µs]"), [part.ns for part in parts], _UNIT),
        ),
        tuple(sheets.Row() for _line in lines),
    )


def functions_sheet(lateness: Lateness, key: str = "functions", most: int = MOST_FUNCTIONS) -> Sheet:
    """The functions that executed most themselves."""
    functions = lateness.functions[:most]
    return Sheet(
        key,
        _("Functions"),
        (
            sheets.labels("function", _("function < its callers"), [chain_text(each) for each in functions]),
            sheets.times("self", _("itself [µs]"), [each.self_ns for each in functions], _UNIT),
            sheets.times(
                "inclusive", _("with all it called [µs]"), [each.inclusive_ns for each in functions], _UNIT
            ),
        ),
        tuple(sheets.Row() for _each in functions),
    )


def chain_text(function: Function) -> str:
    """A function and its nearest callers, the nearest first."""
    callers = list(function.stack[:-1])[::-1]
    more = ("...",) if len(callers) > _MOST_CALLERS else ()
    return " < ".join((function.name, *callers[:_MOST_CALLERS], *more))


def why_json(found: Sequence[Explained]) -> dict[str, Any]:
    """All of it, exactly (docs/lab/why.md)."""
    return {"schema": SCHEMA, "samples": [_sample_json(each) for each in found]}


def _sample_json(explained: Explained) -> dict[str, Any]:
    lateness = explained.lateness
    return {
        "cell": explained.cell,
        "labels": dict(explained.labels),
        "thread": explained.thread,
        "release": explained.release,
        "latency_ns": lateness.latency_ns,
        "instructions": lateness.instructions,
        "halted_ns": lateness.halted_ns,
        "parts": [
            {
                "kind": str(part.kind),
                "from_ns": part.from_ns,
                "ns": part.ns,
                "function": part.function,
                "entry": part.entry,
                "stack": list(part.stack),
                "reasons": {str(reason): ns for reason, ns in part.reasons},
            }
            for part in lateness.parts
        ],
        "functions": [
            {
                "name": each.name,
                "self_ns": each.self_ns,
                "inclusive_ns": each.inclusive_ns,
                "stack": list(each.stack),
            }
            for each in lateness.functions
        ],
    }
