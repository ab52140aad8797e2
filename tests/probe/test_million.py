"""A million data points in memory that was touched before the start: no page fault while they are made."""

from pathlib import Path

import pytest

from probe.drive import cell, run

SWITCH = ["switch", "--switches-per-point", "2"]


@pytest.mark.parametrize(
    ("words", "points"),
    [
        pytest.param(["clock"], 1_000_000, id="clock"),
        pytest.param(SWITCH, 100_000, id="switch"),
        pytest.param(SWITCH, 1_000_000, id="switch-million", marks=pytest.mark.sweep),
    ],
)
def test_a_million_points_cost_no_page_fault(probe: Path, words: list[str], points: int) -> None:
    summary = cell(run(*words, "--points", str(points), "--json"))
    assert summary["accounting"]["recorded"] == points
    assert summary["accounting"]["overruns"] == summary["accounting"]["dropped"] == 0
    for thread in (*summary["threads"], *summary.get("helpers", [])):
        assert (thread["minor_faults"], thread["major_faults"]) == (0, 0)
