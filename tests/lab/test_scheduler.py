"""The test `scheduler` in guests: what only exact time, or a machine of one's own, can show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from howlate.lab.bench import PROBE, Bench
from lab.guests import LIMIT_S, STANDARD, bench, program

MS = 1_000_000
TICK = 4 * MS
ASKED = ("scheduler", "--json")
SHORTER = """
#include <fcntl.h>
#include <unistd.h>

static bool put(const char *file, const char *value, ssize_t bytes) {
  const int to = open(file, O_WRONLY);
  return write(to, value, bytes) == bytes;
}

int main(int, char **argv) {
  if (!put("/proc/sys/kernel/sched_rt_runtime_us", "80000", 5) ||
      !put("/proc/sys/kernel/sched_rt_period_us", "100000", 6))
    return 1;
  execv("/proc/1/exe", argv + 1);
  return 127;
}
"""
"""80 ms of each 100, in place of 950 of 1,000: a twelfth of the spinning."""


@pytest.fixture
def standard(tmp_path: Path, booted: Path) -> Bench:
    extra = {"bin/shorter": program(tmp_path, "shorter", SHORTER)}
    return bench(tmp_path, STANDARD, extra, snapshots=booted)


@pytest.mark.slow
def test_throttling_comes_a_budget_after_its_period_began(standard: Bench) -> None:
    """The period begins with the spinning where no real-time task ran for two of them; after a shorter rest it goes
    on, and its end gives the budget anew amid the spinning."""
    throttled = (*ASKED, "--question=throttling", "--points=1", "--spin=1s", "--occupy-all")
    lines = [("/bin/shorter", PROBE, *throttled, rest) for rest in ("--rest=350ms", "--rest=150ms")]
    done = standard.run(lines, LIMIT_S)
    assert [line.status for line in done] == ["0"] * 2, [line.stderr for line in done]
    columns = [json.loads(line.stdout)["cells"][0]["columns"] for line in done]
    rested, within = ({name: one[name]["max"] for name in ("ran_ns", "gap_ns")} for one in columns)
    assert 80 * MS - TICK <= rested["ran_ns"] <= 80 * MS + TICK
    assert rested["ran_ns"] + rested["gap_ns"] == pytest.approx(100 * MS, abs=MS)
    assert 80 * MS + 3 * TICK < within["ran_ns"] < 2 * 80 * MS
    assert within["gap_ns"] == pytest.approx(20 * MS, abs=2 * TICK)


@pytest.mark.slow
def test_a_guest_has_room_for_as_many_tasks_as_may_be_asked_for(standard: Bench) -> None:
    line = (PROBE, *ASKED, "--question=tasks", "--tasks=4096", "--tasks-state=sleeping", "--points=10")
    (done,) = standard.run([line], LIMIT_S)
    assert done.status == "0", done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert (cell["outcomes"]["tasks"], cell["outcomes"]["passes"]) == (4096, 10)
