"""The parts of a latency as a few lines: repeated short parts of one cause become one line with
their count and their sum, the shortest first, until there are few enough. The lines add up as the parts do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, Why

MOST_LINES = 12


class TimelineLine(Struct, frozen=True):
    """One part, or several of one cause."""

    part: CausePart
    """From where the first began; with the sum of all."""
    count: int
    """The number of parts."""


def timeline(parts: Sequence[CausePart]) -> tuple[TimelineLine, ...]:
    """In the order of their beginnings; at most MOST_LINES, if joining parts of one cause can do that."""
    groups = [_Group(part.cause, {part.cause: [part]}, part.ns) for part in parts]
    short_ns, whole_ns = 1, sum(part.ns for part in parts)
    while sum(len(group.parts) for group in groups) > MOST_LINES and short_ns < 2 * whole_ns:
        groups = _joined(groups, short_ns)
        short_ns *= 2
    lines = [TimelineLine(summed(each), len(each)) for group in groups for each in group.parts.values()]
    return tuple(sorted(lines, key=lambda line: line.part.from_ns))


class _Group(Struct):
    """Parts of one cause, and what came between them."""

    cause: Cause
    parts: dict[Cause, list[CausePart]]
    ns: int
    """The time of all."""

    def take(self, other: _Group) -> None:
        self.ns += other.ns
        for cause, parts in other.parts.items():
            self.parts.setdefault(cause, []).extend(parts)


def _joined(groups: Iterable[_Group], short_ns: int) -> list[_Group]:
    """Groups of one cause that are at most so far apart are one, with what is between them."""
    found: list[_Group] = []
    for group in groups:
        place = _nearest(found, group.cause, short_ns)
        if place is None:
            found.append(group)
            continue
        for later in (*found[place + 1 :], group):
            found[place].take(later)
        del found[place + 1 :]
    return found


def _nearest(groups: Sequence[_Group], cause: Cause, short_ns: int) -> int | None:
    """The last group of a cause, unless more time than that has passed since."""
    passed_ns = 0
    for place in range(len(groups) - 1, -1, -1):
        if groups[place].cause is cause:
            return place
        passed_ns += groups[place].ns
        if passed_ns > short_ns:
            break
    return None


def summed(parts: Sequence[CausePart]) -> CausePart:
    """Several parts of one cause as one, with the name, task and function of those that took most."""
    if len(parts) == 1:
        return parts[0]
    by_key: Counter[tuple[tuple[Cause, str], str]] = Counter()
    reasons: Counter[Why] = Counter()
    for part in parts:
        by_key[part.key, part.function] += part.ns
        reasons.update(dict(part.reasons))
    key = by_key.most_common(1)[0][0]
    typical = max((part for part in parts if (part.key, part.function) == key), key=lambda part: part.ns)
    return replace(
        typical,
        from_ns=min(part.from_ns for part in parts),
        ns=sum(part.ns for part in parts),
        why=reasons.most_common(1)[0][0] if reasons else typical.why,
        reasons=tuple(reasons.most_common()),
    )
