"""The strips of a run that is being measured."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from howlate.cli._progress import ProgressLine
from howlate.cli._strips import LiveStrips
from howlate.model.plan import Cell
from howlate.model.summary import DeadlineSummary
from howlate.targets import CpuProgress, Progress
from made_runs import five_cells

PLACE_OF_10US, PLACE_OF_1MS = 81, 135
"""Bins below and above a deadline of 200 us."""


def cell(load: str, **parameters: str) -> Cell:
    return Cell(load, "cyclic", parameters, {"load": load}, 1, 1.0)


def of_cpus(*more: tuple[tuple[int, int], ...], latency_ns_max: int = 1_200_000) -> Progress:
    cpus = tuple(CpuProgress(cpu, 9, latency_ns_max, pairs) for cpu, pairs in enumerate(more))
    return Progress(9, 1.0, latency_ns_max, cpus=cpus)


FEW = ((PLACE_OF_10US, 990), (PLACE_OF_1MS, 3))


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]


@pytest.mark.parametrize("width", [41, 60, 80, 200])
def test_a_row_for_each_load_with_its_largest_and_its_misses(width: int) -> None:
    strips = LiveStrips()
    for load in ("none", "disk"):
        one = cell(load, deadline="200us")
        strips.begins(one, load)
        for _ in range(2):
            strips.progress(one, load, of_cpus(FEW, FEW))
    axis, *rows = plain(strips.drawn(width, 20, letters=False))
    assert [row.split()[0] for row in rows] == ["none", "disk"]
    assert all(row.endswith("1.20 ms      12") for row in rows), rows
    assert all("│" in row and "X" in row for row in rows)
    assert axis.endswith("misses")
    assert {cell_len(line) for line in (axis, *rows)} == {min(width, 80) - 1}


def test_a_row_for_each_cpu() -> None:
    strips = LiveStrips(by_cpu=True)
    strips.begins(cell("none"), "none")
    strips.progress(cell("none"), "none", of_cpus(FEW, FEW, FEW))
    assert [row[:5] for row in plain(strips.drawn(80, 20, letters=True))[1:]] == ["CPU 0", "CPU 1", "CPU 2"]
    assert len(strips.drawn(80, 3, letters=True)) == 3
    assert not strips.drawn(80, 1, letters=True)
    assert not strips.drawn(30, 20, letters=True)


def test_the_misses_of_a_cell_that_is_over_are_exact() -> None:
    strips, one = LiveStrips(), cell("none", deadline="200us")
    strips.begins(one, "none")
    strips.progress(one, "none", of_cpus(FEW))
    summary = five_cells(1_000)[0][0]
    strips.whole("none", replace(summary, deadline=DeadlineSummary(200_000, 1_000, 7)))
    assert [row.later for row in strips.rows] == [7]
    strips.progress(one, "none", of_cpus(FEW))
    assert [row.later for row in strips.rows] == [10]


def test_nothing_is_drawn_before_anything_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    line = ProgressLine(("load",), terminal)
    line.starts(cell("none"), 1, 1, 60.0)
    assert "\n" not in terminal.getvalue()
