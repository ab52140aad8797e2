"""How long a timer's interrupt is on its way to the first event of its handler, not a time in which interrupts
were off. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, Why

_LATE = (Cause.IRQ_LATE, Cause.IRQ_LATE_OR_GAP)


def way_in_ns(cases: Iterable[Sequence[CausePart]]) -> int:
    """The shortest time from a release to the first event of the timer's interrupt, of the samples whose interrupt
    nothing kept; 0 where there is none. How late the timer itself was is part of it."""
    return min(filter(None, map(_own_way_ns, cases)), default=0)


def _own_way_ns(parts: Sequence[CausePart]) -> int:
    """0 where something else came between the release and the interrupt."""
    before = list(takewhile(lambda part: part.why is Why.BEFORE_INTERRUPT, parts))
    came = parts[len(before)] if len(before) < len(parts) else None
    return sum(part.ns for part in before) if came is not None and came.cause is Cause.TIMER_IRQ else 0


def with_way_in(parts: Sequence[CausePart], way_ns: int) -> list[CausePart]:
    """The parts, with the way in right before the handler of an interrupt that was late. They keep their sum."""
    found: list[CausePart] = []
    for place, part in enumerate(parts):
        after = parts[place + 1] if place + 1 < len(parts) else None
        is_late = part.cause in _LATE and after is not None and after.cause is Cause.TIMER_IRQ
        ns = min(way_ns, part.ns) if is_late else 0
        if ns < part.ns:
            found.append(replace(part, ns=part.ns - ns))
        if ns:
            end_ns = part.from_ns + part.ns
            found.append(CausePart(Cause.TIMER_IRQ, end_ns - ns, ns, why=Why.BEFORE_INTERRUPT))
    return found
