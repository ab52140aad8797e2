"""What a verdict looks at: the declared columns, each of them, the worst in the sentence; and nothing without one."""

import itertools
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.model.bins import CellBins
from howlate.model.knowledge import Knowledge
from howlate.model.summary import WATCHED, CellSummary, ColumnSummary, DeadlineSummary, JudgedColumn, OfCpu
from howlate.statistics.load_reached import NOT_LOADED
from howlate.statistics.valid import (
    ACCOUNT,
    CLOCK_SOURCE,
    CUT,
    DAMAGED,
    DROPPED,
    FAILED,
    FAULTS,
    FAULTS_NOT_LOCKED,
    STAGE_SWITCHES,
    STEAL,
    UNCHECKED,
    holds,
)
from howlate.verdict.evidence import misses_without_samples
from howlate.verdict.judge import Judged, on_own_deadlines, stated
from howlate.verdict.promise_facts import each_cpu
from howlate.verdict.promise_sentence import run_sentence, sentence
from howlate.verdict.row_statements import statements
from howlate.verdict.ruling import Question, Ruling
from howlate.words.say import english
from howlate.words.statement import Statement
from made_cells import made_cell
from made_runs import made_run
from statement_parts import parts

US = 1_000
PASS, FAIL, OPEN = Ruling.PASS, Ruling.FAIL, Ruling.INCONCLUSIVE
MADE = made_cell("none", 1)


def cell_with(columns: dict[str, int], answers: tuple[str, ...] | None, **changes: object) -> CellSummary:
    """A cell whose columns have these maxima."""
    made = MADE[0]
    base = made.columns["latency_ns"]
    return replace(
        made,
        columns={name: replace(base, max=value, min=1) for name, value in columns.items()},
        answers=answers,
        **changes,
    )


def rows_of(deadline_ns: int, *cells: CellSummary) -> Sequence[Judged]:
    """As `howlate verdict --deadline` judges them; what is later than the deadline was late once."""
    bins: CellBins = MADE[1]
    content = made_run([(cell, bins) for cell in cells])
    views = [
        replace(view, deadline=counted(view, deadline_ns))
        for cell in cells
        for view in map(cell.of_column, cell.judged)
    ]
    return on_own_deadlines(content, views, Question(deadline_ns))


def counted(view: CellSummary, deadline_ns: int) -> DeadlineSummary:
    late = int((view.columns[view.latest].max or 0) > deadline_ns)
    return misses_without_samples(view, deadline_ns) or DeadlineSummary(deadline_ns, 12_000, late)


@pytest.mark.parametrize("column", ["latency_ns", "dt_ns", "switch_ns", "round_ns", "made_up_ns"])
def test_without_a_declared_column_there_is_no_verdict(column: str) -> None:
    cell = cell_with({column: 10_000_000}, ())
    assert cell.judged == () and rows_of(US, cell) == []
    judged = replace(cell, deadline=DeadlineSummary(US, 12_000, 12_000))
    assert stated(made_run([(judged, MADE[1])])) == []


def test_of_an_older_howlate_only_the_latencies_of_a_schedule_are_judged() -> None:
    assert cell_with({"latency_ns": 1}, None).judged == ("latency_ns",)
    assert cell_with({"latency_ns": 1, "response_ns": 2}, None).judged == ("response_ns",)
    assert cell_with({"irq_latency_ns": 1, "wake_latency_ns": 2}, None).judged == ()


def test_each_declared_column_is_judged_and_the_worst_is_the_sentence() -> None:
    """The first one kept the deadline: what is later decides, whichever place it has."""
    cell = cell_with({"inner_ns": 13 * US, "outer_ns": 480 * US}, ("inner_ns", "outer_ns"))
    (row,) = rows_of(50 * US, cell)
    assert (row.verdict.outcome, row.verdict.evidence.column) == (FAIL, "outer_ns")
    assert row.verdict.evidence.max_ns == 480 * US
    assert "(outer)" in english(sentence(row.verdict))
    assert [other.evidence.column for other in row.others] == ["inner_ns"]
    assert row.others[0].outcome is not FAIL


def test_the_misses_that_a_cell_was_measured_with_are_those_of_its_latest_column() -> None:
    cell = cell_with({"inner_ns": 13 * US, "outer_ns": 480 * US}, ("inner_ns", "outer_ns"))
    cell = replace(cell, deadline=DeadlineSummary(50 * US, 12_000, 7))
    found = [misses_without_samples(view, 50 * US) for view in map(cell.of_column, cell.judged)]
    assert [None if counts is None else counts.misses for counts in found] == [0, 7]


