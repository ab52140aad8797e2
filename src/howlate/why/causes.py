"""Why a sample was late, from what the kernel recorded around it: parts that follow each other from the release to
the time stamp and add up to the latency exactly. A cause is named only where events show it. Pure.

In steps, each a file: what each CPU did (cpu_spans.py), what became of the measuring task (thread_timeline.py), the
cause of each piece in which both stay the same (pieces.py, with waker.py), what hangs on how long something took
altogether (ambiguous.py), and how long a timer's interrupt is on its way at least (kernel_entry.py)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from howlate.model.cause import Cause, CausePart, ExplainedCase, Why
from howlate.model.trace import NOTHING_KEPT, CellTrace, TraceCase
from howlate.why.ambiguous import decided
from howlate.why.case_events import CaseEvents
from howlate.why.kernel_entry import way_in_ns, with_way_in
from howlate.why.machine_facts import MachineFacts
from howlate.why.pieces import pieces_of
from howlate.why.sparse_events import completed
from howlate.why.tiled import merged, tiled, with_nmis, without_own_cost


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
        """`way_ns`: the cell's (kernel_entry.py). `cost_ns`: of recording an event."""
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
