"""The test `scheduler` in guests: what only exact time, or a machine of one's own, can show."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from howlate.lab.bench import PROBE, Bench
from lab.equipped import Guest
from lab.guests import LIMITS, STANDARD

MS = 1_000_000
TICK = 4 * MS
ASKED = ("scheduler", "--json")


@pytest.fixture
def standard(equipped: Guest) -> Bench:
    return equipped(STANDARD)


@pytest.mark.long
def test_throttling_comes_a_budget_after_its_period_began(standard: Bench) -> None:
    """The period begins with the spinning where no real-time task ran for two of them; after a shorter rest it goes
    on, and its end gives the budget anew amid the spinning."""
    throttled = (*ASKED, "--question=throttling", "--points=1", "--spin=1s", "--occupy-all")
    lines = [("/bin/shorter", PROBE, *throttled, rest) for rest in ("--rest=350ms", "--rest=150ms")]
    done = standard.run(lines, LIMITS)
    assert [line.status for line in done] == ["0"] * 2, [line.stderr for line in done]
    columns = [json.loads(line.stdout)["cells"][0]["columns"] for line in done]
    rested, within = ({name: one[name]["max"] for name in ("ran_ns", "gap_ns")} for one in columns)
    assert 80 * MS - TICK <= rested["ran_ns"] <= 80 * MS + TICK
    assert rested["ran_ns"] + rested["gap_ns"] == pytest.approx(100 * MS, abs=MS)
    assert 80 * MS + 3 * TICK < within["ran_ns"] < 2 * 80 * MS
    assert within["gap_ns"] == pytest.approx(20 * MS, abs=2 * TICK)


@pytest.mark.long
def test_a_guest_has_room_for_as_many_tasks_as_may_be_asked_for(standard: Bench) -> None:
    line = (PROBE, *ASKED, "--question=tasks", "--tasks=4096", "--tasks-state=sleeping", "--points=10")
    (done,) = standard.run([line], LIMITS)
    assert done.status == "0", done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert (cell["outcomes"]["tasks"], cell["outcomes"]["passes"]) == (4096, 10)


def _cells(on: Bench, lines: Sequence[tuple[str, ...]]) -> list[dict[str, Any]]:
    done = on.run(lines, LIMITS)
    assert [line.status for line in done] == ["0"] * len(lines), [line.stderr for line in done]
    return [json.loads(line.stdout)["cells"][0] for line in done]


def test_a_round_robin_task_runs_for_the_kernels_quantum(standard: Bench) -> None:
    """But for the microseconds of a switch, also where the quantum was changed; with three equals a task is away for
    three quanta."""
    slices = (*ASKED, "--question=slice", "--policy=rr:80", "--points=2", "--occupy-all")
    lines = [
        ("/bin/quantum", ms, PROBE, *slices, f"--tasks={n}") for ms, n in (("100", 1), ("20", 1), ("20", 3))
    ]
    for cell, quantum, others in zip(_cells(standard, lines), (100, 20, 20), (1, 1, 3), strict=True):
        assert cell["outcomes"] == {"interval_ns": quantum * MS, "rr_timeslice_ms": quantum}
        run, away = (cell["columns"][name] for name in ("run_ns", "away_ns"))
        for value in (run["min"], run["max"]):
            assert value == pytest.approx(quantum * MS, abs=20_000)
        for value in (away["min"], away["max"]):
            assert value == pytest.approx(others * quantum * MS, abs=20_000)
        assert cell["columns"]["stolen_ns"]["max"] == 0


@pytest.mark.parametrize("equals", [(1, 3), pytest.param((15,), marks=pytest.mark.sweep)])
def test_fair_equals_take_turns_of_a_tick(standard: Bench, equals: tuple[int, ...]) -> None:
    slices = (PROBE, *ASKED, "--question=slice", "--policy=other", "--points=40")
    lines = [(*slices, f"--tasks={n}") for n in equals]
    for cell, others in zip(_cells(standard, lines), equals, strict=True):
        run, away = (cell["columns"][name] for name in ("run_ns", "away_ns"))
        assert run["max"] < 2 * TICK  # one that begins between two ticks has not had its share at the first
        assert run["quantiles"]["0.5"] == pytest.approx(TICK, abs=20_000)
        assert away["quantiles"]["0.5"] == pytest.approx(others * TICK, rel=0.01)
        assert run["mean"] / (run["mean"] + away["mean"]) == pytest.approx(1 / (others + 1), rel=0.02)


@pytest.mark.parametrize("values", [(-5, 10), pytest.param((0, 5), marks=pytest.mark.sweep)])
def test_two_tasks_share_the_cpu_by_the_kernels_weights(standard: Bench, values: tuple[int, ...]) -> None:
    shares = (PROBE, *ASKED, "--question=shares", "--points=4")
    for cell in _cells(standard, [(*shares, f"--nice={nice}") for nice in values]):
        assert cell["outcomes"]["share"] == pytest.approx(cell["outcomes"]["expected_share"], abs=0.005)


@pytest.mark.long
def test_who_sleeps_is_served_before_who_never_does(standard: Bench) -> None:
    sleeper = (PROBE, *ASKED, "--question=sleeper", "--points=40", "--tasks=4")
    lines = [sleeper, (*sleeper, "--policy=fifo:80"), (*sleeper, "--work=8ms", "--sleep=1ms")]
    interactive, first, busy = (cell["columns"] for cell in _cells(standard, lines))
    for columns in (interactive, first):
        assert columns["runnable_ns"]["quantiles"]["0.5"] > 2 * TICK
        assert columns["timer_ns"]["quantiles"]["0.5"] < 100_000  # an ordinary task's timer slack is 50 us
        assert columns["pipe_ns"]["quantiles"]["0.5"] < 20_000
    assert max(first[name]["max"] for name in ("timer_ns", "pipe_ns")) < 20_000
    # It wants eight ninths of the CPU, and a fifth is its share: it has to wait as the others do.
    late = [sum(columns[name]["mean"] for name in ("timer_ns", "pipe_ns")) for columns in (interactive, busy)]
    assert late[1] > 5 * late[0] and busy["timer_ns"]["max"] > TICK
