"""Which cause is named for which events, all of them recorded."""

import pytest
from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, Why
from howlate.model.trace import NOTHING_KEPT, TracedTask
from howlate.why.ambiguous import IDLE_NS
from howlate.why.case_events import MachineFacts
from howlate.why.causes import explain_cases
from howlate.why.cpu_spans import BH_OFF_FLAG
from howlate.why.late_parts import MOST_CALLERS, part_text
from howlate.words.say import text_of
from made_trace import (
    CLOUD,
    EQUAL,
    HARD,
    HRTIMER_WAKEUP,
    IDLE,
    KSOFTIRQD,
    LAB,
    LOAD,
    METAL,
    NONE,
    OWN,
    PEER,
    RELEASE_NS,
    RT,
    SOFT,
    STACK,
    TICK,
    URGENT,
    MadeTrace,
    brief,
    held,
    softirq_after_the_interrupt,
    usual,
)


def test_an_ordinary_wake_up_has_no_other_cause_than_its_own_way() -> None:
    found = usual(MadeTrace().asleep()).explained(2_600).parts
    assert brief(found) == [
        (Cause.TIMER_IRQ, 0, 500),
        (Cause.TIMER_IRQ, 500, 900),
        (Cause.SWITCH, 1_400, 600),
        (Cause.RETURN, 2_000, 600),
    ]
    assert found[0].why is Why.BEFORE_INTERRUPT


@pytest.mark.parametrize(
    ("facts", "cause"), [(LAB, Cause.IRQ_LATE), (METAL, Cause.IRQ_LATE), (CLOUD, Cause.IRQ_LATE_OR_GAP)]
)
def test_a_late_interrupt_on_a_busy_cpu(facts: MachineFacts, cause: Cause) -> None:
    made = MadeTrace().asleep().timer(50_000, 50_400, 51_000).switch(51_600, OWN, 0)
    first = made.explained(52_000, facts).parts[0]
    assert (first.cause, first.from_ns, first.ns) == (cause, 0, 50_000)
    assert first.task is not None and first.task.name == LOAD.name


def test_another_interrupt_that_began_before_the_release_lasts_into_it() -> None:
    made = MadeTrace().asleep().add(-30_000, "irq_handler_entry", HARD, a=9)
    made.add(20_000, "irq_handler_exit", HARD, a=9, b=1).timer(20_200, 20_500, 21_000).switch(21_400, OWN, 0)
    first, second = made.explained(22_000).parts[:2]
    assert (first.cause, first.name, first.ns) == (Cause.IRQ, "acpi", 20_000)
    assert (second.cause, second.ns) == (Cause.TIMER_IRQ, 200)


def test_an_interrupt_whose_beginning_was_not_kept_is_known_by_its_end() -> None:
    made = MadeTrace().add(20_000, "irq_handler_exit", HARD, a=9, b=1)
    made.timer(20_200, 20_500, 21_000).switch(21_400, OWN, 0)
    assert made.explained(22_000).parts[0].key == (Cause.IRQ, "acpi")


def test_the_timer_interrupts_another_interrupt() -> None:
    made = MadeTrace().asleep().add(300, "irq_handler_entry", HARD, a=9).timer(500, 900, 1_400)
    made.add(30_000, "irq_handler_exit", HARD, a=9, b=1).switch(30_600, OWN, 0)
    found = made.explained(31_000)
    assert found.ns_of(Cause.IRQ) == 200 + 28_600 and found.ns_of(Cause.TIMER_IRQ) == 300 + 900


def test_another_timer_of_the_same_interrupt_is_told_by_its_function() -> None:
    made = MadeTrace().asleep().add(200, "local_timer_entry", HARD, a=236)
    made.add(300, "hrtimer_expire_entry", HARD, a=2, c=TICK).add(9_000, "hrtimer_expire_exit", HARD, a=2)
    made.add(9_100, "hrtimer_expire_entry", HARD, a=1, c=HRTIMER_WAKEUP).waking(9_200)
    made.add(9_300, "hrtimer_expire_exit", HARD, a=1).add(9_500, "local_timer_exit", HARD, a=236)
    found = made.switch(10_000, OWN, 0).explained(10_500)
    assert found.largest.key == (Cause.IRQ, "tick_sched_timer") and found.ns_of(Cause.IRQ) == 8_700


