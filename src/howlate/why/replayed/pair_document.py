"""Two kernels' worst samples side by side, as a section of the document of explained samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from howlate.document import sheet as sheets
from howlate.document.document import Section, Texts
from howlate.document.sheet import Column, Sheet
from howlate.model.cause import Cause, Function, Lateness
from howlate.why.cause_words import NAMES
from howlate.why.explained_cells import CellCase
from howlate.why.late_parts import UNIT
from howlate.words.language import _
from howlate.words.quantities import NARROW_SPACE, time_text
from howlate.words.say import Text, text_of
from howlate.words.statement import message


class Both(Struct, frozen=True):
    """A time in the one and in the other."""

    one_ns: int
    other_ns: int

    @property
    def more_ns(self) -> int:
        return self.one_ns - self.other_ns


class FunctionPair(Struct, frozen=True):
    """What a function executed in both."""

    name: str
    own: Both
    inclusive: Both


class LatenessPair(Struct, frozen=True):
    """A sample, and another that it is compared with."""

    one: CellCase
    other: CellCase

    @property
    def latency(self) -> Both:
        return Both(self.one.replayed.latency_ns, self.other.replayed.latency_ns)

    @property
    def causes(self) -> tuple[tuple[Cause, Both], ...]:
        """The sum of the parts of each cause that is in either, the largest difference first; they add up to the
        latencies."""
        sums = [(cause, Both(*(_sum_ns(each, cause) for each in self._each))) for cause in Cause]
        both = [(cause, each) for cause, each in sums if each.one_ns or each.other_ns]
        return tuple(sorted(both, key=lambda pair: -abs(pair[1].more_ns)))

    @property
    def functions(self) -> tuple[FunctionPair, ...]:
        """All functions, those first whose own instructions differ most; the own ones add up to the latencies."""
        one, other = ({each.name: each for each in lateness.functions} for lateness in self._each)
        nothing = Function("", 0, 0)
        pairs = (
            _function_pair(name, one.get(name, nothing), other.get(name, nothing))
            for name in {**one, **other}
        )
        return tuple(sorted(pairs, key=lambda each: (-abs(each.own.more_ns), -abs(each.inclusive.more_ns))))

    @property
    def only(self) -> tuple[tuple[FunctionPair, ...], tuple[FunctionPair, ...]]:
        """The functions that are in the one alone, and those in the other alone, the longest first."""
        functions = self.functions
        return (
            tuple(each for each in functions if not each.inclusive.other_ns),
            tuple(each for each in functions if not each.inclusive.one_ns),
        )

    @property
    def _each(self) -> tuple[Lateness, Lateness]:
        return self.one.replayed, self.other.replayed


def _sum_ns(lateness: Lateness, cause: Cause) -> int:
    return sum(part.ns for part in lateness.parts if part.cause is cause)


def _function_pair(name: str, one: Function, other: Function) -> FunctionPair:
    return FunctionPair(name, Both(one.self_ns, other.self_ns), Both(one.inclusive_ns, other.inclusive_ns))


MOST_FUNCTIONS = 15
_MOST_ONLY = 6

PAIR = message("why.pair", "{one}: {one_ns:time} late. {other}: {other_ns:time} late.")
ONLY_IN = message("why.only-in", "Functions only in {name}: {functions:list}.")


def pair_section(pair: LatenessPair) -> Section:
    items = (Texts("paragraph", (pair_said(pair),)), causes_sheet(pair), functions_sheet(pair))
    return Section("why-pair", items, _("Side by side"), "part")


def pair_said(pair: LatenessPair) -> tuple[Text, ...]:
    """How late each was, and which functions one alone has."""
    latency = pair.latency
    both = PAIR(
        one=pair.one.cell.name, one_ns=latency.one_ns, other=pair.other.cell.name, other_ns=latency.other_ns
    )
    return (both, *_only(pair))


def _only(pair: LatenessPair) -> Iterator[Text]:
    one, other = pair.only
    for case, functions in (
        (pair.one, [function_text(each.name, each.own.one_ns) for each in one]),
        (pair.other, [function_text(each.name, each.own.other_ns) for each in other]),
    ):
        yield ONLY_IN(name=_kernel(case), functions=tuple(functions[:_MOST_ONLY] or ["–"]))


def function_text(name: str, ns: int) -> str:
    return f"{name} ({time_text(ns, space=' ')})"


def _kernel(one: CellCase) -> str:
    return one.cell.labels.get("kernel", one.cell.name)


def causes_sheet(pair: LatenessPair, most: int | None = None) -> Sheet:
    causes, rest = pair.causes[:most], pair.causes[len(pair.causes) if most is None else most :]
    texts, times = [text_of(NAMES[cause]) for cause, _both in causes], [both for _cause, both in causes]
    if rest:
        texts.append(_("all others"))
        times.append(
            Both(sum(both.one_ns for _cause, both in rest), sum(both.other_ns for _cause, both in rest))
        )
    texts.append(_("total"))
    times.append(pair.latency)
    return Sheet(
        "why-pair-causes",
        _("Where the time went"),
        (sheets.labels("what", _("what"), texts), *_columns(pair, "", times)),
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
        own.append(Both(sum(each.own.one_ns for each in rest), sum(each.own.other_ns for each in rest)))
        inclusive.append(None)
    return Sheet(
        "why-pair-functions",
        _("Functions, those first that differ most"),
        (
            sheets.labels("function", _("function"), names),
            *_columns(pair, "self", own),
            *_columns(pair, "inclusive", inclusive),
        ),
        kind="why-pair",
    )


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
    """All of it, exactly (docs/why.md)."""
    return {
        "one": _one_json(pair.one),
        "other": _one_json(pair.other),
        "latency_ns": _both_json(pair.latency),
        "causes": [{"cause": str(cause), "ns": _both_json(both)} for cause, both in pair.causes],
        "functions": [
            {"name": each.name, "self_ns": _both_json(each.own), "inclusive_ns": _both_json(each.inclusive)}
            for each in pair.functions
        ],
    }


def _one_json(one: CellCase) -> dict[str, Any]:
    return {"cell": one.cell.id, "thread": one.case.case.thread, "release": one.case.case.release}


def _both_json(both: Both) -> dict[str, int]:
    return {"one": both.one_ns, "other": both.other_ns, "difference": both.more_ns}
