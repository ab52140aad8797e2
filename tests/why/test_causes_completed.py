"""Which cause is named where no event tells when a timer was over, or when its interrupt began and ended: with few
events, and of a timer's interrupt that has no event of its own (Hyper-V's)."""

import pytest
from msgspec.structs import replace

from howlate.model.cause import Cause, ExplainedCase, Why
from howlate.why.case_events import MachineFacts
from howlate.why.causes import explain_cases
from made_trace import (
    ALL,
    HARD,
    HRTIMER_WAKEUP,
    IDLE,
    LAB,
    METAL,
    NO_ENDS,
    NO_ENDS_ARM64,
    NONE,
    OWN,
    PEER,
    RELEASE_NS,
    SOFT,
    TICK,
    MadeTrace,
    brief,
)

ARCH_TIMER = 11
HYPERV = MachineFacts(is_guest=True, preemption="none")


def completed(
    made: MadeTrace, latency_ns: int, facts: MachineFacts = LAB, recorded: tuple[str, ...] = NO_ENDS
) -> ExplainedCase:
    cell = made.cell(latency_ns)
    events = tuple(event for event in cell.events if event.kind in recorded)
    return explain_cases(replace(cell, events=events, recorded=recorded), facts)[0]


def untraced_timer(made: MadeTrace) -> MadeTrace:
    """Its interrupt has no event."""
    return made.add(500, "hrtimer_expire_entry", HARD, a=1, c=HRTIMER_WAKEUP).waking(900)


@pytest.mark.parametrize("facts", [HYPERV, NONE])
@pytest.mark.parametrize("wakes_another", [False, True])
def test_a_timers_interrupt_without_an_event_ends_before_what_it_interrupted_goes_on(
    facts: MachineFacts, wakes_another: bool
) -> None:
    made = untraced_timer(MadeTrace().asleep())
    if wakes_another:
        made.waking(20_000, PEER, flags=0)
    found = completed(made.switch(90_000, OWN, 0), 91_000, facts)
    assert brief(found.parts) == [
        (Cause.TIMER_IRQ, 0, 500),
        (Cause.TIMER_IRQ, 500, 400),
        (Cause.NOT_PREEMPTIBLE, 900, 89_100),
        (Cause.RETURN, 90_000, 1_000),
    ]


def test_a_timers_interrupt_without_an_event_may_still_be_handled_when_the_scheduler_is_called() -> None:
    found = completed(untraced_timer(MadeTrace().asleep()).switch(3_000, OWN, 0), 3_500, METAL)
    assert brief(found.parts)[2] == (Cause.IRQ_END_OR_SWITCH, 900, 2_100)


def test_out_of_idle_a_timers_interrupt_without_an_event_is_short() -> None:
    made = MadeTrace().asleep(to=IDLE).add(-90_000, "cpu_idle", a=1, b=1)
    made = untraced_timer(made).add(2_000, "cpu_idle", a=-1, b=1).switch(3_000, OWN, 0)
    found = completed(made, 4_000, HYPERV)
    assert found.ns_of(Cause.TIMER_IRQ) == 400 and found.ns_of(Cause.IDLE) == 500 + 1_100


def test_on_arm64_the_timers_interrupt_is_an_ordinary_one() -> None:
    made = MadeTrace().asleep().add(500, "irq_handler_entry", HARD, a=ARCH_TIMER)
    made.add(600, "hrtimer_expire_entry", HARD, a=2, c=TICK)
    made.add(700, "hrtimer_expire_entry", HARD, a=1, c=HRTIMER_WAKEUP).waking(900)
    made.add(1_400, "irq_handler_exit", HARD, a=ARCH_TIMER, b=1).switch(2_000, OWN, 0)
    found = completed(made, 2_600, recorded=NO_ENDS_ARM64)
    assert found.ns_of(Cause.IRQ) == 100 and found.ns_of(Cause.TIMER_IRQ) == 500 + 100 + 700
    assert found.ns_of(Cause.SWITCH) == 600


@pytest.mark.parametrize("is_lost", [False, True])
def test_an_interrupt_whose_beginning_is_lost_is_one_interrupt(is_lost: bool) -> None:
    made = MadeTrace()
    if is_lost:
        made.asleep().add(600, "lost", a=-1)
    made.add(700, "hrtimer_expire_entry", HARD, a=1, c=HRTIMER_WAKEUP).waking(900)
    made.add(9_000, "irq_handler_exit", HARD, a=ARCH_TIMER, b=1).switch(9_900, OWN, 0)
    found = completed(made, 10_600, recorded=NO_ENDS_ARM64)
    assert found.ns_of(Cause.IRQ) == 0
    assert found.ns_of(Cause.TIMER_IRQ) == 9_000 - (900 if is_lost else 0)


def test_an_interrupt_in_the_midst_of_a_softirqs_timer_does_not_end_it() -> None:
    made = MadeTrace().asleep().add(-5_000, "softirq_entry", SOFT, a=8)
    made.add(-4_000, "hrtimer_expire_entry", SOFT, a=2, c=TICK)
    made.timer(500, 900, 1_400, flags=SOFT)
    made.add(60_000, "softirq_exit", SOFT, a=8).switch(61_000, OWN, 0)
    found = completed(made, 62_000, NONE)
    assert found.largest.key == (Cause.SOFTIRQ, "tick_sched_timer") and found.largest.ns == 58_600


