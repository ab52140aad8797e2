"""Parts of a wake-up's ordinary way that take far longer than that are not called by its names."""

import pytest
from msgspec.structs import replace

from howlate.model.cause import Cause, Why
from howlate.why.ambiguous import ENTRY_NS, EVENTLESS_NS, IDLE_NS, SWITCH_NS
from howlate.why.case_events import MachineFacts
from made_trace import CLOUD, HARD, IDLE, LAB, LOAD, METAL, NONE, OWN, TICK, MadeTrace, few, usual

PLACES = [LAB, METAL, CLOUD]


@pytest.mark.parametrize("facts", PLACES)
@pytest.mark.parametrize(("more", "cause"), [(0, Cause.RETURN), (1, Cause.UNKNOWN)])
def test_the_return_to_the_program(facts: MachineFacts, more: int, cause: Cause) -> None:
    last = usual(MadeTrace().asleep()).explained(2_000 + EVENTLESS_NS + more, facts).parts[-1]
    assert (last.cause, last.ns) == (cause, EVENTLESS_NS + more)
    assert last.why is (Why.NO_EVENT if more else None)


def test_interrupts_and_nmis_in_the_return_are_none_of_it() -> None:
    made = usual(MadeTrace().asleep()).add(10_000, "irq_handler_entry", HARD, a=9)
    made.add(60_000, "irq_handler_exit", HARD, a=9).add(100_000, "nmi_handler", 0x48, a=TICK, b=30_000)
    found = made.explained(101_000)
    assert found.ns_of(Cause.IRQ) == 50_000 and found.ns_of(Cause.NMI) == 30_000
    assert found.ns_of(Cause.RETURN) == 99_000 - 80_000 and found.ns_of(Cause.UNKNOWN) == 0


@pytest.mark.parametrize(
    ("facts", "cause"), [(LAB, Cause.UNKNOWN), (METAL, Cause.UNKNOWN), (CLOUD, Cause.GAP)]
)
@pytest.mark.parametrize("is_few", [False, True])
def test_the_switch_from_the_idle_task(facts: MachineFacts, cause: Cause, is_few: bool) -> None:
    def found(switched: int) -> set[Cause]:
        made = MadeTrace().asleep(to=IDLE).timer(500, 900, 1_400).switch(switched, OWN, 0)
        case = few(made, switched + 500, facts) if is_few else made.explained(switched + 500, facts)
        return {part.cause for part in case.parts if part.ns > 5_000}

    woken = 900 if is_few else 1_400
    assert found(woken + EVENTLESS_NS) == {Cause.IRQ_END_OR_SWITCH if is_few else Cause.SWITCH}
    assert found(woken + EVENTLESS_NS + 1) == {cause}


@pytest.mark.parametrize(("facts", "cause"), [(LAB, Cause.IDLE), (CLOUD, Cause.GAP)])
def test_an_idle_state_that_is_left_long_after_the_wake_up(facts: MachineFacts, cause: Cause) -> None:
    made = MadeTrace().asleep(to=IDLE).add(-90_000, "cpu_idle", a=2, b=1).timer(500, 900, 1_400)
    made.add(90_000, "cpu_idle", a=-1, b=1).switch(91_000, OWN, 0)
    assert made.explained(91_500, facts).largest.cause is cause


def test_an_idle_cpu_on_which_nothing_woke_the_task_does_not_leave_idle_all_the_while() -> None:
    for late, cause in ((IDLE_NS, Cause.IDLE), (IDLE_NS + 1, Cause.UNKNOWN)):
        made = MadeTrace().asleep(to=IDLE).on(0).waking(late, target=1).on(1).switch(late + 900, OWN, 0)
        first = made.explained(late + 1_000).parts[0]
        assert (first.cause, first.ns) == (cause, late)
        assert first.why is (None if cause is Cause.IDLE else Why.NOT_WOKEN)


def test_a_move_to_another_cpu() -> None:
    made = usual(MadeTrace().asleep()).switch(3_000, LOAD, 0x100)
    made.add(3_100, "sched_migrate_task", 0, a=OWN.pid, b=19, c=1, d=0)
    made.current = IDLE
    largest = made.on(0).switch(3_200 + EVENTLESS_NS, OWN, 0).explained(60_000).largest
    assert (largest.cause, largest.why) == (Cause.UNKNOWN, Why.NO_EVENT)


