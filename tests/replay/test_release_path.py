"""What one release and its holder executed, from slices of calls made by hand, and the eps that pairs show."""

from collections.abc import Sequence

import pytest

from howlate.model.cause import Cause
from howlate.prove.landscape import Goal, Probed, ReleaseWindow, Search, unlike
from howlate.prove.proof import Eps, eps_of
from howlate.replay.call_stacks import Call, Task
from howlate.replay.execution import INTERRUPT
from howlate.replay.lateness import Slice
from howlate.replay.release_path import Interruption, ReleasePath, path_of

TASK = Task(0)
ENTRY = "asm_sysvec_apic_timer_interrupt"


def call(*names: str) -> Call:
    """Outermost first; the entry of an interrupt is one."""
    made: Call | None = None
    for name in names:
        made = Call(name, made, TASK, INTERRUPT if name == ENTRY else "")
    assert made is not None
    return made


def path(*pieces: tuple[Cause, int, Sequence[str]]) -> ReleasePath:
    slices, from_ns = [], 0
    for cause, ns, names in pieces:
        slices.append(Slice(cause, None, from_ns, ns, call(*names)))
        from_ns += ns
    made = path_of(slices)
    assert made.held_ns + made.own_ns + sum(one.ns for one in made.interruptions) == from_ns
    return made


WAKE_UP = (ENTRY, "hrtimer_interrupt", "__hrtimer_run_queues", "hrtimer_wakeup", "try_to_wake_up")
TICK = (ENTRY, "hrtimer_interrupt", "__hrtimer_run_queues", "tick_sched_timer", "update_process_times")
AFTERWARDS = ((Cause.SWITCH, 30, ("work", "__schedule")), (Cause.RETURN, 7, ("__schedule",)))


def test_the_time_is_the_holders_the_releases_own_and_that_of_what_came_between() -> None:
    made = path(
        (Cause.IRQ_LATE, 50, ("work", "lock")),
        (Cause.TIMER_IRQ, 20, ("work", *WAKE_UP)),
        (Cause.NOT_PREEMPTIBLE, 100, ("work",)),
        (Cause.TIMER_IRQ, 5, ("work", ENTRY)),
        (Cause.TIMER_IRQ, 12, ("work", *TICK)),
        (Cause.NOT_PREEMPTIBLE, 8, ("work", ENTRY, "__do_softirq", "rcu_core_si", "rcu_core")),
        (Cause.NOT_PREEMPTIBLE, 10, ("work",)),
        *AFTERWARDS,
    )
    assert (made.held_ns, made.own_ns, made.holder) == (160, 57, "work")
    tick, softirq = made.interruptions
    assert (tick.name, tick.ns, tick.from_ns, tick.to_ns) == ("tick_sched_timer", 17, 170, 187)
    assert (softirq.name, softirq.ns) == ("rcu_core_si", 8)


def test_a_tick_in_the_interrupt_of_the_release_is_told_from_the_rest_of_it() -> None:
    merged = path(
        (Cause.TIMER_IRQ, 20, ("work", *WAKE_UP)), (Cause.TIMER_IRQ, 12, ("work", *TICK)), *AFTERWARDS
    )
    assert (merged.own_ns, [(one.name, one.ns) for one in merged.interruptions]) == (
        57,
        [("tick_sched_timer", 12)],
    )
    assert merged.holder == "__schedule"


QUEUES = WAKE_UP[:3]
OTHERS = (*WAKE_UP, "enqueue_task_fair")
OWN = (*WAKE_UP, "enqueue_task_rt")


@pytest.mark.parametrize("first", [OTHERS, OWN])
def test_a_timer_that_wakes_another_task_is_an_interruption_in_the_interrupt_of_the_release(
    first: tuple[str, ...],
) -> None:
    """Whichever is due first."""
    second = OWN if first is OTHERS else OTHERS
    both = path(
        (Cause.TIMER_IRQ, 20, ("work", *first)),
        (Cause.TIMER_IRQ, 1, ("work", *QUEUES)),
        (Cause.TIMER_IRQ, 20, ("work", *second)),
        (Cause.NOT_PREEMPTIBLE, 100, ("work",)),
        *AFTERWARDS,
    )
    assert (both.own_ns, [(one.name, one.ns) for one in both.interruptions]) == (58, [("hrtimer_wakeup", 20)])


