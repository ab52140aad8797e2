"""Explained cells: which samples are explained, what is known of the machine, and what causes sum up to."""

from typing import Any

import pytest
from msgspec.structs import replace

from howlate.document.of_runs import document
from howlate.document.report_input import ReportInput
from howlate.document.sheet import PAGE, TERMINAL, Sheet
from howlate.model.cause import Cause, Why
from howlate.model.loaded import RunContent
from howlate.model.summary import DeadlineSummary
from howlate.model.trace import LOSSY, NOTHING_KEPT, CellTrace
from howlate.statistics.labels import in_sentence
from howlate.verdict.judge import stated
from howlate.why.cause_words import NAMES
from howlate.why.explained_cells import cause_sums, explained_cells, machine_facts
from howlate.why.late_cases import (
    EVENTS_LOST,
    EVENTS_MISSING,
    OPENING,
    RECORDING_TOOK,
    case_sections,
    causes_section,
    causes_sheet,
)
from howlate.why.late_json import cell_json
from howlate.words.say import text_of
from made_runs import FACTS, five_cells, made_run
from made_trace import late_samples
from printed import statements_in

NO_SMI: dict[str, Any] = {"smi": {"before": 7, "after": 7}}


def traced(trace: CellTrace, facts: object = FACTS) -> RunContent:
    """A run with one traced cell, in whose time no SMI happened."""
    run = made_run(five_cells(200)[:1])
    cells = (replace(run.cells[0], trace=trace, trailer={**run.cells[0].trailer, **NO_SMI}),)
    return replace(run, run=replace(run.run, facts=facts), cells=cells)


@pytest.mark.parametrize(
    ("facts", "is_excluded"),
    [
        ({}, False),
        ({"facts": 1, "values": {"kernel.release": "6.1"}, "missing": {}}, False),
        (FACTS, False),
        ({"facts": 1, "values": {"machine.hypervisor": "", "cpu.flags": "fpu"}, "missing": {}}, True),
    ],
)
def test_only_a_machine_known_to_have_no_hypervisor_below_excludes_one(
    facts: object, is_excluded: bool
) -> None:
    content = traced(late_samples(1), facts)
    assert machine_facts(content, content.cells[0]).excludes_gaps is is_excluded


@pytest.mark.parametrize(
    ("machine", "thp", "knob", "may"),
    [
        ("x86_64", "always [madvise] never", "", True),
        ("i686", "[always] madvise never", "", True),
        ("x86_64", "always madvise [never]", "", False),
        ("x86_64", "[always] madvise never", "never", False),
        ("x86_64", "always madvise [never]", "always", True),
        ("aarch64", "[always] madvise never", "", False),
        (None, "[always] madvise never", "", False),
        ("x86_64", None, "", False),
    ],
)
def test_a_huge_page_may_be_cleared_where_they_are_on_and_the_fault_codes_are_x86s(
    machine: str | None, thp: str | None, knob: str, may: bool
) -> None:
    values = {"kernel.machine": machine, "memory.thp": thp}
    content = traced(late_samples(1), {"facts": 1, "values": values, "missing": {}})
    knobs = [{"name": "thp", "wanted": knob}] if knob else []
    cell = replace(content.cells[0], header={**content.cells[0].header, "in_force": {"knobs": knobs}})
    assert machine_facts(content, cell).may_clear_huge is may


def test_every_cause_has_a_name() -> None:
    assert set(NAMES) == set(Cause)


def test_a_sample_that_was_not_late_is_not_explained() -> None:
    trace = late_samples(3)
    on_time = replace(trace.cases[1], latency_ns=0)
    (cell,) = explained_cells(traced(replace(trace, cases=(trace.cases[0], on_time, trace.cases[2]))))
    assert {case.case.release for case in cell.cases} == {10, 30}
    assert sum(each.total_ns for each in cause_sums([cell])) == sum(c.case.latency_ns for c in cell.cases)