@pytest.mark.parametrize("kind", ["reschedule", "call_function", "call_function_single", "irq_work"])
def test_ipis_are_no_interrupts_of_devices(kind: str) -> None:
    made = usual(MadeTrace().asleep())
    made.add(2_100, f"{kind}_entry", HARD, a=253).add(9_000, f"{kind}_exit", HARD, a=253)
    assert made.explained(9_500).largest.key == (Cause.IPI, kind)


def test_an_ipi_of_arm64_stands_in_its_interrupt() -> None:
    made = usual(MadeTrace().asleep()).add(2_100, "irq_handler_entry", HARD, a=12)
    made.add(2_200, "ipi_entry", HARD, a=1).add(9_000, "ipi_exit", HARD, a=1)
    made.add(9_100, "irq_handler_exit", HARD, a=12)
    found = made.explained(9_500)
    assert found.largest.key == (Cause.IPI, "Function call interrupts")
    assert found.ns_of(Cause.IPI) == 7_000


def test_the_timer_of_arm64_is_an_interrupt_of_a_device() -> None:
    made = MadeTrace().asleep().add(500, "irq_handler_entry", HARD, a=11).waking(900)
    made.add(1_400, "irq_handler_exit", HARD, a=11, b=1).switch(2_000, OWN, 0)
    assert {part.cause for part in made.explained(2_500).parts} == {
        Cause.TIMER_IRQ,
        Cause.SWITCH,
        Cause.RETURN,
    }


@pytest.mark.parametrize("facts", [NONE, LAB])
def test_a_softirq_at_the_end_of_an_interrupt(facts: MachineFacts) -> None:
    found = softirq_after_the_interrupt(MadeTrace().asleep()).explained(61_000, facts)
    assert found.largest.key == (Cause.SOFTIRQ, "NET_RX") and found.ns_of(Cause.SOFTIRQ) == 58_500


def test_the_timer_interrupts_a_softirq_that_goes_on() -> None:
    made = MadeTrace().asleep().add(-5_000, "softirq_entry", SOFT, a=3).timer(500, 900, 1_400, flags=SOFT)
    made.add(60_000, "softirq_exit", SOFT, a=3).switch(60_500, OWN, 0)
    found = made.explained(61_000)
    assert found.largest.key == (Cause.SOFTIRQ, "NET_RX")
    assert brief(found.parts)[0] == (Cause.TIMER_IRQ, 0, 500)


def test_a_softirq_with_interrupts_off_is_a_late_interrupt_in_it() -> None:
    made = (
        MadeTrace().asleep().add(-5_000, "softirq_entry", SOFT, a=3).timer(40_000, 40_400, 41_000, flags=SOFT)
    )
    made.add(41_100, "softirq_exit", SOFT, a=3).switch(41_500, OWN, 0)
    first = made.explained(42_000).parts[0]
    assert (first.cause, first.name, first.why) == (Cause.IRQ_LATE, "NET_RX", Why.IN_SOFTIRQ)


def test_an_interrupt_in_a_softirq_says_nothing_of_what_the_softirq_came_in() -> None:
    made = MadeTrace().asleep().timer(500, 900, 1_400).add(1_500, "softirq_entry", SOFT, a=3)
    made.add(2_000, "irq_handler_entry", HARD | SOFT, a=9).add(3_000, "irq_handler_exit", HARD | SOFT, a=9)
    found = made.add(4_000, "softirq_exit", SOFT, a=3).switch(4_500, OWN, 0).explained(5_000)
    assert found.ns_of(Cause.SWITCH) == 600 and found.ns_of(Cause.NOT_PREEMPTIBLE) == 0


def test_a_softirq_thread_of_rt_is_a_task_that_can_be_preempted() -> None:
    made = MadeTrace().asleep(to=KSOFTIRQD).add(-5_000, "softirq_entry", SOFT, a=3)
    made.timer(500, 900, 1_400, preempt=1).switch(30_000, OWN, 0)
    largest = made.explained(31_000, RT).largest
    assert (largest.cause, largest.why) == (Cause.NOT_PREEMPTIBLE, Why.PREEMPTION_OFF)
    assert largest.task is not None and largest.task.name == KSOFTIRQD.name