def test_a_column_that_fewer_releases_reached_has_its_own_count() -> None:
    """rtla counts 12,000 interrupts and 100 returns to user mode: 100 releases were answered there."""
    cell = cell_with({"irq_ns": 2 * US, "user_ns": 3 * US}, ("user_ns",))
    columns = {**cell.columns, "user_ns": replace(cell.columns["user_ns"], count=100)}
    cell = replace(
        cell, columns=columns, ladder=(DeadlineSummary(US, 100, 100), DeadlineSummary(10 * US, 100))
    )
    assert misses_without_samples(cell, 50 * US) == DeadlineSummary(50 * US, 100)


def test_repetitions_whose_latest_columns_differ_are_one_row() -> None:
    made = [{"user_ns": 13 * US, "syscall_ns": 90 * US}, {"user_ns": 480 * US, "syscall_ns": 13 * US}]
    cells = [
        replace(
            cell_with(columns, ("user_ns", "syscall_ns")),
            id=f"point-0123456789-{number}",
            repetition=number,
            deadline=DeadlineSummary(500 * US, 12_000),
        )
        for number, columns in enumerate(made, 1)
    ]
    bins = MADE[1]
    (row,) = stated(made_run([(cell, bins) for cell in cells]))
    evidence = row.verdict.evidence
    assert (evidence.repetitions, evidence.deadline.releases, evidence.failed_checks) == (2, 24_000, ())
    assert (evidence.column, evidence.max_ns) == ("user_ns", 480 * US)


def test_a_column_that_is_not_declared_decides_nothing() -> None:
    """The interrupt's handler was late by more than the deadline, the task is what is asked about."""
    cell = cell_with({"irq_latency_ns": 9 * US, "wake_latency_ns": 5 * US}, ("wake_latency_ns",))
    (row,) = rows_of(7 * US, cell)
    assert row.verdict.evidence.deadline.misses == 0 and row.verdict.evidence.max_ns == 5 * US
    (row,) = rows_of(4 * US, cell)
    assert row.verdict.outcome is FAIL


CERTAIN = [
    *(NOT_LOADED(reason="x"), DROPPED(count=3), CUT(reason="x"), FAULTS(thread="x", minor=1, major=0)),
    FAULTS_NOT_LOCKED(thread="x", minor=1, major=0),
    Statement.verbatim("x took 1 minor page fault", "cell.faults-locked"),
    STAGE_SWITCHES(thread="x", count=1),
]
NOTHING = [
    *(CLOCK_SOURCE(before="tsc", after="hpet"), ACCOUNT(problem="x"), DAMAGED(reason="x"), FAILED()),
    UNCHECKED(change="x"),
]


@pytest.mark.parametrize("check", CERTAIN, ids=lambda check: check.rule)
def test_a_miss_that_was_seen_fails_in_spite_of_a_failed_check(check: Statement) -> None:
    cell = cell_with({"latency_ns": 300 * US}, ("latency_ns",), valid=False, warnings=(check,))
    (row,) = rows_of(200 * US, cell)
    assert (row.verdict.outcome, row.verdict.valid) == (FAIL, False)
    assert row.verdict.rate.upper is None and not row.verdict.stretch.bound
    assert check in statements(row.verdict)
    (kept,) = rows_of(400 * US, cell)
    assert kept.verdict.outcome is OPEN


@pytest.mark.parametrize("check", NOTHING, ids=lambda check: check.rule)
def test_nothing_is_certain_where_the_clock_the_account_or_the_file_is_in_doubt(check: Statement) -> None:
    late = cell_with({"latency_ns": 300 * US}, ("latency_ns",), valid=False, warnings=(check,))
    assert [row.verdict.outcome for row in rows_of(200 * US, late)] == [OPEN]
    both = replace(late, warnings=(DROPPED(count=1), check))
    assert [row.verdict.outcome for row in rows_of(200 * US, both)] == [OPEN]


def test_a_miss_is_certain_in_spite_of_any_set_of_checks_that_leave_it_so() -> None:
    """And of none with one that does not, or that nobody here knows, whatever its place."""
    late = cell_with({"latency_ns": 300 * US}, ("latency_ns",), valid=False)
    unknown = Statement.verbatim("a later howlate's", "cell.made-up")
    beside = STEAL(steal_ns=1, share=0.5)
    for size in (1, 2, 3):
        for checks in itertools.combinations(CERTAIN, size):
            assert holds(replace(late, warnings=(*checks, beside), failed_checks=size))
            for fatal in (*NOTHING, unknown):
                for at in range(size + 1):
                    told = (*checks[:at], fatal, *checks[at:], beside)
                    assert not holds(replace(late, warnings=told, failed_checks=size + 1))