def test_the_worst_case_of_a_cause_is_named_where_joined_runs_hold_the_same_cells() -> None:
    early, late = late_samples(1), late_samples(7)
    late = replace(late, cases=late.cases[6:], threads={0: late.threads[0]})
    runs = [traced(early), traced(late)]
    cells = [
        replace(cell, name=name)
        for cell, name in zip((explained_cells(run)[0] for run in runs), ("first", "second"), strict=True)
    ]
    assert cells[0].id == cells[1].id
    for order in (cells, cells[::-1]):
        worst = max(cause_sums(order), key=lambda each: each.worst_ns)
        assert (worst.worst_in.name, worst.worst_in.release) == ("second", 70)
        column = next(each for each in causes_sheet(cause_sums(order)).columns if each.key == "worst_in")
        assert any("second, release 70 of thread 0" in text_of(each.text) for each in column.cells)


def test_samples_without_events_are_not_counted_among_those_with_events() -> None:
    trace = late_samples(5)
    states = (NOTHING_KEPT, 0, LOSSY, NOTHING_KEPT, 0)
    cases = tuple(replace(case, state=state) for case, state in zip(trace.cases, states, strict=True))
    (cell,) = explained_cells(traced(replace(trace, cases=cases)))
    assert {case.parts[0].why for case in cell.cases if case.case.state & NOTHING_KEPT} == {Why.OVERWRITTEN}
    (section,) = causes_section([cell], ())
    told = {text.rule: text.values for text in statements_in(section)}
    assert dict(told[OPENING.id]) == {"cases": 3, "samples": 200, "most": 3}
    assert told[EVENTS_LOST.id]["cases"] == 2
    sheet = next(item for item in section.items if isinstance(item, Sheet))
    assert Cause.UNKNOWN in {each.cause for each in cause_sums([cell])} and sheet.rows
    assert statements_in(*case_sections([cell], 5)).count(EVENTS_MISSING()) == 1


def test_events_that_were_missed_in_the_whole_run_are_told_apart_from_those_lost_in_the_cases() -> None:
    (cell,) = explained_cells(traced(replace(late_samples(2), events_lost=3, events_missed=7)))
    (section,) = causes_section([cell], ())
    assert EVENTS_LOST(cell=in_sentence(cell.name), cases=0, lost=3, missed=7) in statements_in(section)
    assert (cell_json(cell)["events_lost"], cell_json(cell)["events_missed"]) == (3, 7)


@pytest.mark.parametrize("cost_ns", [0, 100, 300])
def test_what_recording_took_of_each_wake_up_is_told(cost_ns: int) -> None:
    """Six events are in every case."""
    (cell,) = explained_cells(traced(replace(late_samples(2), event_cost_ns=cost_ns)))
    told = [
        text.values for text in statements_in(*causes_section([cell], ())) if text.rule == RECORDING_TOOK.id
    ]
    assert cell_json(cell)["own_cost_ns"] == 6 * cost_ns
    assert [each["own_ns"] for each in told] == [6 * cost_ns] * bool(cost_ns)
    assert all(each["without_ns"] + each["own_ns"] == cell.median_ns for each in told)


@pytest.mark.parametrize(("cost_ns", "named"), [(0, []), (100, []), (300, ["none"])])
def test_a_verdict_says_which_of_its_rows_recording_made_slower(cost_ns: int, named: list[str]) -> None:
    """At its place: on the page and in the terminal, with the command that judges without recording."""
    content = traced(replace(late_samples(2), event_cost_ns=cost_ns))
    summary = content.cells[0].summary
    counted = DeadlineSummary(200_000, 200, 0, 0, 0)
    cells = (replace(content.cells[0], summary=replace(summary, deadline=counted)),)
    content = replace(content, cells=cells)
    for style in (PAGE, TERMINAL):
        told = [
            text
            for section in document(ReportInput([content], style)).sections
            for text in statements_in(section)
        ]
        slower = [text for text in told if text.rule == "verdict.recorded"]
        assert [list(text.values["rows"]) for text in slower] == [
            [row.verdict.evidence.name or content.run.study.id for row in stated(content)]
        ] * len(slower)
        assert bool(slower) is bool(named)
        assert all(text.values["deadline"] == " --set deadline=200us" for text in slower)
