"""When a load counts as there, and what is said where it does not."""

import pytest
from msgspec.structs import replace

from howlate.statistics.load_reached import (
    BELOW_ALONE,
    BELOW_TARGET,
    NOT_LOADED,
    NOTHING_DONE,
    LoadGoal,
    not_loaded,
    percents,
)
from howlate.statistics.valid import OFF_TARGET, STARVED, CellRecord, LoadRecord, failures, starved, warnings
from howlate.words.quantities import percent
from howlate.words.statement import Statement

CPU = LoadGoal("CPU", 1.0, None, 0.97, "iterations", 1000, 30_000_000)
DISK = LoadGoal("B/s", 10e6, None, 9.8e6, "fsyncs", 12, 30_000_000)
MOST = LoadGoal("messages/s", None, 34_200.0, 30_000.0, "messages", 900, 30_000_000)


@pytest.mark.parametrize(
    ("spec", "goal", "missing"),
    [
        (
            "cpu:100,nice=10",
            replace(CPU, achieved=0.00005),
            BELOW_TARGET(load="cpu:100,nice=10", achieved="0.005 % CPU", expected="100 % CPU"),
        ),
        (
            "cpu:100",
            replace(CPU, achieved=0.2, reference=0.5),
            BELOW_ALONE(load="cpu:100", achieved="20 % CPU", expected="50 % CPU"),
        ),
        (
            "disk:10MB/s",
            replace(DISK, achieved=4.9e6),
            BELOW_TARGET(load="disk:10MB/s", achieved="4.9 MB/s", expected="10 MB/s"),
        ),
        (
            "disk:10MB/s",
            replace(DISK, operations=0),
            NOTHING_DONE(load="disk:10MB/s", operation="fsyncs", duration_ns=30_000_000),
        ),
        (
            "hackbench:10",
            replace(MOST, achieved=1000.0),
            BELOW_ALONE(load="hackbench:10", achieved="1000 messages/s", expected="34200 messages/s"),
        ),
    ],
)
def test_a_load_below_half_of_its_target_or_of_itself_alone_was_not_there(
    spec: str, goal: LoadGoal, missing: Statement
) -> None:
    assert not_loaded(spec, goal) == missing
    cell = CellRecord(samples=100, loads=(LoadRecord(spec, None, None, goal=goal),))
    assert failures(cell)[0] == NOT_LOADED(reason=missing), "it is the first thing said of the cell"


def test_a_load_at_half_or_above_was_there() -> None:
    for goal in (replace(CPU, achieved=0.5), replace(CPU, achieved=0.26, reference=0.5), CPU, DISK, MOST):
        assert not_loaded("load", goal) is None


def test_what_nobody_can_expect_is_no_failure() -> None:
    assert not_loaded("cpu:0", replace(CPU, target=0.0, achieved=0.0, operations=0)) is None
    assert not_loaded("hackbench:10", replace(MOST, reference=None)) is None
    assert replace(MOST, reference=None).share is None


def test_an_older_run_stays_as_it_was_stored() -> None:
    cell = CellRecord(samples=100, loads=(LoadRecord("cpu:100", 1.0, 0.00005),))
    assert failures(cell) == []
    assert warnings(cell) == [OFF_TARGET(load="cpu:100", achieved=0.00005, target=1.0)]


def test_starvation_that_the_study_expects_leaves_the_cell_valid_and_is_told() -> None:
    goal = replace(CPU, achieved=0.00005)
    load = LoadRecord("cpu:100,nice=10", 1.0, 0.00005, goal=goal)
    cell = CellRecord(samples=100, loads=(load,), starvation_expected=True)
    assert failures(cell) == []
    assert starved(cell)
    assert warnings(cell) == [STARVED(reason=load.missing)]
    assert not starved(replace(cell, loads=(replace(load, goal=CPU),)))


def test_the_probe_and_the_host_say_it_once() -> None:
    goal = replace(CPU, achieved=0.1)
    probe = Statement.verbatim("not loaded: the load cpu:100 achieved 10 %", NOT_LOADED.id)
    cell = CellRecord(
        samples=100,
        loads=(LoadRecord("cpu:100", 1.0, 0.1, goal=goal),),
        probe_warnings=(probe, Statement.verbatim("hot.")),
    )
    assert [failure.rule for failure in failures(cell)] == [NOT_LOADED.id]
    assert warnings(cell) == [Statement.verbatim("hot.")]


def test_shares_are_told_with_the_digits_that_they_have() -> None:
    assert [percent(x) for x in (0, 0.00005, 0.008, 0.015, 0.349, 0.997, 1.2)] == [
        "0 %",
        "0.005 %",
        "0.8 %",
        "1.5 %",
        "35 %",
        "100 %",
        "120 %",
    ]
    assert percents([0.98, 0.96, 0.97]) == "96..98 %"
    assert percents([0.98, 0.979]) == "98 %"
