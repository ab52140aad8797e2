"""NMIs: what they took is theirs, and nothing else changes by what their events' flags say."""

import pytest

from howlate.model.cause import Cause
from made_trace import HARD, IDLE, LOAD, OWN, TICK, MadeTrace, brief, few, usual

NMI = 0x40
FLAGS = (NMI, NMI | HARD, NMI | HARD | 1)
"""Of events in an NMI: kernels count it as a hard interrupt too."""


@pytest.mark.parametrize("flags", FLAGS)
def test_an_nmi_is_no_interrupt(flags: int) -> None:
    made = usual(MadeTrace().asleep()).add(20_000, "nmi_handler", flags, a=TICK, b=5_000, c=1)
    found = made.explained(30_000)
    assert brief(found.parts)[-3:] == [
        (Cause.RETURN, 2_000, 13_000),
        (Cause.NMI, 15_000, 5_000),
        (Cause.RETURN, 20_000, 10_000),
    ]
    assert found.ns_of(Cause.IRQ) == 0


@pytest.mark.parametrize("flags", FLAGS)
def test_an_nmi_in_the_timers_interrupt_does_not_end_it(flags: int) -> None:
    made = MadeTrace().asleep().add(500, "local_timer_entry", HARD, a=236)
    made.add(3_000, "nmi_handler", flags, a=TICK, b=2_000, c=1)
    made.add(3_500, "hrtimer_expire_entry", HARD, a=1, c=0x1000).waking(3_600)
    made.add(4_000, "nmi_handler", flags, a=TICK, b=300, c=1)
    made.add(4_100, "hrtimer_expire_exit", HARD, a=1).add(4_500, "local_timer_exit", HARD, a=236)
    found = made.switch(5_000, OWN, 0).explained(5_500)
    assert found.ns_of(Cause.NMI) == 2_300 and found.ns_of(Cause.TIMER_IRQ) == 4_500 - 2_300


@pytest.mark.parametrize("flags", FLAGS)
def test_with_few_events_an_nmi_ends_no_timer(flags: int) -> None:
    made = MadeTrace().asleep().add(500, "local_timer_entry", HARD, a=236)
    made.add(900, "hrtimer_expire_entry", HARD, a=2, c=TICK)
    made.add(4_000, "nmi_handler", flags, a=TICK, b=1_000, c=1)
    made.add(9_100, "hrtimer_expire_entry", HARD, a=1, c=0x1000).waking(9_200)
    made.switch(10_000, OWN, 0)
    found = few(made, 10_500)
    assert found.largest.key == (Cause.IRQ, "tick_sched_timer")
    assert found.ns_of(Cause.NMI) == 1_000 and found.ns_of(Cause.IRQ) == 9_100 - 900 - 1_000


def test_another_event_in_an_nmi_does_not_begin_an_interrupt() -> None:
    made = usual(MadeTrace().asleep()).add(10_000, "sched_waking", NMI | HARD, a=LOAD.pid, b=120, c=1)
    assert made.explained(30_000).ns_of(Cause.IRQ) == 0


def test_an_nmi_did_not_begin_before_the_last_event_outside_of_it() -> None:
    made = usual(MadeTrace().asleep()).add(20_000, "nmi_handler", NMI | HARD, a=TICK, b=900_000, c=1)
    assert made.explained(30_000).ns_of(Cause.NMI) == 18_000


def test_events_of_the_cpu_that_the_task_has_left_take_nothing_from_it() -> None:
    """NMIs, and the cost of recording."""
    made = usual(MadeTrace().asleep()).switch(3_000, LOAD, 0x100)
    made.add(3_100, "sched_migrate_task", 0, a=OWN.pid, b=19, c=1, d=0)
    made.current = IDLE
    made.on(0).switch(5_000, OWN, 0)
    before = made.explained(30_000, cost_ns=10)
    made.current = LOAD
    made.on(1).add(20_000, "nmi_handler", NMI | HARD, a=TICK, b=5_000, c=1)
    found = made.explained(30_000, cost_ns=10)
    assert found.ns_of(Cause.NMI) == 0 and found.ns_of(Cause.OWN_COST) == before.ns_of(Cause.OWN_COST)
