"""The rule "overruns" of docs/compare.md: the period below which overruns begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from howlate.language import _
from howlate.model.units import parse_duration_ns
from howlate.report.compare import Block
from howlate.report.parts import Part, Said, time_of, under

Begin = Literal["never", "always", "below", "unclear"]


@dataclass(frozen=True)
class Boundary:
    """Where overruns begin among the periods that were measured."""

    kind: Begin
    free_ns: int
    """The shortest period from which on none had overruns ("below"), the shortest measured ("never"), of "unclear"
    the shortest without."""
    hit_ns: int
    """The longest period with overruns."""


def boundary(overruns: Mapping[int, float]) -> Boundary:
    """`overruns` by period in ns, at least one. "below": every period with overruns is shorter than every one
    without."""
    hit = [period for period, count in overruns.items() if count > 0]
    free = [period for period, count in overruns.items() if count == 0]
    if not hit:
        return Boundary("never", min(free), 0)
    if not free:
        return Boundary("always", 0, max(hit))
    return Boundary("below" if max(hit) < min(free) else "unclear", min(free), max(hit))


def boundaries(part: Part) -> list[Said]:
    """For each side, from two periods on: loads of one kind of boundary together."""
    out = []
    for side, name in enumerate(part.sides):
        counts: dict[str, dict[int, float]] = {}
        for block, row in part.rows(side):
            period, its = _period(block), row.range("overruns")
            if period and its is not None:
                by_period = counts.setdefault(block.labels.get("load", ""), {})
                by_period[period] = by_period.get(period, 0) + its.largest
        kinds: dict[Boundary, list[str]] = {}
        for load, by_period in counts.items():
            if len(by_period) > 1:
                kinds.setdefault(boundary(by_period), []).append(load)
        said = [f"{_boundary(its)}{_loads(loads, len(counts))}" for its, loads in kinds.items()]
        if said:
            out.append(Said("overruns", _("{sentence}.").format(sentence=f"{name}: {'; '.join(said)}")))
    return out


def _boundary(its: Boundary) -> str:
    if its.kind == "never":
        return _("no overrun at any period measured, down to {free_ns}").format(free_ns=time_of(its.free_ns))
    if its.kind == "always":
        return _("overruns at every period measured, up to {hit_ns}").format(hit_ns=time_of(its.hit_ns))
    if its.kind == "below":
        return _("overruns begin below a period of {free_ns} (none from there on, some at {hit_ns})").format(
            free_ns=time_of(its.free_ns), hit_ns=time_of(its.hit_ns)
        )
    shorter = time_of(its.free_ns)
    return _("overruns at {hit_ns} though none at {shorter}: no period below which they begin").format(
        hit_ns=time_of(its.hit_ns), shorter=shorter
    )


def _loads(loads: Sequence[str], of: int) -> str:
    return "" if of == len(loads) or not any(loads) else f" ({', '.join(under(load) for load in loads)})"


def _period(block: Block) -> int:
    try:
        return parse_duration_ns(block.labels.get("period", ""))
    except ValueError:
        return 0
