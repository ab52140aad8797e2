"""Why a sample was late, from what the kernel recorded around it: parts that follow each other from the release to
the time stamp and add up to the latency exactly. A cause is named only where events show it. Pure.

In steps, each a file: what each CPU did (cpu_spans.py), what became of the measuring task (own_course.py), the cause
of each piece in which both stay the same (pieces.py, with waker.py), and what hangs on how long something took
altogether (undecided.py)."""

from __future__ import annotations

from howlate.analysis.case_events import CaseEvents
from howlate.analysis.cause import Cause, CausePart, ExplainedCase, Why
from howlate.analysis.machine_facts import MachineFacts
from howlate.analysis.pieces import pieces_of
from howlate.analysis.sparse_events import completed
from howlate.analysis.tiled import merged, tiled, with_nmis, without_own_cost
from howlate.analysis.undecided import decided
from howlate.model.trace import NOTHING_KEPT, CellTrace, TraceCase


def explain_case(trace: CellTrace, case: TraceCase, facts: MachineFacts) -> ExplainedCase:
    """The parts of one case."""
    own = trace.threads.get(case.thread)
    if own is None or case.state & NOTHING_KEPT:
        return ExplainedCase(case, (CausePart(Cause.UNKNOWN, 0, case.latency_ns, why=Why.OVERWRITTEN),))
    recorded = trace.of(case)
    events = CaseEvents(trace, case, completed(recorded, trace.recorded, trace.t0_ns), own, facts)
    parts = tiled(decided(events, pieces_of(events)), case.latency_ns)
    parts = with_nmis(parts, events.nmis)
    times = [event.time_ns - case.release_ns for event in recorded if events.is_met(event)]
    return ExplainedCase(case, without_own_cost(merged(parts), times, trace.event_cost_ns))
