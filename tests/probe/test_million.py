"""A million data points in memory that was touched before the start: no page fault while they are made."""

from __future__ import annotations

from pathlib import Path

import pytest

from probe.drive import cell, run


@pytest.mark.parametrize(
    "words", [["clock"], ["switch", "--switches-per-point", "2"]], ids=lambda words: words[0]
)
def test_a_million_points_cost_no_page_fault(probe: Path, words: list[str]) -> None:
    summary = cell(run(*words, "--points", "1000000", "--json"))
    assert summary["accounting"]["recorded"] == 1_000_000
    assert summary["accounting"]["overruns"] == summary["accounting"]["dropped"] == 0
    for thread in (*summary["threads"], *summary.get("helpers", [])):
        assert (thread["minor_faults"], thread["major_faults"]) == (0, 0)