@pytest.mark.parametrize(
    ("facts", "cause", "why"),
    [
        (LAB, Cause.TIMER_IRQ, None),
        (METAL, Cause.TIMER_IRQ, None),
        (CLOUD, Cause.UNKNOWN, Why.IN_TIMER_IRQ),
        (replace(METAL, smi=None), Cause.UNKNOWN, Why.IN_TIMER_IRQ),
    ],
)
def test_the_timers_own_interrupt(facts: MachineFacts, cause: Cause, why: Why | None) -> None:
    """It executed instructions all the while where nothing else can have had the CPU."""
    made = MadeTrace().asleep().timer(500, 900, 501 + EVENTLESS_NS).switch(60_000, OWN, 0)
    largest = made.explained(60_500, facts).largest
    assert (largest.cause, largest.why) == (cause, why)
    made = MadeTrace().asleep().timer(500, 900, 500 + EVENTLESS_NS).switch(60_000, OWN, 0)
    assert made.explained(60_500, facts).largest.cause is Cause.TIMER_IRQ


def test_another_timer_in_the_timers_interrupt_explains_its_length() -> None:
    made = MadeTrace().asleep().add(500, "local_timer_entry", HARD, a=236)
    made.add(600, "hrtimer_expire_entry", HARD, a=2, c=TICK).add(79_000, "hrtimer_expire_exit", HARD, a=2)
    made.add(79_100, "hrtimer_expire_entry", HARD, a=1, c=0x1000).waking(79_200)
    made.add(79_300, "hrtimer_expire_exit", HARD, a=1).add(79_500, "local_timer_exit", HARD, a=236)
    found = made.switch(80_000, OWN, 0).explained(80_500, METAL)
    assert found.ns_of(Cause.IRQ) == 78_400 and found.ns_of(Cause.UNKNOWN) == 0


ROUND_NS = 10_000


@pytest.mark.parametrize("round_ns", [0, ROUND_NS])
def test_the_turns_of_other_cpus_are_neither_interrupts_off_nor_not_preemptible(round_ns: int) -> None:
    facts = replace(NONE, round_ns=round_ns)
    for late, expected in ((ENTRY_NS + round_ns, Cause.TIMER_IRQ), (ENTRY_NS + round_ns + 1, Cause.IRQ_LATE)):
        made = MadeTrace().asleep().timer(late, late + 400, late + 900).switch(late + 1_500, OWN, 0)
        assert made.explained(late + 2_000, facts).parts[0].cause is expected
    for more, expected in ((0, Cause.SWITCH), (1, Cause.NOT_PREEMPTIBLE)):
        switched = 1_400 + SWITCH_NS + round_ns + more
        made = MadeTrace().asleep().timer(500, 900, 1_400).switch(switched, OWN, 0)
        assert expected in {part.cause for part in made.explained(switched + 500, facts).parts}


@pytest.mark.parametrize(("round_ns", "expected"), [(0, Cause.NOT_PREEMPTIBLE), (ROUND_NS, Cause.SWITCH)])
def test_a_turn_while_preemption_was_off_is_no_time_in_which_it_kept_the_cpu(
    round_ns: int, expected: Cause
) -> None:
    facts = replace(LAB, round_ns=round_ns)
    made = MadeTrace().asleep().timer(500, 900, 1_400, preempt=1).switch(9_400, OWN, 0)
    assert made.explained(9_900, facts).largest.cause is expected
    made = MadeTrace().asleep().timer(500, 900, 1_400, preempt=1).switch(40_000, OWN, 0)
    assert made.explained(40_500, facts).largest.cause is Cause.NOT_PREEMPTIBLE


def test_the_instructions_of_a_slower_guest_take_longer() -> None:
    late = 8 * ENTRY_NS
    made = MadeTrace().asleep().timer(late, late + 400, late + 900).switch(late + 1_500, OWN, 0)
    assert made.explained(late + 2_000, LAB).parts[0].cause is Cause.IRQ_LATE
    assert made.explained(late + 2_000, replace(LAB, instruction_ns=8)).parts[0].cause is Cause.TIMER_IRQ
