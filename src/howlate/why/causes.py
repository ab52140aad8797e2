"""Why a sample was late, from what the kernel recorded around it: parts that follow each other from the release to
the time stamp and add up to the latency exactly. A cause is named only where events show it. Pure.

In steps: what each CPU did (cpu_spans.py), what became of the measuring task (thread_timeline.py), the cause of
each piece in which both stay the same (pieces.py), what hangs on how long something took altogether (ambiguous.py),
and how long a timer's interrupt is at least on its way to its handler, which is not a time with interrupts off
(`way_in_ns`). What fills up, merges or divides parts further keeps their sum."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, ExplainedCase, Why
from howlate.model.trace import NOTHING_KEPT, CellTrace, TraceCase
from howlate.why.ambiguous import decided
from howlate.why.case_events import CaseEvents, MachineFacts
from howlate.why.pieces import pieces_of
from howlate.why.sparse_events import completed

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


def tiled(parts: Iterable[CausePart], latency_ns: int) -> list[CausePart]:
    """The parts with what is missing from 0 to the latency as unknown."""
    found: list[CausePart] = []
    at_ns = 0
    for part in parts:
        from_ns, to_ns = max(part.from_ns, at_ns), min(part.from_ns + part.ns, latency_ns)
        if from_ns >= to_ns:
            continue
        if from_ns > at_ns:
            found.append(CausePart(Cause.UNKNOWN, at_ns, from_ns - at_ns, why=Why.OVERWRITTEN))
        found.append(replace(part, from_ns=from_ns, ns=to_ns - from_ns))
        at_ns = to_ns
    if at_ns < latency_ns:
        found.append(CausePart(Cause.UNKNOWN, at_ns, latency_ns - at_ns, why=Why.OVERWRITTEN))
    return found


def merged(parts: Iterable[CausePart]) -> list[CausePart]:
    """Neighbours that differ in nothing but their place are one."""
    found: list[CausePart] = []
    for part in parts:
        if found and replace(found[-1], from_ns=part.from_ns, ns=part.ns) == part:
            found[-1] = replace(found[-1], ns=found[-1].ns + part.ns)
        else:
            found.append(part)
    return found


def with_nmis(parts: Iterable[CausePart], nmis: Sequence[tuple[int, int, str]]) -> list[CausePart]:
    """The parts, with NMIs (from, to, handler) in the place of what they interrupted."""
    found = list(parts)
    for from_ns, to_ns, name in nmis:
        found = list(_overlaid(found, from_ns, to_ns, name))
    return found


def _overlaid(parts: Iterable[CausePart], from_ns: int, to_ns: int, name: str) -> Iterator[CausePart]:
    for part in parts:
        end_ns = part.from_ns + part.ns
        first_ns, last_ns = max(part.from_ns, from_ns), min(end_ns, to_ns)
        if first_ns >= last_ns:
            yield part
            continue
        if part.from_ns < first_ns:
            yield replace(part, ns=first_ns - part.from_ns)
        yield CausePart(Cause.NMI, first_ns, last_ns - first_ns, name)
        if last_ns < end_ns:
            yield replace(part, from_ns=last_ns, ns=end_ns - last_ns)


def without_own_cost(
    parts: Iterable[CausePart], times_ns: Sequence[int], cost_ns: int
) -> tuple[CausePart, ...]:
    """The parts, each with what recording its events took as a part of its own behind it; what does not fit in is of
    the next part. `times_ns`: of the events, since the release, in order."""
    found: list[CausePart] = []
    left_ns = 0
    for part in parts:
        end_ns = part.from_ns + part.ns
        many = bisect.bisect_left(times_ns, end_ns) - bisect.bisect_left(times_ns, part.from_ns)
        left_ns += many * cost_ns
        own_ns = min(part.ns, left_ns)
        left_ns -= own_ns
        if own_ns < part.ns:
            found.append(replace(part, ns=part.ns - own_ns))
        if own_ns:
            found.append(CausePart(Cause.OWN_COST, end_ns - own_ns, own_ns))
    return tuple(merged(found))


def explain_cases(trace: CellTrace, facts: MachineFacts) -> tuple[ExplainedCase, ...]:
    divided = [_divided(trace, case, facts) for case in trace.cases]
    way_ns = way_in_ns(each.parts for each in divided)
    return tuple(each.explained(way_ns, trace.event_cost_ns) for each in divided)


class _Divided(Struct, frozen=True):
    """One case, before it is held against the others of its cell. Its events are let go."""

    case: TraceCase
    parts: Sequence[CausePart]
    nmis: Sequence[tuple[int, int, str]] = ()
    times_ns: Sequence[int] = ()
    """Of the events whose recording took time of it, since the release."""

    def explained(self, way_ns: int, cost_ns: int) -> ExplainedCase:
        """`way_ns`: the cell's. `cost_ns`: of recording an event."""
        parts = merged(with_nmis(with_way_in(self.parts, way_ns), self.nmis))
        return ExplainedCase(self.case, without_own_cost(parts, self.times_ns, cost_ns))


def _divided(trace: CellTrace, case: TraceCase, facts: MachineFacts) -> _Divided:
    own = trace.threads.get(case.thread)
    if own is None or case.state & NOTHING_KEPT:
        return _Divided(case, (CausePart(Cause.UNKNOWN, 0, case.latency_ns, why=Why.OVERWRITTEN),))
    recorded = trace.of(case)
    events = CaseEvents(trace, case, completed(recorded, trace.recorded, trace.t0_ns), own, facts)
    parts = tiled(decided(events, pieces_of(events)), case.latency_ns)
    times_ns = [event.time_ns - case.release_ns for event in recorded if events.is_met(event)]
    return _Divided(case, parts, events.nmis, times_ns)
