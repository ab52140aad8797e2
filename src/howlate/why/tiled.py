"""Parts that follow each other without a gap: filled up, merged, divided further. Each function keeps their sum."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, Why


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
