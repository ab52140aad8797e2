"""The parts of a latency as the few lines of a timeline. Short parts that come again and again amid another one
become one line with their count and their sum, the shortest first, until there are few enough. The lines add up
as the parts do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from howlate.replay.lateness import LatePart, Reason

MOST_LINES = 12


class TimedPart(Protocol):
    """What a timeline is made of."""

    @property
    def from_ns(self) -> int: ...

    @property
    def ns(self) -> int: ...


P = TypeVar("P", bound=TimedPart)


@dataclass(frozen=True)
class TimelineLine(Generic[P]):
    """One part of the time, or several of one kind."""

    part: P
    """From where the first began; with the sum of all."""
    count: int
    """So many parts."""
    is_amid: bool = False
    """They came amid those of the line above."""


def timeline(parts: Sequence[LatePart], most: int = MOST_LINES) -> tuple[TimelineLine[LatePart], ...]:
    """Of a latency that was played again in the lab."""
    return lines_of(parts, lambda part: part.kind, _summed, most)


def lines_of(
    parts: Sequence[P],
    kind: Callable[[P], Hashable],
    summed: Callable[[Sequence[P]], P],
    most: int = MOST_LINES,
) -> tuple[TimelineLine[P], ...]:
    """At most so many lines, if joining parts of one kind brings it down to that. `summed`: several parts of one kind
    as one."""
    groups = [_Group(kind(part), [part], part.ns) for part in parts]
    short_ns, whole_ns = 1, sum(part.ns for part in parts)
    while sum(group.lines for group in groups) > most and short_ns < 2 * whole_ns:
        groups = _joined(groups, short_ns)
        short_ns *= 2
    return tuple(line for group in groups for line in _lines(group, summed))


@dataclass
class _Group(Generic[P]):
    """Parts of one kind, and what came amid them."""

    kind: Hashable
    own: list[P]
    ns: int
    """Of all."""
    amid: dict[Hashable, list[P]] = field(default_factory=dict)

    @property
    def lines(self) -> int:
        return 1 + len(self.amid)

    def take(self, other: _Group[P]) -> None:
        self.ns += other.ns
        for kind, parts in ((other.kind, other.own), *other.amid.items()):
            if kind == self.kind:
                self.own += parts
            else:
                self.amid.setdefault(kind, []).extend(parts)


def _joined(groups: Iterable[_Group[P]], short_ns: int) -> list[_Group[P]]:
    """Groups of one kind that are at most so far apart are one, with what is between them."""
    found: list[_Group[P]] = []
    for group in groups:
        place = _nearest(found, group.kind, short_ns)
        if place is None:
            found.append(group)
            continue
        for later in (*found[place + 1 :], group):
            found[place].take(later)
        del found[place + 1 :]
    return found


def _nearest(groups: Sequence[_Group[P]], kind: Hashable, short_ns: int) -> int | None:
    """The last group of a kind, unless more time than that has passed since."""
    passed_ns = 0
    for place in range(len(groups) - 1, -1, -1):
        if groups[place].kind == kind:
            return place
        passed_ns += groups[place].ns
        if passed_ns > short_ns:
            break
    return None


def _lines(group: _Group[P], summed: Callable[[Sequence[P]], P]) -> Iterable[TimelineLine[P]]:
    yield TimelineLine(_one(group.own, summed), len(group.own))
    for parts in group.amid.values():
        yield TimelineLine(_one(parts, summed), len(parts), is_amid=True)


def _one(parts: Sequence[P], summed: Callable[[Sequence[P]], P]) -> P:
    return parts[0] if len(parts) == 1 else summed(parts)


def _summed(parts: Sequence[LatePart]) -> LatePart:
    """One part with the time of all, named after the function in which most of it was spent."""
    by_function: Counter[str] = Counter()
    reasons: Counter[Reason] = Counter()
    for part in parts:
        by_function[part.function] += part.ns
        reasons.update(dict(part.reasons))
    function = by_function.most_common(1)[0][0]
    typical = max((part for part in parts if part.function == function), key=lambda part: part.ns)
    return LatePart(
        typical.kind,
        min(part.from_ns for part in parts),
        sum(part.ns for part in parts),
        function,
        typical.stack,
        typical.entry,
        tuple(reasons.most_common()),
        typical.place,
    )
