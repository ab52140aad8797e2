"""`--dry-run` on one screen: how many cells and how long, the points that take most first."""

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from cli.commands import Run
from howlate.document.first_screen.lines import LINES

LOADS = ",".join(["none", *(f"cpu:{n}" for n in range(1, 31))])


def screen(howlate: Run, width: int, *words: str) -> list[str]:
    done = howlate("run", "mine.toml", "--dry-run", *words)
    assert done.code == 0, done.err
    lines: list[str] = done.out.splitlines()
    assert len(lines) <= LINES and all(cell_len(line) <= width for line in lines), done.out
    return lines


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("load", ["none", "none,cpu:50", LOADS])
def test_the_plan_is_one_screen_whose_cells_and_times_add_up(
    howlate: Run, monkeypatch: pytest.MonkeyPatch, width: int, load: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    words = ("--set", f"load={load}", "--set", "duration=30s")
    lines = screen(howlate, width, *words)
    plan = json.loads(howlate("run", "mine.toml", "--dry-run", "--json", *words).out)
    assert lines[0].startswith(f"{len(plan['cells'])} of {len(plan['cells'])} cells, about ")
    rows = [line.split()[-3:] for line in lines if re.search(r"\d  +\d+:\d\d  +\d+:\d\d$", line)]
    seconds = [60 * int(time.split(":")[0]) + int(time.split(":")[1]) for *_, time in rows]
    assert seconds == sorted(seconds, reverse=True) and len(rows) >= 1
    more = [int(found[1]) for line in lines if (found := re.match(r"  (\d+) more rows", line))]
    assert sum(int(cells) for cells, *_ in rows) + sum(more) == len(plan["cells"])
    if not more:
        assert abs(sum(seconds) - plan["expected_s"]) <= len(rows)


def test_what_cannot_be_measured_is_told_once_with_the_reason(howlate: Run) -> None:
    lines = screen(howlate, 80, "--set", "timer=spin,io_uring", "--set", "load=none,cpu:50,cpu:70")
    assert lines[0].startswith("3 of 6 cells")
    assert sum("not possible here" in line for line in lines) == 1
    assert any(line.startswith("! 3 cells: ") for line in lines)
    assert not Path("runs").exists()
