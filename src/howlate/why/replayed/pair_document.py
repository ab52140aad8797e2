"""Two kernels' worst samples side by side, as a section of the document of explained samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from howlate.document import sheet as sheets
from howlate.document.document import Section, Texts
from howlate.document.sheet import Column, Row, Sheet
from howlate.replay.lateness import PartKind
from howlate.why.replayed.explained import Explained
from howlate.why.replayed.pair import Both, FunctionPair, LatenessPair
from howlate.why.replayed.parts import PROGRAM, RETURN, SWITCH, UNIT
from howlate.words.language import _
from howlate.words.quantities import NARROW_SPACE
from howlate.words.say import Text, say
from howlate.words.statement import Rule, Statement, rule

MOST_FUNCTIONS = 15
_MOST_ONLY = 6

PAIR = rule("why.pair", "{one}: {one_ns:time} late. {other}: {other_ns:time} late.")
ONLY_IN = rule("why.only-in", "Functions only in {name}: {functions:list}.")
FUNCTION_TOOK = rule("why.function-took", "{function} ({ns:time})")
NONE_ONLY_IN = rule("why.none-only-in", "Every function of {name} is in the other one too.")

IDLE = rule("why.kind-idle", "the CPU was idle")
MASKED = rule("why.kind-masked", "before the interrupt, with interrupts off")
UNTIL_INTERRUPT = rule("why.kind-until-interrupt", "before the interrupt, with interrupts on")
INTERRUPT = rule("why.kind-interrupt", "interrupts")
HELD = rule("why.kind-held", "what was interrupted went on, and was not preempted")
OTHER_TASK = rule("why.kind-other-task", "another task")
SCHEDULER = rule("why.kind-scheduler", "the scheduler")

_KINDS: Mapping[PartKind, Rule] = {
    PartKind.HALTED: IDLE,
    PartKind.MASKED: MASKED,
    PartKind.UNTIL_INTERRUPT: UNTIL_INTERRUPT,
    PartKind.INTERRUPT: INTERRUPT,
    PartKind.HELD: HELD,
    PartKind.OTHER_TASK: OTHER_TASK,
    PartKind.SCHEDULER: SCHEDULER,
    PartKind.SWITCH: SWITCH,
    PartKind.RETURN: RETURN,
    PartKind.PROGRAM: PROGRAM,
}


def pair_section(pair: LatenessPair) -> Section:
    """What is in one sample and not in the other."""
    said = (_sentence(pair), *_only(pair))
    items = (Texts("paragraph", (said,)), kinds_sheet(pair), functions_sheet(pair))
    return Section("why-pair", items, _("Side by side"), "part")


def _sentence(pair: LatenessPair) -> Statement:
    latency = pair.latency
    return PAIR(one=pair.one.name, one_ns=latency.one_ns, other=pair.other.name, other_ns=latency.other_ns)


def _only(pair: LatenessPair) -> tuple[Text, ...]:
    one, other = pair.only
    return (
        _only_in(_kernel(pair.one), [(each.name, each.own.one_ns) for each in one]),
        _only_in(_kernel(pair.other), [(each.name, each.own.other_ns) for each in other]),
    )


def _only_in(name: str, functions: Sequence[tuple[str, int]]) -> Statement:
    if not functions:
        return NONE_ONLY_IN(name=name)
    longest = tuple(FUNCTION_TOOK(function=each, ns=ns) for each, ns in functions[:_MOST_ONLY])
    return ONLY_IN(name=name, functions=longest)


def _kernel(explained: Explained) -> str:
    return explained.labels.get("kernel", explained.name)


def kinds_sheet(pair: LatenessPair) -> Sheet:
    """The time by kinds of parts, and the latencies."""
    kinds = pair.kinds
    texts = [*(say(_KINDS[kind]()) for kind, _both in kinds), _("latency")]
    times = [*(both for _kind, both in kinds), pair.latency]
    return Sheet(
        "why-kinds",
        _("Where the time went"),
        (sheets.labels("what", _("what"), texts), *_columns(pair, "", times)),
        tuple(Row() for _text in texts),
        kind="why-pair",
    )


def functions_sheet(pair: LatenessPair, most: int = MOST_FUNCTIONS) -> Sheet:
    """The functions that differ most, and the sum of the others."""
    functions, rest = pair.functions[:most], pair.functions[most:]
    names = [each.name for each in functions]
    own: list[Both | None] = [each.own for each in functions]
    inclusive: list[Both | None] = [each.inclusive for each in functions]
    if rest:
        names.append(_("all others"))
        own.append(_sum(rest))
        inclusive.append(None)
    return Sheet(
        "why-pair-functions",
        _("Functions, those first that differ most"),
        (
            sheets.labels("function", _("function"), names),
            *_columns(pair, "self", own),
            *_columns(pair, "inclusive", inclusive),
        ),
        tuple(Row() for _name in names),
        kind="why-pair",
    )


def _sum(functions: Sequence[FunctionPair]) -> Both:
    return Both(sum(each.own.one_ns for each in functions), sum(each.own.other_ns for each in functions))


def _columns(pair: LatenessPair, what: str, times: Sequence[Both | None]) -> tuple[Column, ...]:
    """Three: in the one, in the other, the difference."""
    template = {
        "": "{name} [µs]",
        "self": _("{name}: itself [µs]"),
        "inclusive": _("{name}: with all it called [µs]"),
    }[what]
    headings = [template.format(name=name) for name in (_kernel(pair.one), _kernel(pair.other))]
    key = f"{what or 'all'}-"
    one, other, more = zip(*map(_figures, times), strict=True)
    return (
        sheets.numbers(f"{key}one", headings[0], one, UNIT.text, apart=True),
        sheets.numbers(f"{key}other", headings[1], other, UNIT.text),
        sheets.numbers(f"{key}more", _("difference [µs]"), more, _signed),
    )


def _figures(both: Both | None) -> tuple[int | None, int | None, int | None]:
    return (None, None, None) if both is None else (both.one_ns, both.other_ns, both.more_ns)


def _signed(ns: float) -> str:
    return f"{ns / UNIT.size:+,.{UNIT.decimals}f}".replace(",", NARROW_SPACE)


def pair_json(pair: LatenessPair) -> dict[str, Any]:
    """All of it, exactly (docs/lab/why.md)."""
    return {
        "one": {"cell": pair.one.cell, "release": pair.one.release},
        "other": {"cell": pair.other.cell, "release": pair.other.release},
        "latency_ns": _both_json(pair.latency),
        "parts": [{"kind": str(kind), "ns": _both_json(both)} for kind, both in pair.kinds],
        "functions": [
            {"name": each.name, "self_ns": _both_json(each.own), "inclusive_ns": _both_json(each.inclusive)}
            for each in pair.functions
        ],
    }


def _both_json(both: Both) -> dict[str, int]:
    return {"one": both.one_ns, "other": both.other_ns, "difference": both.more_ns}