def test_a_timer_of_rt_that_expires_in_a_softirq_waits_for_it() -> None:
    made = (
        MadeTrace()
        .asleep()
        .add(500, "local_timer_entry", HARD, a=236)
        .add(1_000, "local_timer_exit", HARD, a=236)
    )
    made.switch(20_000, KSOFTIRQD, 0).add(20_100, "softirq_entry", SOFT, a=8)
    made.add(20_200, "hrtimer_expire_entry", SOFT, a=1, c=HRTIMER_WAKEUP).waking(20_300, flags=SOFT)
    made.add(20_400, "hrtimer_expire_exit", SOFT, a=1).add(20_500, "softirq_exit", SOFT, a=8)
    found = made.switch(21_000, OWN, 0).explained(21_500, RT)
    assert found.largest.key == (Cause.SOFTIRQ, "HRTIMER") and found.largest.why is Why.SOFT_TIMER
    assert found.ns_of(Cause.TIMER_IRQ) == 500


def test_nmis_are_cut_out_of_what_they_interrupt() -> None:
    made = usual(MadeTrace().asleep()).add(20_000, "nmi_handler", 0x40, a=TICK, b=5_000, c=1)
    found = made.explained(30_000)
    assert brief(found.parts)[-3:] == [
        (Cause.RETURN, 2_000, 13_000),
        (Cause.NMI, 15_000, 5_000),
        (Cause.RETURN, 20_000, 10_000),
    ]


def test_preemption_that_was_off_is_seen_in_the_count_of_what_was_interrupted() -> None:
    for context in ({"preempt": 1}, {"flags": BH_OFF_FLAG}):
        largest = held(**context).explained(91_000).largest
        assert (largest.cause, largest.why, largest.ns) == (Cause.NOT_PREEMPTIBLE, Why.PREEMPTION_OFF, 88_600)


@pytest.mark.parametrize("model", ["none", "voluntary"])
def test_a_kernel_that_does_not_preempt_there(model: str) -> None:
    largest = held().explained(91_000, replace(LAB, preemption=model)).largest
    assert (largest.cause, largest.why) == (Cause.NOT_PREEMPTIBLE, Why.NO_KERNEL_PREEMPTION)


@pytest.mark.parametrize(
    ("facts", "cause"), [(LAB, Cause.UNKNOWN), (METAL, Cause.UNKNOWN), (CLOUD, Cause.GAP)]
)
def test_a_preemptible_kernel_that_does_not_switch_at_once(facts: MachineFacts, cause: Cause) -> None:
    assert held().explained(91_000, facts).largest.cause is cause


def test_a_task_whose_switch_is_not_recorded_has_the_priority_that_it_has_elsewhere() -> None:
    made = MadeTrace().switch(-150_000, OWN).asleep().timer(500, 900, 1_400, preempt=1)
    made.current = OWN
    largest = made.switch(90_000, LOAD, 1).explained(80_000).largest
    assert (largest.cause, largest.why) == (Cause.NOT_PREEMPTIBLE, Why.PREEMPTION_OFF)


@pytest.mark.parametrize("task", [URGENT, EQUAL])
def test_a_task_of_higher_or_equal_priority_ran_instead(task: object) -> None:
    assert isinstance(task, type(OWN))
    made = MadeTrace().asleep().timer(500, 900, 1_400).switch(2_000, task, 0).switch(50_000, OWN, 1)
    assert made.explained(51_000).largest.key == (Cause.HIGHER_TASK, task.name)
    made = MadeTrace().asleep(to=task).timer(500, 900, 1_400).switch(50_000, OWN, 1)
    assert made.explained(51_000).largest.key == (Cause.HIGHER_TASK, task.name)


@pytest.mark.parametrize("task", [LOAD, IDLE])
def test_a_lower_task_that_was_chosen_though_ours_could_run_means_throttling(task: object) -> None:
    assert isinstance(task, type(OWN))
    made = usual(MadeTrace().asleep()).switch(3_000, task, 0x100).switch(50_000, OWN, 0)
    found = made.explained(51_000)
    assert found.largest.key == (Cause.THROTTLED, task.name) and found.ns_of(Cause.THROTTLED) == 47_000


