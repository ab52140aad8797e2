"""Why samples of the lab were late, as a document: for each the parts of its time, and the functions that it
was spent in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.document import sheet as sheets
from howlate.document.document import Document, Item, Section, Texts
from howlate.document.sheet import Sheet
from howlate.replay.lateness import Function, Lateness
from howlate.why.replayed.explained import Explained
from howlate.why.replayed.pair import LatenessPair
from howlate.why.replayed.pair_document import pair_json, pair_section
from howlate.why.replayed.parts import UNIT, parts_sheet
from howlate.words.language import _
from howlate.words.statement import rule

SCHEMA = 1
MOST_FUNCTIONS = 10
_MOST_CALLERS = 5

SAMPLE = rule(
    "why.sample",
    "{cell}, release {release} of {activations}: {latency_ns:time} late, played again with the same samples. "
    "Instructions executed from the release to the time stamp: {instructions:count}.",
)
HALTED_FOR = rule("why.halted-for", "The CPU was halted for {halted_ns:time} of it.")


def document(found: Sequence[Explained], pair: LatenessPair | None = None) -> Document:
    """The comparison if there is one, then a section for each sample, the worst first."""
    first = () if pair is None else (pair_section(pair),)
    return Document((*first, *(_section(each, number) for number, each in enumerate(found))))


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


def functions_sheet(lateness: Lateness, key: str = "functions", most: int = MOST_FUNCTIONS) -> Sheet:
    """The functions that executed most themselves."""
    functions = lateness.functions[:most]
    places = sheets.labels("place", _("mostly at"), [each.place for each in functions])
    return Sheet(
        key,
        _("Functions"),
        (
            sheets.labels("function", _("function < its callers"), [chain_text(each) for each in functions]),
            *([places] if any(each.place for each in functions) else []),
            sheets.times("self", _("itself [µs]"), [each.self_ns for each in functions], UNIT),
            sheets.times(
                "inclusive", _("with all it called [µs]"), [each.inclusive_ns for each in functions], UNIT
            ),
        ),
        tuple(sheets.Row() for _each in functions),
        kind="why-functions",
    )


def chain_text(function: Function) -> str:
    """A function and its nearest callers, the nearest first."""
    callers = list(function.stack[:-1])[::-1]
    more = ("...",) if len(callers) > _MOST_CALLERS else ()
    return " < ".join((function.name, *callers[:_MOST_CALLERS], *more))


def why_json(found: Sequence[Explained], pair: LatenessPair | None = None) -> dict[str, Any]:
    """All of it, exactly (docs/lab/why.md)."""
    compared = {} if pair is None else {"comparison": pair_json(pair)}
    return {"schema": SCHEMA, **compared, "samples": [_sample_json(each) for each in found]}


def _sample_json(explained: Explained) -> dict[str, Any]:
    return {
        "cell": explained.cell,
        "labels": dict(explained.labels),
        "thread": explained.thread,
        "release": explained.release,
        **lateness_json(explained.lateness),
    }


def lateness_json(lateness: Lateness) -> dict[str, Any]:
    """One latency: its parts and functions."""
    return {
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
                **_place_json(part.place),
            }
            for part in lateness.parts
        ],
        "functions": [
            {
                "name": each.name,
                "self_ns": each.self_ns,
                "inclusive_ns": each.inclusive_ns,
                "stack": list(each.stack),
                **_place_json(each.place),
            }
            for each in lateness.functions
        ],
    }


def _place_json(place: str) -> dict[str, str]:
    return {"place": place} if place else {}
