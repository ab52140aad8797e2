"""No row, repetition or CPU leaves a verdict without a word."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.model.summary import CellSummary, DeadlineSummary, OfCpu
from howlate.statistics.valid import ACCOUNT, DROPPED
from howlate.verdict.document import opening
from howlate.verdict.judge import stated
from howlate.verdict.promise_facts import each_cpu
from howlate.verdict.ruling import Ruling
from howlate.verdict.verdict_json import verdict_json
from made_cells import made_cell
from made_runs import made_run
from statement_parts import parts

US = 1_000
MADE = made_cell("none", 1)
DEADLINES = (None, 100 * US, 200 * US)

HOLDS = (None, DROPPED(count=1))
a_cell = st.fixed_dictionaries(
    {
        "row": st.sampled_from(["none", "disk", "cpu:50"]),
        "deadline_ns": st.sampled_from(DEADLINES),
        "late": st.booleans(),
        "fault": st.sampled_from([None, "no reason", DROPPED(count=1), ACCOUNT(problem="x")]),
    }
)


def cell_of(number: int, made: dict[str, Any]) -> CellSummary:
    cell, fault, deadline_ns = MADE[0], made["fault"], made["deadline_ns"]
    checks = () if fault in (None, "no reason") else (fault,)
    largest_ns = 300 * US if made["late"] else 9 * US
    return replace(
        cell,
        id=f"{made['row']}-0123456789-{number}",
        repetition=number,
        labels={**cell.labels, "load": made["row"]},
        columns={"latency_ns": replace(cell.columns["latency_ns"], max=largest_ns, min=1)},
        answers=("latency_ns",),
        valid=fault is None,
        warnings=checks,
        failed_checks=len(checks) or None,
        deadline=None if deadline_ns is None else DeadlineSummary(deadline_ns, 12_000, int(made["late"])),
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(a_cell, min_size=1, max_size=6))
def test_each_row_with_a_deadline_is_judged_and_passes_only_with_all_its_repetitions(
    made: list[dict[str, Any]],
) -> None:
    """With any mixture of deadlines and none, of failed checks and none that is stored."""
    content = made_run([(cell_of(number, each), MADE[1]) for number, each in enumerate(made, 1)])
    judged = {row.labels["load"]: row for row in stated(content)}
    by_row: dict[str, list[dict[str, Any]]] = {}
    for each in made:
        by_row.setdefault(each["row"], []).append(each)
    asked = {name for name, cells in by_row.items() if any(cell["deadline_ns"] for cell in cells)}
    assert set(judged) == asked
    for name, row in judged.items():
        cells = by_row[name]
        counts = {cell["deadline_ns"] for cell in cells}
        if row.verdict.outcome is Ruling.PASS:
            assert len(counts) == 1 and not any(cell["fault"] or cell["late"] for cell in cells)
        certain = [cell for cell in cells if cell["late"] and cell["deadline_ns"] and cell["fault"] in HOLDS]
        assert (row.verdict.outcome is Ruling.FAIL) == bool(certain)
        if len(counts) > 1 or any(cell["fault"] == "no reason" for cell in cells):
            assert row.verdict.evidence.failed_checks
    told = opening([row.verdict for row in judged.values()], content)
    left = [len(each.values["rows"]) for each in told if each.rule == "verdict.unasked"]
    assert left == ([len(by_row) - len(asked)] if asked and len(by_row) > len(asked) else [])


@pytest.mark.parametrize(
    ("made", "checks"),
    [
        ([(100, None), (200, None)], ["verdict.unlike-deadlines"]),
        ([(100, None), (None, None)], ["verdict.uncounted-repetitions"]),
        ([(100, "no reason")], ["verdict.no-reason"]),
        ([(100, None), (100, "no reason")], ["verdict.no-reason"]),
    ],
)
def test_what_keeps_a_row_from_a_verdict_is_a_sentence(
    made: list[tuple[int | None, str | None]], checks: list[str]
) -> None:
    cells = [
        cell_of(number, {"row": "none", "deadline_ns": us and us * US, "late": False, "fault": fault})
        for number, (us, fault) in enumerate(made, 1)
    ]
    (row,) = stated(made_run([(cell, MADE[1]) for cell in cells]))
    assert row.verdict.outcome is Ruling.INCONCLUSIVE
    assert [check.rule for check in row.verdict.evidence.failed_checks] == checks


def test_a_cpu_that_answered_nothing_has_its_line_and_its_entry() -> None:
    cell = MADE[0]
    column = replace(cell.columns["latency_ns"], max=20 * US, max_by_cpu={"0": 20 * US, "2": 10 * US})
    releases = {"0": OfCpu(4_000), "1": OfCpu(4_000, 0, 4_000), "2": OfCpu(4_000)}
    whole = replace(
        cell,
        columns={"latency_ns": column},
        answers=("latency_ns",),
        deadline=DeadlineSummary(100 * US, 12_000, 0, 4_000, by_cpu=releases),
    )
    (row,) = stated(made_run([(whole, MADE[1])]))
    assert row.verdict.outcome is Ruling.FAIL
    assert ["verdict.no-answer" in parts(told) for told in each_cpu(row.verdict)] == [False, True, False]
    assert [(each["cpu"], each["max_ns"], each["misses"]) for each in verdict_json(row.verdict)["cpus"]] == [
        (0, 20 * US, 0),
        (1, None, 4_000),
        (2, 10 * US, 0),
    ]


def test_of_two_cpus_the_one_that_answered_has_its_largest_value() -> None:
    """Where one alone answered, the summary does not keep them apart."""
    cell = MADE[0]
    counts = DeadlineSummary(
        100 * US, 8_000, 0, 4_000, by_cpu={"0": OfCpu(4_000), "1": OfCpu(4_000, 0, 4_000)}
    )
    column = replace(cell.columns["latency_ns"], max=20 * US, max_by_cpu={})
    whole = replace(cell, columns={"latency_ns": column}, answers=("latency_ns",), deadline=counts)
    (row,) = stated(made_run([(whole, MADE[1])]))
    assert [(each["cpu"], each["max_ns"]) for each in verdict_json(row.verdict)["cpus"]] == [
        (0, 20 * US),
        (1, None),
    ]
    assert ["verdict.no-answer" in parts(told) for told in each_cpu(row.verdict)] == [False, True]


def test_a_measuring_cpu_without_a_release_forbids_a_pass() -> None:
    cell = MADE[0]
    counts = DeadlineSummary(100 * US, 12_000, by_cpu={"0": OfCpu(12_000), "1": OfCpu(0)})
    column = replace(cell.columns["latency_ns"], max=20 * US, max_by_cpu={})
    whole = replace(cell, columns={"latency_ns": column}, answers=("latency_ns",), deadline=counts)
    (row,) = stated(made_run([(whole, MADE[1])]))
    assert row.verdict.outcome is Ruling.INCONCLUSIVE
    assert [check.rule for check in row.verdict.evidence.failed_checks] == ["verdict.no-release"]