def test_each_failed_check_of_each_repetition_is_named() -> None:
    checks = (DROPPED(count=3), CUT(reason="x"))
    cell = cell_with(
        {"latency_ns": 300 * US},
        ("latency_ns",),
        valid=False,
        warnings=(*checks, STEAL(steal_ns=1, share=0.001)),
        failed_checks=2,
    )
    (row,) = rows_of(200 * US, cell)
    assert row.verdict.rate.forbids == checks
    assert CellSummary.from_json(cell.to_json()).failed == checks


def test_an_older_summary_does_not_say_where_its_failed_checks_end() -> None:
    late = cell_with({"latency_ns": 300 * US}, ("latency_ns",), valid=False)
    assert holds(replace(late, warnings=(DROPPED(count=1), STEAL(steal_ns=1, share=0.5))))
    assert not holds(replace(late, warnings=(DROPPED(count=1), Statement.verbatim("Who knows."))))


@pytest.mark.parametrize(("miss_rate", "outcome"), [(0.0, FAIL), (1e-3, FAIL), (0.5, OPEN)])
def test_a_deadline_below_every_sample_fails_beside_steal(miss_rate: float, outcome: Ruling) -> None:
    """Above 1 % of steal nothing passes, and no bound is stated; that all were late stays true."""
    steal = STEAL(steal_ns=1, share=0.035)
    cell = cell_with({"latency_ns": 300 * US}, ("latency_ns",), warnings=(steal,))
    counts = DeadlineSummary(US, 12_000, 12_000 if miss_rate < 0.1 else 3_000, clusters=1)
    view = replace(cell, deadline=counts)
    content = made_run([(cell, MADE[1])])
    (row,) = on_own_deadlines(content, [view], Question(US, miss_rate))
    assert (row.verdict.outcome, row.verdict.valid) == (outcome, False)
    assert "confidence" not in " ".join(english(told) for told in statements(row.verdict))


def test_rows_that_could_not_be_judged_are_named_beside_one_that_fails() -> None:
    labels = MADE[0].labels
    late = cell_with({"latency_ns": 300 * US}, ("latency_ns",))
    open_ = cell_with(
        {"latency_ns": US}, ("latency_ns",), id="b-1", valid=False, warnings=(DROPPED(count=1),)
    )
    rows = rows_of(200 * US, late, replace(open_, labels={**labels, "load": "disk"}))
    told = [each.rule for each in run_sentence([row.verdict for row in rows])]
    assert told == ["verdict.run-fail", "verdict.run-inconclusive"]


def gap_cell(threshold_ns: int | None, largest_ns: int | None, resolution_ns: int = 1) -> CellSummary:
    """A test that watched for ten minutes, and saw gaps up to this one."""
    made = MADE[0]
    count = 0 if largest_ns is None else 3
    return replace(
        made,
        columns={"gap_ns": ColumnSummary(count, largest_ns, None, largest_ns)},
        accounting=replace(made.accounting, releases=count, recorded=count),
        answers=("gap_ns",),
        outcomes={WATCHED: 600 * 10**9},
        known=Knowledge(threshold_ns=threshold_ns, resolution_ns=resolution_ns),
        tail=None if largest_ns is None else made.tail,
    )


@pytest.mark.parametrize("largest_ns", [None, 12 * US, 90 * US])
@pytest.mark.parametrize(
    "threshold_ns",
    [10 * US, None, *(pytest.param(us * US, marks=pytest.mark.long) for us in (5, 50, 5_000_000))],
)
@pytest.mark.parametrize("deadline_ns", [1, US, 5 * US, 9_999, 10 * US, 20 * US, 100 * US, 10**10])
def test_no_gap_test_passes_below_its_threshold(
    deadline_ns: int, threshold_ns: int | None, largest_ns: int | None
) -> None:
    """A gap that was seen beyond the deadline fails all the same."""
    (row,) = rows_of(deadline_ns, gap_cell(threshold_ns, largest_ns))
    outcome = row.verdict.outcome
    if largest_ns is not None and largest_ns > deadline_ns:
        assert outcome is FAIL
    elif threshold_ns is None:
        assert outcome is not FAIL
        assert outcome is not PASS or (largest_ns is not None and deadline_ns >= largest_ns)
    elif deadline_ns < threshold_ns:
        assert outcome is OPEN and row.verdict.needed_s is None
    assert row.verdict.evidence.bound_ns >= (threshold_ns or 0)


