"""Which cause is named with few events, the default: what comes in every wake-up is not recorded."""

import pytest
from msgspec.structs import replace

from howlate.model.cause import Cause, Why
from howlate.model.trace import TracedTask
from howlate.why.ambiguous import IDLE_NS
from howlate.why.case_events import MachineFacts
from made_trace import (
    CLOUD,
    HARD,
    HRTIMER_WAKEUP,
    IDLE,
    KSOFTIRQD,
    LAB,
    LOAD,
    NONE,
    OWN,
    PEER,
    RT,
    SOFT,
    TICK,
    MadeTrace,
    brief,
    few,
    held,
    softirq_after_the_interrupt,
)


@pytest.mark.parametrize(("late", "cause"), [(500, Cause.TIMER_IRQ), (40_000, Cause.IRQ_LATE)])
def test_without_its_own_events_the_timers_interrupt_is_known_by_its_timer(late: int, cause: Cause) -> None:
    made = MadeTrace().asleep().timer(late, late + 400, late + 900).switch(late + 1_500, OWN, 0)
    assert brief(few(made, late + 2_000).parts) == [
        (cause, 0, late + 300),
        (Cause.TIMER_IRQ, late + 300, 100),
        (Cause.IRQ_END_OR_SWITCH, late + 400, 1_100),
        (Cause.RETURN, late + 1_500, 500),
    ]


def test_what_comes_after_the_interrupts_end_is_the_scheduler() -> None:
    made = MadeTrace().asleep().timer(500, 900, 1_400).add(1_500, "softirq_entry", SOFT, a=3)
    parts = few(made.add(3_000, "softirq_exit", SOFT, a=3).switch(3_600, OWN, 0), 4_000).parts
    assert brief(parts)[-4:] == [
        (Cause.IRQ_END_OR_SWITCH, 900, 600),
        (Cause.SOFTIRQ, 1_500, 1_500),
        (Cause.SWITCH, 3_000, 600),
        (Cause.RETURN, 3_600, 400),
    ]


def test_the_end_of_the_timers_interrupt_of_arm64_is_recorded() -> None:
    made = MadeTrace().asleep().add(500, "irq_handler_entry", HARD, a=11).waking(900)
    made.add(1_400, "irq_handler_exit", HARD, a=11, b=1).switch(2_000, OWN, 0)
    found = few(made, 2_500)
    assert found.ns_of(Cause.SWITCH) == 600 and found.ns_of(Cause.IRQ_END_OR_SWITCH) == 0


@pytest.mark.parametrize("current", [LOAD, IDLE])
def test_from_the_waking_to_the_switch_the_interrupt_is_not_divided_from_the_scheduler(
    current: TracedTask,
) -> None:
    made = MadeTrace().asleep(to=current).timer(500, 900, 3_400).switch(5_000, OWN, 0)
    found = few(made, 8_500)
    assert found.ns_of(Cause.IRQ_END_OR_SWITCH) == 4_100 and found.ns_of(Cause.SWITCH) == 0


@pytest.mark.parametrize("facts", [NONE, LAB, RT])
@pytest.mark.parametrize("woken", [PEER, KSOFTIRQD])
def test_a_wake_up_by_what_was_interrupted_shows_that_it_went_on(
    woken: TracedTask, facts: MachineFacts
) -> None:
    """A kernel that preempts itself would have switched at the interrupt's end, and that may wake ksoftirqd."""
    made = MadeTrace().asleep().timer(500, 900, 2_400).waking(4_000, woken, flags=1).switch(5_500, OWN, 0)
    found = few(made, 6_500, facts)
    if facts is NONE and woken is PEER:
        assert found.largest.why is Why.NO_KERNEL_PREEMPTION and found.largest.ns == 4_600
    else:
        assert found.ns_of(Cause.IRQ_END_OR_SWITCH) == 3_100 and found.ns_of(Cause.SWITCH) == 1_500


def test_a_task_that_was_woken_by_another_and_switched_to_soon_was_not_held() -> None:
    made = MadeTrace().asleep().waking(40_000, flags=0).switch(42_000, OWN, 0)
    found = few(made, 42_500, NONE)
    assert found.ns_of(Cause.SWITCH) == 2_000 and found.ns_of(Cause.NOT_PREEMPTIBLE) == 0


