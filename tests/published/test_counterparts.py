"""What of ours stands beside a published figure."""

from collections.abc import Mapping
from typing import Any

import pytest

from howlate.published.counterparts import look_up, printed_lines, value_in
from howlate.published.load import find_reference, references
from howlate.published.reference import PREEMPTION, PublishedRow, PublishedTable

CELL: dict[str, Any] = {
    "test": "cyclic",
    "labels": {"load": "hackbench:30"},
    "accounting": {"overruns": 7},
    "columns": {
        "latency_ns": {"max": 28_101_026, "period_exceeded": 3, "quantiles": {"0.5": 3000, "0.99": None}},
        "cs1_ns": {"min": 684},
    },
    "outcomes": {"passes": 99, "spin_ns": 100_000},
    "loads": [
        {"name": "hackbench", "achieved_cpu": None, "results": {"time_s": 1.25, "run_ns_mean": 2_500_000_000}}
    ],
}


@pytest.mark.parametrize(
    ("field", "unit", "value"),
    [
        ("columns.latency_ns.max", "us", 28101.026),
        ("columns.latency_ns.max", "ms", 28.101026),
        ("columns.cs1_ns.min", "ns", 684),
        ("columns.latency_ns.period_exceeded", "", 3),
        ("columns.latency_ns.quantiles.0.5", "us", 3),
        ("columns.latency_ns.quantiles.0.99", "us", None),
        ("columns.latency_ns.quantiles", "us", None),
        ("columns.none_ns.max", "us", None),
        ("accounting.overruns", "", 7),
        ("accounting.overruns.more", "", None),
        ("outcomes.passes", "", 99),
        ("outcomes.spin_ns", "us", 100),
        ("loads.hackbench.results.time_s", "s", 1.25),
        ("loads.hackbench.results.run_ns_mean", "s", 2.5),
        ("loads.hackbench.achieved_cpu", "", None),
        ("loads.cpu.results.time_s", "s", None),
    ],
)
def test_fields_are_found_and_converted(field: str, unit: str, value: float | None) -> None:
    assert value_in(CELL, field, unit) == (pytest.approx(value, rel=1e-12) if value is not None else None)
    if unit in ("", "ns"):
        assert look_up(CELL, field) == value


def test_the_rows_of_a_published_table_stand_beside_a_table_of_ours() -> None:
    cell = {"load": "none", "period": "1000us"}
    lines = printed_lines(find_reference("toshiba-2010"), cell, "latency_ns")
    assert [(line.label, line.preemption) for line in lines] == [
        ("2.6.26lenny (user mode)", ("none", "voluntary")),
        ("2.6.26preemptive (user mode)", ("full",)),
        ("2.6.26.8RT (user mode)", ("rt",)),
    ]
    assert {line.table for line in lines} == {"low-1000us"}
    assert lines[2].values == pytest.approx(
        {"mean": 6817.0, "maximum": 30381.0, "deviation": 313.0, "overruns": 0.0}
    )
    of_task = printed_lines(
        find_reference("toshiba-2010"), {**cell, "timer": "cobalt-kernel-task"}, "latency_ns"
    )
    assert [(line.label, line.preemption) for line in of_task] == [
        ("2.6.27Xenomai (kernel mode)", ("cobalt",))
    ]
    assert not of_task[0].why and of_task[0].figures["maximum"].text == "3.420"
    assert lines[0].to_json()["marks"] == {
        "mean": "text",
        "maximum": "text",
        "deviation": "text",
        "overruns": "text",
    }


def test_rows_of_other_loads_do_not_stand_beside_it() -> None:
    reference = find_reference("toshiba-mem-2010")
    part = {"part": table.part} if (table := reference.table("memory-alloc-500us")) and table.part else {}
    lines = printed_lines(reference, {**part, "load": "memory-alloc:50", "period": "500us"}, "latency_ns")
    assert [(line.label, line.values["exceeded"]) for line in lines] == [
        ("2.6.31.12 · 50%", 19),
        ("2.6.31.12-RT · 50%", 1),
    ]
    assert (
        printed_lines(reference, {**part, "load": "memory-alloc:60", "period": "500us"}, "latency_ns") == ()
    )
    assert (
        printed_lines(reference, {**part, "load": "memory-alloc:50", "period": "500us"}, "response_ns") == ()
    )


def test_a_listing_gives_a_row_of_each_kernel_for_a_column() -> None:
    reference = find_reference("tut-2017")
    table = reference.table("listing-2-preemption")
    assert table is not None
    lines = printed_lines(reference, {"part": table.part, "load": "none"}, "cs1_ns")
    assert [(line.table, line.preemption, line.values["maximum"]) for line in lines] == [
        ("listing-2-preemption", ("none", "voluntary"), 100553.0),
        ("listing-3-preemption", ("full",), 23748.0),
        ("listing-4-preemption", ("rt",), 23914.0),
    ]
    assert [
        line.values["minimum"]
        for line in printed_lines(reference, {"part": table.part, "load": "none"}, "cs2_ns")
    ] == [573, 561, 645]


def test_what_only_the_words_say_stands_beside_what_no_table_has() -> None:
    lines = printed_lines(
        find_reference("toshiba-2010"), {"load": "cpu:100+disk", "period": "200us"}, "latency_ns"
    )
    assert [(line.table, line.label, line.values) for line in lines] == [
        ("high-words", "2.6.26lenny (user mode)", {"maximum": 30_000_000}),
        ("high-words", "2.6.26.8RT (user mode)", {"maximum": 30_000_000}),
    ]
    assert all(line.figures["maximum"].about for line in lines)