def test_a_later_timer_that_wakes_another_real_time_task_makes_two_releases_unlike() -> None:
    """A release has one timer."""
    alone = path((Cause.TIMER_IRQ, 20, ("work", *OWN)), (Cause.NOT_PREEMPTIBLE, 500, ("work",)), *AFTERWARDS)
    beside = path(
        (Cause.TIMER_IRQ, 20, ("work", *OWN)),
        (Cause.NOT_PREEMPTIBLE, 400, ("work",)),
        (Cause.TIMER_IRQ, 5, ("work", ENTRY)),
        (Cause.TIMER_IRQ, 30, ("work", *OWN)),
        (Cause.NOT_PREEMPTIBLE, 100, ("work",)),
        *AFTERWARDS,
    )
    assert (beside.own_ns, [(one.name, one.ns) for one in beside.interruptions]) == (
        57,
        [("hrtimer_wakeup", 35)],
    )
    assert unlike(Probed(0, 592, beside), Probed(100, 557, alone))


def test_another_task_is_an_interruption_by_its_outermost_function() -> None:
    made = path(
        (Cause.TIMER_IRQ, 20, ("work", *WAKE_UP)),
        (Cause.HIGHER_TASK, 40, ("run_ktimerd", "handle")),
        *AFTERWARDS,
    )
    assert [(one.name, one.ns) for one in made.interruptions] == [("run_ktimerd", 40)]


def test_what_is_cleaned_up_after_a_switch_is_the_holders_also_where_the_task_was_preempted_in_an_interrupt() -> (
    None
):
    """Else one release that waits for 229 us of freed pages makes eps so large."""
    preempted = ("work", ENTRY, "preempt_schedule_irq", "__schedule", "finish_task_switch.isra.0", "__mmdrop")
    made = path(
        (Cause.TIMER_IRQ, 20, ("work", *WAKE_UP)), (Cause.NOT_PREEMPTIBLE, 229_000, preempted), *AFTERWARDS
    )
    assert (made.held_ns, made.own_ns, made.interruptions) == (229_000, 57, ())
    short = Probed(500_000, 157, path((Cause.TIMER_IRQ, 20, ("work", *WAKE_UP)), *AFTERWARDS))
    assert eps_of([[Probed(0, 229_057, made), short]]).own_ns == 0


def probed(at_ns: int, held_ns: int, own_ns: int, *came: Interruption) -> Probed:
    latency_ns = held_ns + own_ns + sum(one.ns for one in came)
    return Probed(at_ns, latency_ns, ReleasePath(held_ns, own_ns, came, "work"))


def tick(from_ns: int, ns: int) -> Interruption:
    return Interruption("tick", from_ns, from_ns + ns, ns)


def test_eps_is_the_sum_of_what_own_paths_interruptions_and_holders_differ_by() -> None:
    """The first is released 100 before the second, which waits for the same; the third, elsewhere, has the shortest
    own path, and a tick that took less."""
    one, later = probed(0, 505, 40, tick(200, 15)), probed(100, 400, 30, tick(120, 12))
    elsewhere = probed(5_000, 100, 25, tick(20, 10))
    assert eps_of([[one, later, elsewhere]]) == Eps(own_ns=15, interruptions_ns=5, held_ns=5)
    assert one.start_ns - later.start_ns <= eps_of([[one, later, elsewhere]]).total_ns
    assert eps_of([[one], [later, elsewhere]]).held_ns == 0  # of two forks
    assert eps_of([[Probed(0, 10)]]) == Eps()
    assert eps_of([[Probed(0, 10)]], ticks_ns=48).total_ns == 48


def test_eps_has_what_interruptions_differ_by_also_where_no_two_probes_waited_together() -> None:
    """The release between them that waits with the later one may have had the longer tick."""
    apart = [probed(0, 300, 10, tick(200, 1_000)), probed(100_000, 300, 10, tick(200, 3_000))]
    assert eps_of([apart]) == Eps(interruptions_ns=2_000)


def test_neighbours_that_were_interrupted_differently_are_unlike_until_one_is_served() -> None:
    one = probed(0, 500, 30, tick(50, 10), tick(200, 10))
    same, other = probed(100, 400, 30, tick(100, 10)), probed(100, 400, 30)
    assert not unlike(one, same)  # the first tick was over before the second release
    assert unlike(one, other)
    assert not unlike(probed(0, 50, 30, tick(10, 5)), other)  # it was served before the other came
    assert not unlike(Probed(0, 900), other)  # nothing is known of it


def test_a_stretch_between_unlike_neighbours_is_divided_to_the_last_instant() -> None:
    """A softirq comes in releases up to 700, and in none after: no two neighbours are unlike but 700 and 701."""

    def at(at_ns: int) -> Probed:
        return probed(
            at_ns, 2_000 - at_ns, 30, *([Interruption("softirq", 2, 9_000, 5)] if at_ns <= 700 else [])
        )

    search = Search(ReleaseWindow(0, 1_000), Goal(within=0.5), 10)
    while not search.is_over:
        for at_ns in search.propose():
            search.add(at(at_ns))
    instants = [probe.at_ns for probe in search.probes]
    assert 700 in instants and 701 in instants
    assert not search.open_stretches()
    assert len(instants) < 25