def test_what_is_not_divided_is_one_part_among_the_others() -> None:
    """Less than the interrupts-off time alone, and more with the timer's interrupt before it."""
    found = few(MadeTrace().asleep().timer(4_000, 5_000, 5_500).switch(8_700, OWN, 0), 9_300)
    ns = {cause: found.ns_of(cause) for cause in (Cause.IRQ_LATE, Cause.TIMER_IRQ, Cause.IRQ_END_OR_SWITCH)}
    assert (
        ns[Cause.IRQ_END_OR_SWITCH] < ns[Cause.IRQ_LATE] < ns[Cause.IRQ_END_OR_SWITCH] + ns[Cause.TIMER_IRQ]
    )
    assert found.largest.cause is Cause.IRQ_LATE


def test_with_few_events_softirqs_and_what_was_not_preemptible_are_told_apart() -> None:
    assert few(softirq_after_the_interrupt(MadeTrace().asleep()), 61_000).ns_of(Cause.SOFTIRQ) == 58_500
    largest = few(held(preempt=1), 91_000).largest
    assert (largest.cause, largest.why) == (Cause.NOT_PREEMPTIBLE, Why.PREEMPTION_OFF)


def test_with_few_events_another_timer_is_as_long_as_the_next_event_shows() -> None:
    made = MadeTrace().asleep().add(200, "local_timer_entry", HARD, a=236)
    made.add(600, "hrtimer_expire_entry", HARD, a=2, c=TICK)
    made.add(9_100, "hrtimer_expire_entry", HARD, a=1, c=HRTIMER_WAKEUP).waking(9_200)
    assert few(made.switch(10_000, OWN, 0), 10_500).largest.key == (Cause.IRQ, "tick_sched_timer")


def test_with_few_events_an_idle_cpu_is_in_an_unknown_state() -> None:
    made = MadeTrace().asleep(to=IDLE).timer(9_000, 9_400, 9_900).switch(11_000, OWN, 0)
    first = few(made, 12_000).parts[0]
    assert (first.cause, first.state) == (Cause.IDLE, -1)


@pytest.mark.parametrize(
    ("facts", "cause", "name"),
    [(LAB, Cause.IRQ, "tick_sched_timer"), (CLOUD, Cause.IRQ_LATE_OR_GAP, IDLE.name)],
)
def test_with_few_events_a_timer_still_running_on_an_idle_cpu_is_not_idle(
    facts: MachineFacts, cause: Cause, name: str
) -> None:
    made = MadeTrace().asleep(to=IDLE).add(-50_000, "local_timer_entry", HARD, a=236)
    made.add(-49_500, "hrtimer_expire_entry", HARD, a=2, c=TICK)
    made.add(99_000, "local_timer_entry", HARD, a=236)
    made.add(100_000, "hrtimer_expire_entry", HARD, a=1, c=HRTIMER_WAKEUP).waking(100_100)
    assert few(made.switch(101_000, OWN, 0), 101_500, facts).largest.key == (cause, name)


@pytest.mark.parametrize(
    ("late", "round_ns", "cause"),
    [
        (IDLE_NS, 0, Cause.IDLE),
        (IDLE_NS + 1, 0, Cause.IRQ_LATE),
        (IDLE_NS + 20_000, 20_000, Cause.IDLE),
        (IDLE_NS + 20_001, 20_000, Cause.IRQ_LATE),
    ],
)
def test_the_idle_cpu_of_a_guest_waits_for_a_round_of_turns(late: int, round_ns: int, cause: Cause) -> None:
    began = late - 300  # as made_trace.few has it
    made = MadeTrace().asleep(to=IDLE).timer(began, began + 400, began + 900).switch(late + 2_000, OWN, 0)
    assert few(made, late + 3_000, replace(LAB, round_ns=round_ns)).parts[0].cause is cause


@pytest.mark.parametrize(
    ("facts", "cause"),
    [(LAB, Cause.IRQ_LATE), (CLOUD, Cause.GAP), (replace(CLOUD, idle_exit_ns={2: 80_000}), Cause.IDLE)],
)
def test_with_few_events_idle_is_no_longer_than_the_deepest_state(facts: MachineFacts, cause: Cause) -> None:
    made = MadeTrace().asleep(to=IDLE).timer(90_000, 90_400, 90_900).switch(92_000, OWN, 0)
    assert few(made, 93_000, facts).parts[0].cause is cause
