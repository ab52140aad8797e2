"""The parts of any events whatsoever add up to the latency."""

from hypothesis import given
from hypothesis import strategies as st

from howlate.model.trace import CellTrace, TraceCase, TraceEvent
from howlate.why.case_events import MachineFacts
from howlate.why.causes import explain_cases
from made_trace import (
    ALL,
    CLOUD,
    FEW,
    HARD,
    LAB,
    METAL,
    NAMES,
    NO_ENDS,
    NO_ENDS_ARM64,
    NONE,
    OWN,
    RELEASE_NS,
    RT,
    SOFT,
)

KINDS = (
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_migrate_task",
    "irq_handler_entry",
    "irq_handler_exit",
    "softirq_entry",
    "softirq_exit",
    "softirq_raise",
    "local_timer_entry",
    "local_timer_exit",
    "reschedule_entry",
    "reschedule_exit",
    "ipi_entry",
    "ipi_exit",
    "hrtimer_expire_entry",
    "hrtimer_expire_exit",
    "cpu_idle",
    "page_fault_user",
    "nmi_handler",
    "lost",
    "something_new",
)
PIDS = st.sampled_from([0, 15, 100, 200, 300])


@st.composite
def any_event(draw: st.DrawFn) -> TraceEvent:
    kind = draw(st.sampled_from(KINDS))
    small = st.integers(-1, 12)
    pid, other = draw(PIDS), draw(PIDS)
    time_ns = RELEASE_NS + draw(st.integers(-300, 3_000))
    cpu = draw(st.sampled_from([1, 1, 1, 0]))
    flags, preempt = draw(st.sampled_from([0, 0x01, HARD, SOFT, HARD | SOFT, 0x40, 0x80])), draw(small) & 0xFF
    if kind == "sched_switch":
        state = draw(st.sampled_from([0, 1, 2, 4, 8, 0x100]))
        return TraceEvent(
            time_ns, cpu, kind, flags, preempt, pid, state, draw(st.sampled_from([-1, 19, 120])), other, 19
        )
    if kind.startswith("sched_"):
        return TraceEvent(
            time_ns,
            cpu,
            kind,
            flags,
            preempt,
            pid,
            other,
            19,
            draw(st.integers(0, 1)),
            draw(st.integers(0, 1)),
        )
    return TraceEvent(
        time_ns, cpu, kind, flags, preempt, pid, draw(small), draw(st.integers(-5, 900)), draw(small)
    )


@given(
    st.lists(any_event(), max_size=40),
    st.integers(1, 2_800),
    st.integers(-200, 400),
    st.sampled_from([LAB, NONE, RT, CLOUD, METAL]),
    st.sampled_from([0, 7, 500]),
    st.sampled_from([(), FEW, ALL, NO_ENDS, NO_ENDS_ARM64]),
)
def test_the_parts_of_any_events_add_up_to_the_latency(
    events: list[TraceEvent],
    latency_ns: int,
    from_ns: int,
    facts: MachineFacts,
    cost_ns: int,
    recorded: tuple[str, ...],
) -> None:
    ordered = tuple(sorted(events, key=lambda event: event.time_ns))
    case = TraceCase(0, 1, RELEASE_NS, latency_ns, RELEASE_NS + from_ns, RELEASE_NS + latency_ns + 200)
    detail = "few" if recorded == FEW else "all"
    cell = CellTrace((case,), ordered, {0: OWN}, NAMES, recorded, detail, event_cost_ns=cost_ns)
    parts = explain_cases(cell, facts)[0].parts
    assert [part.from_ns for part in parts] == [sum(p.ns for p in parts[:i]) for i in range(len(parts))]
    assert sum(part.ns for part in parts) == latency_ns and all(part.ns > 0 for part in parts)