def test_a_fair_task_of_ours_takes_turns() -> None:
    own = replace(OWN, prio=120)
    made = MadeTrace().asleep().timer(500, 900, 1_400).switch(50_000, own, 0)
    cell = made.cell(51_000)
    found = explain_cases(replace(cell, threads={0: own}), LAB)[0]
    assert found.largest.key == (Cause.HIGHER_TASK, LOAD.name)


@pytest.mark.parametrize("current", [LOAD, IDLE])
@pytest.mark.parametrize("prio", [19, 120])
def test_the_timer_slack_of_an_ordinary_task_is_no_late_interrupt(current: TracedTask, prio: int) -> None:
    own = replace(OWN, prio=prio)
    made = MadeTrace().asleep(to=current).timer(61_000, 61_400, 62_000).switch(62_600, own, 0)
    cell = made.cell(63_000)
    facts = replace(CLOUD, timer_slack_ns=50_000)
    found = explain_cases(replace(cell, threads={0: own}), facts)[0]
    assert found.ns_of(Cause.TIMER_SLACK) == (50_000 if prio == 120 else 0)
    late = found.ns_of(Cause.IRQ_LATE_OR_GAP) + found.ns_of(Cause.GAP) + found.ns_of(Cause.IDLE)
    assert late == (11_000 if prio == 120 else 61_000)


def test_our_own_task_was_still_busy_at_the_release() -> None:
    made = MadeTrace(OWN).add(-50_000, "sched_wakeup", 0, a=LOAD.pid, b=120, c=1)
    assert brief(made.explained(40_000).parts) == [(Cause.OWN_LATE, 0, 40_000)]


def test_a_task_that_waits_for_a_lock_is_blocked_until_another_wakes_it() -> None:
    made = usual(MadeTrace().asleep()).switch(3_000, LOAD, 2).waking(40_000, flags=0)
    found = made.switch(41_000, OWN, 0).explained(42_000)
    blocked = found.largest
    assert (blocked.cause, blocked.ns) == (Cause.BLOCKED, 37_000)
    assert blocked.task is not None and blocked.task.name == LOAD.name


def test_a_task_that_was_not_woken_by_its_timer_was_blocked() -> None:
    made = MadeTrace().asleep().waking(40_000, flags=0).switch(41_000, OWN, 0)
    assert made.explained(42_000).largest.cause is Cause.BLOCKED


@pytest.mark.parametrize("first", [3_000, -50_000])
@pytest.mark.parametrize(
    ("kind", "number", "name", "flags"), [("irq_handler", 9, "acpi", HARD), ("softirq", 4, "BLOCK", SOFT)]
)
def test_a_task_that_waits_for_a_device_is_blocked_until_its_interrupt(
    first: int, kind: str, number: int, name: str, flags: int
) -> None:
    """Whether it began to wait before the release, in the work of the one before, or after it."""
    made = usual(MadeTrace().asleep()) if first > 0 else MadeTrace(OWN)
    made.switch(first, LOAD, 2).add(39_000, f"{kind}_entry", flags, a=number).waking(40_000, flags=flags)
    made.add(40_500, f"{kind}_exit", flags, a=number).switch(41_000, OWN, 0)
    found = made.explained(42_000)
    assert found.largest.key == (Cause.BLOCKED, name) and found.largest.task is None
    assert found.ns_of(Cause.BLOCKED) == 40_000 - max(first, 0)
    assert found.ns_of(Cause.IRQ_LATE) == 0


def test_a_task_that_another_one_wakes_from_another_cpu_was_blocked() -> None:
    made = MadeTrace(OWN).switch(-50_000, LOAD, 2)
    made.current = PEER
    made.on(0).waking(40_000, flags=0, target=1)
    made.current = LOAD
    found = made.on(1).switch(41_000, OWN, 0).explained(42_000)
    assert found.largest.key == (Cause.BLOCKED, PEER.name) and found.largest.ns == 40_000


def test_a_wake_up_in_another_cpus_idle_task_is_no_other_task_that_was_waited_for() -> None:
    """What woke it there was not recorded."""
    made = MadeTrace(OWN).switch(-50_000, LOAD, 1)
    made.current = IDLE
    made.on(0).waking(40_000, flags=0, target=1)
    made.current = LOAD
    found = made.on(1).switch(41_000, OWN, 0).explained(42_000)
    assert found.ns_of(Cause.BLOCKED) == 0
    assert (found.largest.cause, found.largest.why, found.largest.ns) == (
        Cause.UNKNOWN,
        Why.NOT_WOKEN,
        40_000,
    )