def test_gaps_in_whole_steps_are_seen_from_the_next_one_on() -> None:
    cell = replace(gap_cell(10 * US, None, 1_000), tail=MADE[0].tail)
    outcomes = [rows_of(ns, cell)[0].verdict.forbids for ns in (10 * US, 11 * US)]
    assert "verdict.below-threshold" in [why.rule for why in outcomes[0]]
    assert "verdict.below-threshold" not in [why.rule for why in outcomes[1]]


def test_the_time_in_which_a_gap_test_did_not_look_is_not_counted() -> None:
    cell = gap_cell(5 * US, None)
    assert rows_of(50 * US, cell)[0].verdict.evidence.seconds == 600
    on_four = replace(cell, labels={**cell.labels, "cpu": "0-3"})
    assert rows_of(50 * US, on_four)[0].verdict.evidence.seconds == 150


def test_of_several_cpus_the_worst_is_named_and_each_has_a_line() -> None:
    cell = cell_with({"latency_ns": 300 * US}, ("latency_ns",))
    column = replace(cell.columns["latency_ns"], max_by_cpu={"0": 20 * US, "3": 300 * US})
    counts = DeadlineSummary(100 * US, 12_000, 7, by_cpu={"0": OfCpu(6_000), "3": OfCpu(6_000, 7)})
    view = replace(cell, columns={"latency_ns": column}, deadline=counts)
    (row,) = on_own_deadlines(made_run([(cell, MADE[1])]), [view], Question(100 * US))
    named = [told for told in statements(row.verdict) if told.rule == "verdict.each-cpu"]
    missed = [parts(told)["verdict.missed"] for told in (*named, *each_cpu(row.verdict))]
    assert [told.values["cpu"] for told in named] == ["3"]
    assert [(each["misses"], each["releases"]) for each in missed] == [(7, 6_000), (0, 6_000), (7, 6_000)]


CHECKS = [
    (),
    (DROPPED(count=1),),
    (CUT(reason="x"), DROPPED(count=1)),
    (DROPPED(count=1), ACCOUNT(problem="x")),
]
a_repetition = st.fixed_dictionaries(
    {
        "late": st.dictionaries(
            st.sampled_from(["cs1_ns", "wait_ns", "cs2_ns"]), st.integers(1, 3), max_size=2
        ),
        "checks": st.sampled_from(CHECKS),
        "steal": st.sampled_from([0.0, 0.005, 0.5]),
    }
)


def a_repetition_of(number: int, made: dict[str, Any]) -> CellSummary:
    names = ("cs1_ns", "wait_ns", "cs2_ns")
    checks, late = made["checks"], made["late"]
    cell = cell_with({name: 300 * US if name in late else 9 * US for name in names}, names)
    counts = {name: DeadlineSummary(200 * US, 12_000, late.get(name, 0)) for name in names}
    steal = (STEAL(steal_ns=1, share=made["steal"]),) if made["steal"] else ()
    return replace(
        cell,
        id=f"point-0123456789-{number}",
        repetition=number,
        valid=not checks,
        warnings=(*checks, *steal),
        failed_checks=len(checks) or None,
        deadline=counts[cell.latest],
        by_column={name: JudgedColumn(count) for name, count in counts.items()},
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(a_repetition, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_row_fails_where_a_miss_is_certain_and_passes_nowhere_that_one_was_seen(
    made: list[dict[str, Any]], random: Random
) -> None:
    """Of any set of repetitions, columns and failed checks, in any order of both."""
    cells = [a_repetition_of(number, each) for number, each in enumerate(made, 1)]
    bins = MADE[1]
    (row,) = stated(made_run([(cell, bins) for cell in cells]))
    certain = [each for each in made if each["late"] and each["checks"] in CHECKS[:3]]
    assert (row.verdict.outcome is FAIL) == bool(certain)
    if any(each["late"] or each["checks"] or each["steal"] > 0.01 for each in made):
        assert row.verdict.outcome is not PASS
    shuffled = [shuffle_columns(cell, random) for cell in cells]
    random.shuffle(shuffled)
    (again,) = stated(made_run([(cell, bins) for cell in shuffled]))
    assert (again.verdict.outcome, again.verdict.evidence.column, again.verdict.evidence.deadline) == (
        row.verdict.outcome,
        row.verdict.evidence.column,
        row.verdict.evidence.deadline,
    )


def shuffle_columns(cell: CellSummary, random: Random) -> CellSummary:
    names = list(cell.columns)
    random.shuffle(names)
    return replace(cell, columns={name: cell.columns[name] for name in names}, answers=tuple(names))