@pytest.mark.parametrize("study", ["toshiba-2010", "toshiba-mem-2010"])
@pytest.mark.parametrize(
    ("labels", "parameters", "stands"),
    [
        ({"timer": "setitimer"}, {}, True),
        ({"timer": "setitimer", "late-policy": "skip"}, {}, True),
        ({"timer": "setitimer"}, {"late-policy": "skip"}, True),
        ({"timer": "clock_nanosleep"}, {}, False),
        ({"timer": "setitimer", "late-policy": "as-published"}, {}, False),
        ({"timer": "setitimer"}, {"late-policy": "backlog"}, False),
    ],
)
def test_no_row_stands_beside_what_was_measured_otherwise(
    study: str, labels: dict[str, str], parameters: dict[str, str], stands: bool
) -> None:
    """A label decides, be it an axis or not, else what the plan asked for; also for rows without a kernel of ours."""
    cell = {"load": "none", "period": "300us", **labels}
    assert bool(printed_lines(find_reference(study), cell, "latency_ns", parameters)) is stands


def test_a_row_that_is_printed_again_stands_there_once() -> None:
    """The row without load of toshiba-mem-2010 is one measurement, printed under each of the four loads."""
    lines = printed_lines(
        find_reference("toshiba-mem-2010"), {"load": "none", "period": "500us"}, "latency_ns"
    )
    assert [(line.table, line.label) for line in lines] == [
        ("cpu-500us", "2.6.31.12 · 0%"),
        ("cpu-500us", "2.6.31.12-RT · 0%"),
    ]


def test_the_row_of_a_kernel_task_is_of_cells_with_that_task_alone() -> None:
    """The document's settings name the timer of its other rows; the row's own match comes before them."""
    table = find_reference("toshiba-2010").table("high-1000us")
    assert table is not None
    labels = {"load": "cpu:100+disk:max", "period": "1ms", "late-policy": "skip"}
    of_task = {"labels": {**labels, "timer": "cobalt-kernel-task"}}
    of_user = {"labels": {**labels, "timer": "cobalt"}}
    of_linux = {"labels": {**labels, "timer": "setitimer"}}
    assert [row.label for row in table.rows_for(of_task, "cobalt")] == ["2.6.27Xenomai"]
    assert table.rows_for(of_user, "cobalt") == ()
    assert table.rows_for(of_linux, "cobalt") == ()
    assert table.rows_for(of_task, "rt") == ()
    assert [row.label for row in table.rows_for(of_linux, "rt")] == ["2.6.26.8RT"]


WITH_MATCH = [
    (name, table, row)
    for name in references()
    for table in find_reference(name).tables
    for row in table.rows
    if row.match and row.measurable and not table.why
]


def labels_of(table: PublishedTable, row: PublishedRow, any_of: Mapping[str, str]) -> dict[str, str]:
    """Of a cell that a row is of: one value of each label that the row, its table and its document ask for."""
    wanted = {**table.settings, **table.where, **row.match}
    labels = {**{name: values[0] for name, values in wanted.items()}, **any_of}
    return {**labels, **({"part": table.part} if table.part else {})}


def shown(name: str, table: PublishedTable, row: PublishedRow, labels: Mapping[str, str]) -> bool:
    columns = {
        column.field_of(row).split(".")[1] for column in table.columns if column.field_of(row).count(".") > 1
    }
    return any(
        (line.table, line.label) in ((table.id, row.named), (table.id, table.title))
        and (PREEMPTION not in row.match or line.preemption == row.match[PREEMPTION])
        for column in columns
        for line in printed_lines(find_reference(name), labels, column)
    )


@pytest.mark.parametrize("name", sorted({name for name, _, _ in WITH_MATCH}))
def test_a_row_is_shown_where_all_of_its_match_agrees_or_nowhere(name: str) -> None:
    """Every document, every row: one label of its match changed, and the row is not there."""
    checked = 0
    for of, table, row in WITH_MATCH:
        if of != name:
            continue
        for wanted in ({n: v} for n, values in row.match.items() for v in values):
            labels = labels_of(table, row, wanted)
            model = labels.get(PREEMPTION, "")
            cell = {"labels": {n: v for n, v in labels.items() if n != PREEMPTION}}
            assert row in table.rows_for(cell, model), (table.id, row.label)
            for changed in row.match:
                other = {**labels, changed: "made-otherwise"}
                assert row not in table.rows_for({"labels": other}, other.get(PREEMPTION, ""))
                without = {n: v for n, v in labels.items() if n != changed}
                assert row not in table.rows_for({"labels": without}, without.get(PREEMPTION, ""))
                if changed != PREEMPTION and sum(row.named == r.named for r in table.rows) == 1:
                    here = {n: v for n, v in other.items() if n != PREEMPTION}
                    if len({r.match.get(PREEMPTION) for r in table.rows}) == len(table.rows):
                        assert not shown(name, table, row, here), (table.id, row.label, changed)
                checked += 1
    assert checked


def test_no_row_of_a_kernel_task_is_shown_under_a_timer_of_user_mode() -> None:
    """Under Linux's setitimer stood Xenomai's kernel task, 3.420 us beside 13.4."""
    of_tasks = [(n, t, r) for n, t, r in WITH_MATCH if "timer" in r.match and r.values and t.kind == "table"]
    assert len(of_tasks) > 5
    for name, table, row in of_tasks:
        labels = labels_of(table, row, {})
        del labels[PREEMPTION]
        assert shown(name, table, row, labels), (table.id, row.label)
        assert not shown(name, table, row, {**labels, "timer": "setitimer"})
