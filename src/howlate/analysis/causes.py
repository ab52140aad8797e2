"""Why a sample was late, from what the kernel recorded around it: parts that follow each other from the release to
the time stamp and add up to the latency exactly. A cause is named only where events show it. Pure.

In steps, each a file: what each CPU did (cpu_spans.py), what became of the measuring task (own_course.py), the cause
of each piece in which both stay the same (pieces.py, with waker.py), what hangs on how long something took
altogether (undecided.py), and how long a timer's interrupt is on its way at least (way_in.py)."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.analysis.case_events import CaseEvents
from howlate.analysis.cause import Cause, CausePart, ExplainedCase, Why
from howlate.analysis.machine_facts import MachineFacts
from howlate.analysis.pieces import pieces_of
from howlate.analysis.sparse_events import completed
from howlate.analysis.tiled import merged, tiled, with_nmis, without_own_cost
from howlate.analysis.undecided import decided
from howlate.analysis.way_in import way_in_ns, with_way_in
from howlate.model.trace import NOTHING_KEPT, CellTrace, TraceCase


def explain_cases(trace: CellTrace, facts: MachineFacts) -> tuple[ExplainedCase, ...]:
    """Those of a cell, in its order."""
    divided = [_Divided(trace, case, facts) for case in trace.cases]
    way_ns = way_in_ns(each.parts for each in divided)
    return tuple(each.explained(way_ns) for each in divided)


class _Divided:
    """One case, before it is held against the others of its cell."""

    def __init__(self, trace: CellTrace, case: TraceCase, facts: MachineFacts) -> None:
        self._trace, self._case = trace, case
        self._events: CaseEvents | None = None
        self.parts: Sequence[CausePart] = (CausePart(Cause.UNKNOWN, 0, case.latency_ns, why=Why.OVERWRITTEN),)
        own = trace.threads.get(case.thread)
        if own is not None and not case.state & NOTHING_KEPT:
            recorded = completed(trace.of(case), trace.recorded, trace.t0_ns)
            self._events = CaseEvents(trace, case, recorded, own, facts)
            self.parts = tiled(decided(self._events, pieces_of(self._events)), case.latency_ns)

    def explained(self, way_ns: int) -> ExplainedCase:
        """`way_ns`: the cell's (way_in.py)."""
        trace, case, events = self._trace, self._case, self._events
        if events is None:
            return ExplainedCase(case, tuple(self.parts))
        parts = with_nmis(with_way_in(self.parts, way_ns), events.nmis)
        times = [event.time_ns - case.release_ns for event in trace.of(case) if events.is_met(event)]
        return ExplainedCase(case, without_own_cost(merged(parts), times, trace.event_cost_ns))
