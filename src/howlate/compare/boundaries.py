"""The rule "overruns" of docs/compare.md: the period below which overruns begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from howlate.compare.topics import Topic
from howlate.model.units import period_ns_of
from howlate.statistics import phrases
from howlate.words.statement import Statement, message

NEVER = message("overruns.never", "{side}: no overrun at any period measured, down to {free_ns:given}.")
ALWAYS = message("overruns.always", "{side}: overruns at every period measured, up to {hit_ns:given}.")
BELOW = message(
    "overruns.below",
    "{side}: overruns begin below a period of {free_ns:given} (none from there on, some at {hit_ns:given}).",
)
UNCLEAR = message(
    "overruns.unclear",
    "{side}: overruns at {hit_ns:given} though none at {free_ns:given}: no period below which they begin.",
)

Begin = Literal["never", "always", "below", "unclear"]


class Boundary(Struct, frozen=True):
    """Where overruns begin among the measured periods."""

    kind: Begin
    free_ns: int
    """The shortest period from which on none had overruns ("below"), the shortest measured ("never"), or for
    "unclear" the shortest without overruns."""
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


def boundaries(topic: Topic) -> list[Statement]:
    """The boundaries of each side, if it has at least two periods; loads with the same kind of boundary are
    merged."""
    statements = []
    for side, name in enumerate(topic.sides):
        counts: dict[str, dict[int, float]] = {}
        for block, row in topic.rows(side):
            period, spread = (period_ns_of(block.labels) or 0), row.spread("overruns")
            if period and spread is not None:
                by_period = counts.setdefault(block.labels.get("load", ""), {})
                by_period[period] = by_period.get(period, 0) + spread.largest
        kinds: dict[Boundary, list[str]] = {}
        for load, by_period in counts.items():
            if len(by_period) > 1:
                kinds.setdefault(boundary(by_period), []).append(load)
        for kind, loads in kinds.items():
            every = len(loads) == len(counts) or not any(loads)
            where = None if every else tuple(phrases.under(load) for load in loads)
            statements.append(_stated(kind, phrases.side_at(name, where)))
    return statements


def _stated(limits: Boundary, side: Statement | str) -> Statement:
    if limits.kind == "never":
        return NEVER(side=side, free_ns=limits.free_ns)
    if limits.kind == "always":
        return ALWAYS(side=side, hit_ns=limits.hit_ns)
    begin = BELOW if limits.kind == "below" else UNCLEAR
    return begin(side=side, free_ns=limits.free_ns, hit_ns=limits.hit_ns)