@pytest.mark.parametrize(
    ("prio", "cause"), [(4, Cause.HIGHER_TASK), (OWN.prio, Cause.UNKNOWN), (120, Cause.UNKNOWN)]
)
def test_a_task_above_it_is_in_the_way_also_of_one_whose_wake_up_came_before_all_events(
    prio: int, cause: Cause
) -> None:
    """As of the first release, where something has the CPU since before the recording."""
    other = TracedTask(77, "other", prio)
    made = MadeTrace(other)
    found = made.switch(41_000, OWN, 0).explained(42_000)
    assert (found.largest.cause, found.largest.ns) == (cause, 41_000)


def test_a_timer_for_which_the_task_waits_after_its_release_is_named() -> None:
    made = usual(MadeTrace().asleep()).switch(3_000, LOAD, 1).timer(40_000, 40_400, 41_000)
    found = made.switch(41_500, OWN, 0).explained(42_000)
    assert found.largest.key == (Cause.BLOCKED, "hrtimer_wakeup") and found.largest.task is None


@pytest.mark.parametrize("state", [4, 8])
def test_a_stopped_task(state: int) -> None:
    made = MadeTrace(OWN).switch(-50_000, LOAD, state).waking(40_000, flags=0).switch(41_000, OWN, 0)
    assert made.explained(42_000).largest.cause is Cause.STOPPED
    assert made.explained(42_000).ns_of(Cause.STOPPED) == 40_000


@pytest.mark.parametrize(
    ("preemption", "why"),
    [("voluntary", Why.NO_KERNEL_PREEMPTION), ("lazy", Why.NO_EVENT), ("", None)],
)
def test_that_a_kernel_does_not_preempt_itself_is_said_of_those_alone_that_do_not(
    preemption: str, why: Why | None
) -> None:
    """A lazy kernel preempts itself for a real-time task; of an unknown one nothing is said."""
    largest = held().explained(90_600, replace(LAB, preemption=preemption)).largest
    assert largest.why is why
    assert (largest.cause is Cause.NOT_PREEMPTIBLE) is (preemption != "lazy")


@pytest.mark.parametrize(
    ("facts", "after", "cause"),
    [
        (METAL, 100_000, Cause.IDLE),
        (CLOUD, 100_000, Cause.GAP),
        (CLOUD, IDLE_NS, Cause.IDLE),
        (replace(CLOUD, idle_exit_ns={2: 80_000}), 100_000, Cause.IDLE),
        (LAB, 100_000, Cause.IDLE),
    ],
)
def test_idle_far_later_than_its_state_explains_is_a_gap(
    facts: MachineFacts, after: int, cause: Cause
) -> None:
    made = (
        MadeTrace().asleep(to=IDLE).add(-90_000, "cpu_idle", a=2, b=1).timer(after, after + 400, after + 900)
    )
    made.add(after + 1_000, "cpu_idle", a=-1, b=1).switch(after + 2_000, OWN, 0)
    found = made.explained(after + 2_500, facts)
    assert (found.parts[0].cause, found.parts[0].ns, found.parts[0].state) == (cause, after, 2)
    assert found.ns_of(Cause.SWITCH) == 1_000


def test_the_idle_loop_with_interrupts_off_is_in_no_idle_state() -> None:
    made = MadeTrace().asleep(to=IDLE).add(-90_000, "cpu_idle", a=2, b=1).add(-10, "cpu_idle", a=-1, b=1)
    first = made.timer(5_000, 5_400, 6_000).switch(7_000, OWN, 0).explained(7_500).parts[0]
    assert (first.cause, first.state) == (Cause.IDLE, None)


def test_events_that_were_lost_make_their_stretch_unknown() -> None:
    made = MadeTrace().asleep().add(400, "sched_wakeup", a=LOAD.pid, b=120, c=1).add(60_000, "lost", a=500)
    made.add(60_100, "irq_handler_entry", HARD, a=9).add(60_200, "irq_handler_exit", HARD, a=9)
    made.switch(61_000, OWN, 0)
    found = made.explained(62_000)
    assert (found.largest.cause, found.largest.why) == (Cause.UNKNOWN, Why.LOST)
    assert found.parts[-1].cause is Cause.RETURN


