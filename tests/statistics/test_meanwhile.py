"""What happened to the machine while it was measured: the cell says so, and what it leaves certain is certain."""

from typing import Any

import pytest
from msgspec.structs import replace

from howlate.statistics.valid import (
    CellRecord,
    ClockChanges,
    ThreadAccount,
    failures,
    holds,
    warnings,
)
from made_cells import made_cell


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"threads": (ThreadAccount(0, 3, place_changed=True),)}, "cell.cpu-offline"),
        ({"clocks": ClockChanges(suspended_ns=5 * 10**9)}, "cell.suspended"),
    ],
)
def test_a_lost_cpu_and_a_suspend_leave_no_bounds_but_what_was_late_was_late(
    changes: dict[str, Any], rule: str
) -> None:
    failed = failures(CellRecord(samples=10, **changes))
    assert [told.rule for told in failed] == [rule]
    cell = replace(made_cell("none")[0], valid=False, warnings=tuple(failed), failed_checks=len(failed))
    assert holds(cell)


@pytest.mark.parametrize(
    ("clocks", "rule"),
    [
        (ClockChanges(stepped_ns=-2 * 10**9), "cell.clock-stepped"),
        (ClockChanges(slewed_ppm=500), "cell.clock-slewed"),
    ],
)
def test_a_step_and_a_slew_are_named(clocks: ClockChanges, rule: str) -> None:
    cell = CellRecord(samples=10, clocks=clocks)
    assert failures(cell) == [] and [told.rule for told in warnings(cell)] == [rule]


def test_nothing_is_said_where_nothing_happened() -> None:
    cell = CellRecord(samples=10, threads=(ThreadAccount(0, 3),))
    assert failures(cell) == [] and warnings(cell) == []
