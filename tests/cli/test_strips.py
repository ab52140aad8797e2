"""The strips of a run that is being measured."""

import re

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from cli.commands import Terminal
from howlate.cli._progress import ProgressLine, WaitingLine
from howlate.cli._say import Steps
from howlate.cli._strips import LiveStrips
from howlate.measure.quiet import Busy
from howlate.model.plan import Cell
from howlate.model.summary import DeadlineSummary
from howlate.prove.lab._search_line import _show
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
    axis, *rows = plain(strips.lines(width, 20, letters=False))
    assert [row.split()[0] for row in rows] == ["none", "disk"]
    assert all(row.endswith("1.20 ms      12") for row in rows), rows
    assert all("│" in row and "X" in row for row in rows)
    assert axis.endswith("misses")
    assert {cell_len(line) for line in (axis, *rows)} == {min(width, 80) - 1}


def test_a_row_for_each_cpu() -> None:
    strips = LiveStrips(by_cpu=True)
    strips.begins(cell("none"), "none")
    strips.progress(cell("none"), "none", of_cpus(FEW, FEW, FEW))
    assert [row[:5] for row in plain(strips.lines(80, 20, letters=True))[1:]] == ["CPU 0", "CPU 1", "CPU 2"]
    assert len(strips.lines(80, 3, letters=True)) == 3
    assert not strips.lines(80, 1, letters=True)
    assert not strips.lines(30, 20, letters=True)


@pytest.mark.parametrize("by_cpu", [True, False])
def test_where_there_are_too_many_rows_the_largest_stay_in_their_order(*, by_cpu: bool) -> None:
    """Of points the one that is being measured too."""
    strips = LiveStrips(by_cpu=by_cpu)
    for number in range(64):
        cpu = CpuProgress(number, 9, 5_000_000 if number in (3, 1) else 1_200_000, FEW)
        strips.begins(cell(f"load{number}"), f"load{number}")
        strips.progress(cell(f"load{number}"), f"load{number}", Progress(9, 1.0, 1_200_000, cpus=(cpu,)))
    _, *rows, more = plain(strips.lines(80, 5, letters=True))
    words = [" ".join(row.split()[: 2 if by_cpu else 1]) for row in rows]
    assert words == (["CPU 0", "CPU 1", "CPU 3"] if by_cpu else ["load1", "load3", "load63"])
    assert more == "61 more"
    assert len(strips.lines(80, 65, letters=True)) == 65
    assert "more" not in strips.lines(80, 65, letters=True)[-1]


def test_a_cpu_without_a_sample_has_no_largest_and_leaves_the_axis_alone() -> None:
    strips = LiveStrips(by_cpu=True)
    strips.begins(cell("none"), "none")
    seen, unseen = CpuProgress(0, 9, 1_200_000, FEW), CpuProgress(1, 0, 0)
    strips.progress(cell("none"), "none", Progress(9, 1.0, 1_200_000, cpus=(seen,)))
    axis = strips.lines(80, 20, letters=True)[0]
    strips.progress(cell("none"), "none", Progress(9, 1.0, 1_200_000, cpus=(seen, unseen)))
    both = plain(strips.lines(80, 20, letters=True))
    assert both[0].split() == ["CPU", *plain([axis])[0].split()]
    assert both[2].startswith("CPU 1") and both[2].split()[-1] == "-" and "X" not in both[2]


def test_the_misses_and_the_largest_of_a_cell_that_is_over_are_exact() -> None:
    strips, one = LiveStrips(), cell("none", deadline="200us")
    strips.begins(one, "none")
    strips.progress(one, "none", of_cpus(FEW))
    seen, summary = strips.rows[0].max_ns or 0, five_cells(1_000)[0][0]
    assert seen < 10**7
    column = replace(summary.columns["latency_ns"], max=10**7)
    summary = replace(summary, columns={**summary.columns, "latency_ns": column})
    strips.whole("none", replace(summary, deadline=DeadlineSummary(200_000, 1_000, 7)))
    assert [row.later for row in strips.rows] == [7]
    largest = summary.columns["latency_ns"].max
    assert largest is not None and [row.max_ns for row in strips.rows] == [max(largest, seen)]
    strips.progress(one, "none", of_cpus(FEW))
    assert [row.later for row in strips.rows] == [10]


def test_nothing_is_drawn_before_anything_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    line = ProgressLine(("load",), terminal)
    line.starts(cell("none"), 1, 1, 60.0)
    assert "\n" not in terminal.getvalue()


@pytest.mark.parametrize("kind", ["waits", "progress", "step", "search"])
def test_a_terminal_without_escape_sequences_gets_none(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stderr", terminal)
    if kind == "waits":
        waiting = WaitingLine()
        waiting.waits(Busy(1.0, ()), 9.0)
        waiting.close()
    elif kind == "progress":
        line = ProgressLine(("load",))
        line.starts(cell("none"), 1, 1, 60.0)
        line.close()
    elif kind == "step":
        Steps()("prepares")
    else:
        _show("found")
        _show("")
    assert terminal.getvalue().strip() and "\x1b" not in terminal.getvalue()