def test_after_a_loss_the_task_may_have_become_anything() -> None:
    """It was woken, and the switch to it was lost; its next event shows that it has the CPU."""
    made = MadeTrace().asleep().timer(500, 900, 1_400).add(20_000, "lost", a=500)
    made.current = OWN
    made.add(25_000, "irq_handler_entry", HARD, a=9).add(25_500, "irq_handler_exit", HARD, a=9)
    found = made.explained(30_000)
    assert found.ns_of(Cause.HIGHER_TASK) == found.ns_of(Cause.NOT_PREEMPTIBLE) == 0
    assert found.ns_of(Cause.UNKNOWN) == 25_000 - 1_400
    assert (found.ns_of(Cause.IRQ), found.ns_of(Cause.RETURN)) == (500, 4_500)


@pytest.mark.parametrize("state", [2, 4])
def test_a_sleep_in_which_events_were_lost_is_not_one_sleep(state: int) -> None:
    made = usual(MadeTrace().asleep()).switch(3_000, LOAD, state).add(30_000, "lost", a=500)
    found = made.waking(40_000, flags=0).switch(41_000, OWN, 0).explained(42_000)
    assert found.ns_of(Cause.BLOCKED) == found.ns_of(Cause.STOPPED) == 0
    assert (found.largest.cause, found.largest.why) == (Cause.UNKNOWN, Why.LOST)


def test_a_beginning_that_was_overwritten_is_unknown() -> None:
    made = usual(MadeTrace().asleep(-50))
    cell = made.cell(2_600)
    case = replace(cell.cases[0], from_ns=RELEASE_NS + 300, state=1)
    found = explain_cases(replace(cell, cases=(case,)), LAB)[0]
    assert found.parts[0] == CausePart(Cause.UNKNOWN, 0, 300, why=Why.OVERWRITTEN)


def test_nothing_kept_is_unknown_altogether() -> None:
    cell = usual(MadeTrace().asleep()).cell(2_600, state=NOTHING_KEPT)
    assert brief(explain_cases(cell, LAB)[0].parts) == [(Cause.UNKNOWN, 0, 2_600)]


@pytest.mark.parametrize("count", [2, 5])
def test_a_stack_tells_what_the_timer_interrupted(count: int) -> None:
    made = MadeTrace().asleep().add(500, "local_timer_entry", HARD, 1, a=236)
    made.stack(500, range(0x3000, 0x3000 + count)).add(
        899, "hrtimer_expire_entry", HARD, 1, a=1, c=HRTIMER_WAKEUP
    )
    made.waking(900).add(901, "hrtimer_expire_exit", HARD, 1, a=1).add(
        1_400, "local_timer_exit", HARD, 1, a=236
    )
    made.stack(1_450, (HRTIMER_WAKEUP, 0x3001, TICK))
    found = made.switch(90_000, OWN, 0).explained(91_000)
    assert (found.largest.cause, found.largest.function) == (
        Cause.NOT_PREEMPTIBLE,
        "free_pages" if count == 5 else "",
    )
    assert {part.function for part in found.parts if part.cause is not Cause.NOT_PREEMPTIBLE} == {""}
    assert {part.callers for part in found.parts if part.cause is not Cause.NOT_PREEMPTIBLE} == {()}


def test_a_stack_tells_the_callers_of_what_the_timer_interrupted() -> None:
    made = MadeTrace().asleep().add(50_000, "local_timer_entry", HARD, 1, a=236)
    made.stack(50_000).timer(50_100, 50_400, 51_000).switch(51_600, OWN, 0)
    late = made.explained(52_000).parts[0]
    assert (late.cause, late.function, late.callers) == (Cause.IRQ_LATE, STACK[3], STACK[4:])
    chain = STACK[3:]
    more = [] if len(chain) <= MOST_CALLERS + 1 else ["..."]
    assert text_of(part_text(late)).endswith(f"in {' < '.join([*chain[: MOST_CALLERS + 1], *more])}")
    shown = text_of(part_text(replace(late, callers=tuple("abcdefg"))))
    assert shown.endswith(f"{STACK[3]} < a < b < c < ...")