def test_a_softirqs_timer_lasts_until_the_next_one_expires_in_it() -> None:
    made = MadeTrace().asleep().timer(500, 900, 1_400).add(1_500, "softirq_entry", SOFT, a=8)
    made.add(1_600, "hrtimer_expire_entry", SOFT, a=2, c=TICK)
    made.add(30_000, "hrtimer_expire_entry", SOFT, a=3, c=0x3003)
    made.add(60_000, "softirq_exit", SOFT, a=8).switch(61_000, OWN, 0)
    parts = completed(made, 62_000, NONE).parts
    assert [(part.name, part.ns) for part in parts if part.cause is Cause.SOFTIRQ] == [
        ("HRTIMER", 100),
        ("tick_sched_timer", 28_400),
        ("free_pages", 30_000),
    ]


def test_a_task_that_the_timer_moves_does_not_end_its_function() -> None:
    made = MadeTrace().asleep().add(200, "local_timer_entry", HARD, a=236)
    made.add(300, "hrtimer_expire_entry", HARD, a=1, c=HRTIMER_WAKEUP).waking(400)
    made.add(500, "sched_migrate_task", HARD, a=PEER.pid, b=120, c=1, d=0)
    made.add(900, "local_timer_exit", HARD, a=236).switch(1_500, OWN, 0)
    found = completed(made, 2_000)
    assert brief(found.parts)[1] == (Cause.TIMER_IRQ, 200, 700)
    assert found.parts[0].why is Why.BEFORE_INTERRUPT


def test_with_all_events_a_timers_interrupt_without_an_event_is_inferred_too() -> None:
    """On Hyper-V, after another timer of the same interrupt."""
    made = MadeTrace().asleep().add(500, "hrtimer_expire_entry", HARD, a=2, b=400, c=TICK)
    made.add(40_000, "hrtimer_expire_exit", HARD, a=2)
    made.add(40_100, "hrtimer_expire_entry", HARD, a=1, b=400, c=HRTIMER_WAKEUP).waking(40_500)
    made.add(40_600, "hrtimer_expire_exit", HARD, a=1).switch(42_000, OWN, 0)
    found = completed(made, 43_000, HYPERV, ALL)
    assert found.largest.key == (Cause.IRQ, "tick_sched_timer") and found.largest.ns == 39_500
    assert brief(found.parts)[-2:] == [
        (Cause.IRQ_END_OR_SWITCH, 40_600, 1_400),
        (Cause.RETURN, 42_000, 1_000),
    ]


@pytest.mark.parametrize("is_nmi", [False, True])
def test_neither_nmi_nor_stack_shows_that_an_interrupt_has_ended(is_nmi: bool) -> None:
    made = untraced_timer(MadeTrace().asleep())
    if is_nmi:
        made.add(1_500, "nmi_handler", HARD, a=TICK, b=100, c=1)
    else:
        made.stack(950)
    found = completed(made.switch(5_000, OWN, 0), 5_500, METAL)
    assert found.ns_of(Cause.IRQ_END_OR_SWITCH) == 4_100 - (100 if is_nmi else 0)
    assert found.ns_of(Cause.SWITCH) == 0


def test_an_interrupt_whose_end_was_missed_is_over_when_tasks_are_switched() -> None:
    made = MadeTrace().asleep().add(-90_000, "irq_handler_entry", HARD, a=9).switch(-50_000, PEER, 0)
    found = completed(untraced_timer(made).switch(90_000, OWN, 0), 91_000, NONE)
    assert found.largest.cause is Cause.NOT_PREEMPTIBLE and found.largest.ns == 89_100


def test_a_timer_of_another_clock_is_of_the_same_interrupt() -> None:
    """Its `now` does not tell when the interrupt began."""
    made = MadeTrace().asleep().add(500, "hrtimer_expire_entry", HARD, a=2, b=RELEASE_NS + 400, c=TICK)
    made.add(60_000, "hrtimer_expire_entry", HARD, a=1, b=10**18, c=HRTIMER_WAKEUP).waking(60_400)
    found = completed(made.switch(62_000, OWN, 0), 63_000)
    assert found.largest.key == (Cause.IRQ, "tick_sched_timer") and found.largest.ns == 59_500


def test_an_interrupt_is_over_when_the_next_one_began() -> None:
    made = MadeTrace().asleep().add(100, "hrtimer_expire_entry", HARD, a=2, b=RELEASE_NS, c=TICK)
    made.add(4_000, "hrtimer_expire_entry", HARD, a=1, b=RELEASE_NS + 1_500, c=HRTIMER_WAKEUP).waking(4_400)
    found = completed(made.switch(6_000, OWN, 0), 7_000)
    assert found.ns_of(Cause.IRQ) == 1_500 and found.ns_of(Cause.TIMER_IRQ) == 2_900
