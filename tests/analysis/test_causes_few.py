"""Which cause is named with few events, the default: what comes in every wake-up is not recorded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from howlate.analysis.cause import Cause, Why
from howlate.analysis.causes import MachineFacts
from made_trace import (
    CLOUD,
    HARD,
    HRTIMER_WAKEUP,
    IDLE,
    LAB,
    OWN,
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
        (Cause.SWITCH, late + 400, 1_100),
        (Cause.RETURN, late + 1_500, 500),
    ]


def test_with_few_events_softirqs_and_what_was_not_preemptible_are_told_apart() -> None:
    assert few(softirq_after_the_interrupt(MadeTrace().asleep()), 61_000).ns_of(Cause.SOFTIRQ) == 58_500
    largest = few(held(preempt=1), 91_000).largest
    assert (largest.cause, largest.why) == (Cause.NOT_PREEMPTIBLE, Why.PREEMPTION_OFF)


def test_with_few_events_another_timer_is_as_long_as_the_next_event_shows() -> None:
    made = MadeTrace().asleep().add(200, "local_timer_entry", HARD, a=236)
    made.add(300, "hrtimer_expire_entry", HARD, a=2, c=TICK)
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
    ("facts", "cause"),
    [(LAB, Cause.IRQ_LATE), (CLOUD, Cause.GAP), (replace(CLOUD, idle_exit_ns={2: 80_000}), Cause.IDLE)],
)
def test_with_few_events_idle_is_no_longer_than_the_deepest_state(facts: MachineFacts, cause: Cause) -> None:
    made = MadeTrace().asleep(to=IDLE).timer(90_000, 90_400, 90_900).switch(92_000, OWN, 0)
    assert few(made, 93_000, facts).parts[0].cause is cause
