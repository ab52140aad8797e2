"""The test `scheduler` in guests: what only exact time, or a machine of one's own, can show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from howlate.lab.bench import PROBE
from lab.guests import LIMIT_S, STANDARD, bench

MS = 1_000_000
TICK = 4 * MS
ASKED = (PROBE, "scheduler", "--json")


@pytest.mark.slow
def test_throttling_comes_a_budget_after_its_period_began(tmp_path: Path, booted: Path) -> None:
    """950 ms of each second. The period begins with the spinning where no real-time task ran for two of them; after a
    rest shorter by a tenth of one it goes on, and its end gives the budget anew amid the spinning, a tenth in."""
    on = bench(tmp_path, STANDARD, snapshots=booted)
    throttled = (*ASKED, "--question=throttling", "--points=1", "--occupy-all")
    done = on.run([(*throttled, "--rest=2500ms"), (*throttled, "--rest=1900ms")], LIMIT_S)
    assert [line.status for line in done] == ["0"] * 2, [line.stderr for line in done]
    columns = [json.loads(line.stdout)["cells"][0]["columns"] for line in done]
    rested, within = ({name: one[name]["max"] for name in ("ran_ns", "gap_ns")} for one in columns)
    assert 950 * MS - TICK <= rested["ran_ns"] <= 950 * MS + 2 * TICK
    assert rested["ran_ns"] + rested["gap_ns"] == pytest.approx(1000 * MS, abs=MS)
    assert 950 * MS + 2 * TICK < within["ran_ns"] < 1150 * MS
    assert within["gap_ns"] == pytest.approx(50 * MS, abs=2 * TICK)


@pytest.mark.slow
def test_a_guest_has_room_for_as_many_tasks_as_may_be_asked_for(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path, STANDARD, snapshots=booted)
    line = (*ASKED, "--question=tasks", "--tasks=4096", "--tasks-state=sleeping", "--points=10")
    (done,) = on.run([line], LIMIT_S)
    assert done.status == "0", done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert (cell["outcomes"]["tasks"], cell["outcomes"]["passes"]) == (4096, 10)
