"""Delays of known size against what explanations say: every outcome by hand, and properties of all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.model.cause import Cause, CausePart, ExplainedCase
from howlate.model.trace import NOTHING_KEPT, TraceCase
from howlate.why.calibrate import calibration
from howlate.why.calibrate.calibration import KindResult, Undisturbed, judged, undisturbed
from howlate.why.calibrate.injected import InjectedCell, MadeDelay, Window

CALM = Undisturbed(1000, 4_000, 6_000, 2_000)
PERIOD_NS = 1_000_000


def window(release: int, latency_ns: int, cpu: int = 1, thread: int = 0) -> Window:
    return Window(thread, cpu, release, release * PERIOD_NS, latency_ns)


def delay(
    begin_ns: int, end_ns: int, cpu: int = 1, *, is_as_wanted: bool = True, uncertainty_ns: int = 0
) -> MadeDelay:
    return MadeDelay(begin_ns, end_ns, end_ns - begin_ns, cpu, 0, is_as_wanted, uncertainty_ns)


def explained(one: Window, *parts: tuple[Cause, int], state: int = 0) -> ExplainedCase:
    """A case whose parts follow each other from the release on."""
    made: list[CausePart] = []
    for cause, ns in parts:
        made.append(CausePart(cause, sum(part.ns for part in made), ns))
    assert sum(part.ns for part in made) == one.latency_ns
    case = TraceCase(one.thread, one.release, one.release_ns, one.latency_ns, 0, 0, state)
    return ExplainedCase(case, tuple(made))


def result(
    kind: str,
    windows: list[Window],
    delays: list[MadeDelay],
    cases: list[ExplainedCase],
    round_ns: int = 0,
    *,
    excludes_gaps: bool = True,
) -> KindResult:
    cell = InjectedCell("cell", "6.1-rt", kind, tuple(windows), tuple(delays))
    return judged(cell, cases, CALM, 20_000, round_ns, excludes_gaps=excludes_gaps)


def test_a_delay_is_found_with_its_size_and_its_cause() -> None:
    late = window(3, 104_000)
    case = explained(late, (Cause.IRQ_LATE, 100_300), (Cause.TIMER_IRQ, 2_000), (Cause.SWITCH, 1_700))
    found = result("irqs-off", [window(2, 4_000), late], [delay(2_900_000, 3_100_000)], [case])
    assert (found.injected, found.hit, found.unusual, found.right) == (1, 1, 1, 1)
    assert found.errors_ns == (300,) and found.size_limit_ns == 3_000
    assert found.delays_here and found.keeps_limits
    task = result("fifo-task", [window(2, 4_000), late], [delay(2_900_000, 3_100_000)], [case])
    assert task.size_limit_ns == 5_000  # a process's delay ends a switch after its last reading of the clock


def test_interrupts_and_the_cost_of_recording_within_a_delay_belong_to_it() -> None:
    late = window(3, 130_000)
    case = explained(
        late,
        (Cause.TIMER_IRQ, 2_500),
        (Cause.OWN_COST, 1_500),
        (Cause.NOT_PREEMPTIBLE, 60_000),
        (Cause.IRQ, 20_000),
        (Cause.OWN_COST, 1_000),
        (Cause.NOT_PREEMPTIBLE, 40_000),
        (Cause.OWN_COST, 1_000),
        (Cause.RETURN, 4_000),
    )
    found = result("preempt-off", [late], [delay(2_990_000, 3_125_500)], [case])
    assert found.right == 1 and found.errors_ns == (500,)


def test_the_size_is_compared_where_a_delay_goes_on_at_the_release() -> None:
    late = window(3, 104_000)
    case = explained(late, (Cause.TIMER_IRQ, 2_000), (Cause.HIGHER_TASK, 100_000), (Cause.SWITCH, 2_000))
    found = result("fifo-task", [late], [delay(3_005_000, 3_100_000)], [case])
    assert (found.right, found.errors_ns) == (1, ())
    assert not found.keeps_limits and found.error_ns_max is found.error_ns_median is None  # nothing was tried


def test_another_cause_is_wrong_whatever_its_size() -> None:
    late = window(3, 104_000)
    case = explained(late, (Cause.NOT_PREEMPTIBLE, 100_000), (Cause.SWITCH, 4_000))
    found = result("irqs-off", [late], [delay(2_900_000, 3_100_000)], [case])
    assert (found.unusual, found.right, found.wrong) == (1, 0, ((Cause.NOT_PREEMPTIBLE, 1),))
    assert not found.keeps_limits


def test_a_task_that_goes_into_a_stop_by_itself_has_the_cpu_until_it_is_stopped() -> None:
    late = window(3, 54_000)
    parts = ((Cause.OWN_LATE, 30_000), (Cause.STOPPED, 20_000), (Cause.SWITCH, 4_000))
    found = result("stopped", [late], [delay(2_990_000, 3_050_000)], [explained(late, *parts)])
    assert found.right == 1 and found.errors_ns == (0,)
    reverse = explained(late, parts[1], parts[0], parts[2])
    assert result("stopped", [late], [delay(2_990_000, 3_050_000)], [reverse]).wrong == ((Cause.OWN_LATE, 1),)


def test_what_shows_nothing_out_of_the_ordinary_was_not_found() -> None:
    late = window(3, 104_000)
    case = explained(late, (Cause.TIMER_IRQ, 60_000), (Cause.IRQ_LATE, 40_000), (Cause.SWITCH, 4_000))
    found = result("irqs-off", [late], [delay(2_900_000, 3_100_000)], [case])
    assert (found.hit, found.unusual, found.unseen) == (1, 0, 1) and not found.keeps_limits


@pytest.mark.parametrize("kept", [False, True])
def test_what_was_not_kept_is_lost(kept: bool) -> None:
    late = window(3, 104_000)
    empty = explained(late, (Cause.UNKNOWN, 104_000), state=NOTHING_KEPT)
    found = result("irqs-off", [late], [delay(2_900_000, 3_100_000)], [empty] if kept else [])
    assert (found.hit, found.lost, found.unusual) == (1, 1, 0) and not found.keeps_limits


def test_a_delay_may_meet_no_sample_or_be_over_before_it_makes_one_late() -> None:
    windows = [window(2, 4_000), window(3, 4_000), window(4, 9_000)]
    delays = [
        delay(2_400_000, 2_500_000),  # between two
        delay(2_999_000, 3_000_500),  # too short to tell
        delay(3_900_000, 4_100_000, is_as_wanted=False),
        delay(3_900_000, 4_100_000, cpu=0),  # where nothing measures
    ]
    found = result("irqs-off", windows, delays, [])
    assert (found.injected, found.away, found.short, found.unwanted, found.hit) == (4, 2, 1, 1, 0)
    assert not found.keeps_limits  # nothing was tried


def test_a_kind_for_which_the_task_never_waits_does_not_delay_here() -> None:
    windows = [window(number, 5_000 + number) for number in range(1, 101)]
    delays = [
        delay(one.release_ns - 50_000, one.release_ns + 100_000 - 100_000 * (one.release == 7))
        for one in windows
    ]
    found = result("softirq", windows, delays, [])
    assert found.passed == 99 and found.hit == 0
    assert not found.delays_here and found.keeps_limits and found.passed_ns_max == 5_100


def test_one_in_a_hundred_may_have_another_name_and_one_in_fifty_may_not() -> None:
    windows = [window(number, 104_000) for number in range(1, 101)]
    delays = [delay(one.release_ns - 1_000, one.release_ns + 100_000) for one in windows]

    def with_wrong(count: int) -> KindResult:
        causes = [Cause.IPI] * count + [Cause.SOFTIRQ] * (100 - count)
        cases = [
            explained(one, (cause, 100_000), (Cause.SWITCH, 4_000))
            for one, cause in zip(windows, causes, strict=True)
        ]
        return result("softirq", windows, delays, cases)

    assert with_wrong(1).keeps_limits and not with_wrong(2).keeps_limits


def irqs_off(right: int, undecided: int, wrong: int, *, excludes_gaps: bool) -> KindResult:
    """Delays with interrupts off, of which so many are named so."""
    causes = [Cause.IRQ_LATE] * right + [Cause.IRQ_LATE_OR_GAP] * undecided + [Cause.NOT_PREEMPTIBLE] * wrong
    windows = [window(number, 104_000) for number in range(1, len(causes) + 1)]
    delays = [delay(one.release_ns - 1_000, one.release_ns + 100_000) for one in windows]
    cases = [
        explained(one, (cause, 100_300), (Cause.SWITCH, 3_700))
        for one, cause in zip(windows, causes, strict=True)
    ]
    return result("irqs-off", windows, delays, cases, excludes_gaps=excludes_gaps)


def test_a_cause_that_leaves_open_who_had_the_cpu_is_right_only_where_that_is_open() -> None:
    lab, cloud = (irqs_off(0, 10, 0, excludes_gaps=excludes) for excludes in (True, False))
    assert (lab.right, lab.undecided, lab.wrong) == (0, 0, ((Cause.IRQ_LATE_OR_GAP, 10),))
    assert lab.unusual == 10 and not lab.keeps_limits
    assert (cloud.right, cloud.undecided, cloud.wrong) == (0, 10, ()) and cloud.unusual == 10
    assert cloud.errors_ns == (300,) * 10 and cloud.keeps_limits and cloud.rests_on_possible


@pytest.mark.parametrize(
    ("right", "undecided", "wrong", "keeps", "rests"),
    [(100, 0, 0, True, False), (99, 1, 0, True, False), (98, 1, 1, True, True), (98, 0, 2, False, False)],
)
def test_the_limit_says_on_which_causes_it_rests(
    right: int, undecided: int, wrong: int, keeps: bool, rests: bool
) -> None:
    found = irqs_off(right, undecided, wrong, excludes_gaps=False)
    assert (found.keeps_limits, found.rests_on_possible) == (keeps, rests)


def test_no_other_kind_of_delay_may_be_undecided() -> None:
    late = window(3, 104_000)
    case = explained(late, (Cause.IRQ_LATE_OR_GAP, 100_000), (Cause.SWITCH, 4_000))
    found = result("hard-irq", [late], [delay(2_900_000, 3_100_000)], [case], excludes_gaps=False)
    assert (found.undecided, found.wrong) == (0, ((Cause.IRQ_LATE_OR_GAP, 1),))


def test_on_several_cpus_a_round_of_turns_is_allowed_for() -> None:
    late = window(3, 115_000)
    case = explained(late, (Cause.HIGHER_TASK, 111_000), (Cause.SWITCH, 4_000))
    one = [delay(2_900_000, 3_100_000)]
    assert not result("fifo-task", [late], one, [case]).keeps_limits
    assert result("fifo-task", [late], one, [case], round_ns=10_000).keeps_limits


def stopped_until(*ends: tuple[int, int], round_ns: int = 10_000) -> KindResult:
    """Delays that are shown with 100 us; of each, its size and the uncertainty of its end."""
    windows = [window(number, 104_000) for number in range(1, len(ends) + 1)]
    delays = [
        delay(one.release_ns - 20_000, one.release_ns + size_ns, uncertainty_ns=uncertainty_ns)
        for one, (size_ns, uncertainty_ns) in zip(windows, ends, strict=True)
    ]
    cases = [explained(one, (Cause.STOPPED, 100_000), (Cause.SWITCH, 4_000)) for one in windows]
    return result("stopped", windows, delays, cases, round_ns)


@pytest.mark.parametrize(
    ("error_ns", "uncertainty_ns", "keeps", "within"),
    [
        (13_000, 0, True, 0),
        (13_001, 0, False, 0),
        (13_001, 1, True, 1),
        (20_000, 7_000, True, 1),
        (20_001, 7_000, False, 0),
        (23_000, 10_000, True, 1),
        (23_001, 10_000, False, 0),
    ],
)
def test_a_size_is_compared_within_the_uncertainty_of_its_own_delay(
    error_ns: int, uncertainty_ns: int, keeps: bool, within: int
) -> None:
    found = stopped_until((100_000 - error_ns, uncertainty_ns), (100_000, 2_000))
    assert found.size_limit_ns == 13_000 and found.errors_ns == (error_ns, 0)
    assert (found.keeps_limits, found.within_uncertainty) == (keeps, within)
    assert found.uncertainty_ns_max == max(uncertainty_ns, 2_000)
    assert found.excessive_errors_ns == (() if keeps else (error_ns,))


def test_the_uncertainty_of_one_delay_excuses_no_other() -> None:
    found = stopped_until((80_000, 0), (100_000, 10_000))
    assert not found.keeps_limits and found.excessive_errors_ns == (20_000,)


def test_a_delay_whose_end_is_known_within_more_than_two_rounds_is_not_measurable() -> None:
    measured, unmeasurable = stopped_until((100_000, 20_000)), stopped_until((100_000, 20_001))
    assert (measured.unusual, measured.unmeasurable) == (1, 0) and measured.uncertainty_limit_ns == 20_000
    assert (unmeasurable.hit, unmeasurable.unusual, unmeasurable.unmeasurable) == (1, 0, 1)
    assert unmeasurable.errors_ns == () and not unmeasurable.keeps_limits
    without_turns = stopped_until((100_000, 5_000), (100_000, 5_001), round_ns=0)
    assert (without_turns.unusual, without_turns.unmeasurable) == (1, 1)


@pytest.mark.parametrize(("cause", "outcome"), [(Cause.IPI, "wrong"), (Cause.SWITCH, "unseen")])
def test_a_delay_whose_size_is_not_measurable_must_be_found_and_named_all_the_same(
    cause: Cause, outcome: str
) -> None:
    late = window(1, 104_000)
    case = explained(late, (cause, 100_000), (Cause.RETURN, 4_000))
    made = [delay(late.release_ns - 20_000, late.release_ns + 100_000, uncertainty_ns=20_001)]
    found = result("stopped", [late], made, [case], 10_000)
    assert found.unmeasurable == 0 and not found.keeps_limits
    assert (len(found.wrong), found.unseen) == ((1, 0) if outcome == "wrong" else (0, 1))


@pytest.mark.parametrize(("uncertainty_ns", "is_measured"), [(5_001, True), (52_000, True), (52_001, False)])
def test_on_a_machine_an_end_need_not_be_known_better_than_the_tests_own_spread(
    uncertainty_ns: int, is_measured: bool
) -> None:
    late = window(1, 104_000)
    case = explained(late, (Cause.STOPPED, 100_000), (Cause.SWITCH, 4_000))
    made = (delay(late.release_ns - 20_000, late.release_ns + 100_000, uncertainty_ns=uncertainty_ns),)
    cell = InjectedCell("cell", "6.18", "stopped", (late,), made)
    real = Undisturbed(1000, 30_000, 60_000, 52_000, is_virtual=False)
    found = judged(cell, [case], real, 20_000)
    assert (found.right, found.unmeasurable) == ((1, 0) if is_measured else (0, 1))


def test_one_delay_in_a_hundred_may_be_unmeasurable_and_of_fewer_one() -> None:
    good, bad = (100_000, 20_000), (100_000, 20_001)
    for bads, goods, keeps in ((1, 26, True), (2, 25, False), (1, 99, True), (2, 98, False), (2, 198, True)):
        found = stopped_until(*[bad] * bads, *[good] * goods)
        assert (found.unusual, found.keeps_limits) == (goods, keeps), (bads, goods)


def test_a_delay_that_may_have_ended_before_the_time_stamp_was_not_passed() -> None:
    late = window(3, 104_000)
    case = explained(late, (Cause.STOPPED, 102_000), (Cause.SWITCH, 2_000))
    for uncertainty_ns, passed in ((0, 1), (999, 1), (1_000, 0)):
        made = [delay(2_990_000, 3_105_000, uncertainty_ns=uncertainty_ns)]
        assert result("stopped", [late], made, [case], 10_000).passed == passed


def test_late_samples_that_no_delay_met_are_told_apart() -> None:
    late = window(9, 90_000)
    case = explained(late, (Cause.PAGE_FAULT, 90_000))
    found = result("irqs-off", [window(3, 4_000), late], [delay(2_400_000, 2_500_000)], [case])
    assert found.besides == ((Cause.PAGE_FAULT, 1),)


def calm_of(causes: dict[Cause, int], *, is_virtual: bool = True, excludes_gaps: bool = True) -> Undisturbed:
    """Of 1,000 samples, of which so many take more than twice the median, with these largest causes."""
    late = [cause for cause, count in causes.items() for _ in range(count)]
    windows = [window(number, 4_000 + number % 7) for number in range(1000 - len(late))]
    windows += [window(number, 9_000) for number in range(1000, 1000 + len(late))]
    cases = [
        explained(one, (Cause.TIMER_IRQ, 4_000), (cause, 5_000))
        for one, cause in zip(windows[-len(late) :], late, strict=True)
    ]
    cell = InjectedCell("calm", "6.1", "", tuple(windows))
    return undisturbed(cell, cases if late else [], is_virtual=is_virtual, excludes_gaps=excludes_gaps)


def test_undisturbed_samples_set_the_threshold() -> None:
    calm = calm_of({Cause.TIMER_IRQ: 1})
    assert (calm.median_ns, calm.threshold_ns, calm.spread_ns) == (4_003, 9_000, 5_000)
    assert (calm.late, calm.invented) == (1, ()) and calm.keeps_limits
    # A real machine is late for reasons of its own.
    assert calm_of({Cause.TIMER_IRQ: 1}, is_virtual=False).threshold_ns == 4_006


@pytest.mark.parametrize(
    ("is_virtual", "count", "keeps"),
    [(True, 0, True), (True, 1, False), (False, 0, True), (False, 10, True), (False, 11, False)],
)
def test_no_cause_is_invented_in_virtual_time_and_on_a_machine_for_one_sample_in_a_hundred(
    is_virtual: bool, count: int, keeps: bool
) -> None:
    """Counted over all that take more than twice the median."""
    calm = calm_of({Cause.IRQ_LATE: count, Cause.TIMER_IRQ: 20}, is_virtual=is_virtual)
    assert (calm.late, calm.invented_count, calm.keeps_limits) == (20 + count, count, keeps)
    assert calm.invented == (((Cause.IRQ_LATE, count),) if count else ())


@pytest.mark.parametrize("cause", [Cause.GAP, Cause.IRQ_LATE_OR_GAP])
def test_what_may_be_the_hypervisors_is_invented_only_where_that_is_excluded(cause: Cause) -> None:
    excluded, possible = (calm_of({cause: 50}, excludes_gaps=excludes) for excludes in (True, False))
    assert excluded.invented == ((cause, 50),) and not excluded.keeps_limits
    assert (possible.invented, possible.undecided) == ((), ((cause, 50),)) and possible.keeps_limits


def test_what_is_unknown_is_not_invented_and_is_counted() -> None:
    calm = calm_of({Cause.UNKNOWN: 1})
    assert (calm.late, calm.unexplained, calm.invented) == (1, 1, ()) and not calm.keeps_limits
    for unknown, keeps in ((1, True), (3, True), (4, False)):
        here = calm_of({Cause.UNKNOWN: unknown, Cause.TIMER_IRQ: 60 - unknown}, is_virtual=False)
        assert (here.late, here.unexplained, here.keeps_limits) == (60, unknown, keeps)
    windows = (*(window(number, 4_000) for number in range(10)), window(10, 9_000))
    assert undisturbed(InjectedCell("calm", "6.1", "", windows), [], is_virtual=True).unexplained == 1


@pytest.mark.parametrize("is_virtual", [False, True])
def test_without_an_undisturbed_sample_nothing_keeps_the_limits(is_virtual: bool) -> None:
    calm = undisturbed(InjectedCell("calm", "6.1", "", ()), [], is_virtual=is_virtual)
    assert calm.samples == 0 and not calm.keeps_limits


starts = st.integers(0, 20 * PERIOD_NS)


made_delays = st.tuples(starts, st.integers(1, 400_000), st.booleans(), st.integers(0, 8_000))


@given(st.lists(made_delays, max_size=30), st.data())
def test_every_delay_has_one_outcome(made: list[tuple[int, int, bool, int]], data: st.DataObject) -> None:
    windows = [window(number, data.draw(st.integers(1, 900_000))) for number in range(20)]
    delays = [
        delay(begin, begin + ns, is_as_wanted=wanted, uncertainty_ns=uncertainty_ns)
        for begin, ns, wanted, uncertainty_ns in made
    ]
    cases = [explained(one, (Cause.BLOCKED, one.latency_ns)) for one in windows if data.draw(st.booleans())]
    found = result("lock", windows, delays, cases)
    assert (
        found.injected == len(delays) == found.unwanted + found.away + found.passed + found.short + found.hit
    )
    assert found.hit == found.unusual + found.lost + found.unseen + found.unmeasurable
    assert len(found.errors_ns) == len(found.uncertainties_ns) <= found.right <= found.unusual
    met = calibration._Met(InjectedCell("", "", "lock", tuple(windows), tuple(delays)))
    for one in delays:
        overlapping = [each for each in windows if each.overlap_ns(one) > 0]
        chosen = met.window_of(one)
        assert (chosen is None) == (not overlapping)
        assert chosen is None or chosen.overlap_ns(one) == max(each.overlap_ns(one) for each in overlapping)
