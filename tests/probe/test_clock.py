"""The differences of successive readings of each clock, from the real probe."""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

from lacks import MACHINE, needs_two_cpus, skip
from probe.drive import cell, probe_list, read_stream, run, running, stall_often, wait_until_running

CLOCKS = [
    *("monotonic", "monotonic_raw", "realtime", "boottime", "tai"),
    *("realtime_coarse", "monotonic_coarse", "cycles"),
]
STALL_NS = 50_000_000


def test_a_million_points_are_made_without_a_page_fault(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    summary = cell(run("clock", "--json", "--stream", path))
    assert summary["accounting"]["recorded"] == summary["columns"]["dt_ns"]["count"] == 1_000_000
    for thread in summary["threads"]:
        assert (thread["minor_faults"], thread["major_faults"]) == (0, 0)
    assert run("check-stream", path).returncode == 0
    rows = read_stream(path).columns[0]
    assert np.array_equal(rows["index"], np.arange(1_000_000))
    # A difference is the step of time from one point to the next, but where a window (of 1000 at least) began anew.
    beyond = np.diff(rows["time_ns"]) - rows["dt_ns"][1:]
    assert beyond.min() >= 0 and np.count_nonzero(beyond) <= 1_000_000 / 1000
    above = rows["dt_ns"] > 25
    assert summary["outcomes"]["above"] == np.count_nonzero(above)
    assert summary["outcomes"]["stddev_without_ns"] == pytest.approx(
        np.std(rows["dt_ns"][~above], ddof=1) if np.count_nonzero(~above) > 1 else 0.0
    )


@pytest.mark.parametrize("clock", CLOCKS)
def test_each_clock_goes_forward_if_it_is_there(probe: Path, clock: str) -> None:
    done = run("clock", "--clock", clock, "--points", "20000", "--json")
    if done.returncode == 3:
        assert clock in done.stderr or "counter" in done.stderr
        return
    values = cell(done)["columns"]["dt_ns"]
    if clock not in ("realtime", "realtime_coarse", "tai"):  # these may be set back
        assert values["min"] >= 0
    assert values["count"] == 20000


def test_a_coarse_clock_moves_in_its_own_steps(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    cell(run("clock", "--clock", "monotonic_coarse", "--points", "3000000", "--json", "--stream", path))
    moved = read_stream(path).columns[0]["dt_ns"]
    moved = moved[moved != 0]
    step_ns = (
        time.clock_getres(time.CLOCK_MONOTONIC_COARSE if hasattr(time, "CLOCK_MONOTONIC_COARSE") else 6) * 1e9
    )
    assert moved.size > 0
    assert np.all(moved > 0.9 * step_ns)


def test_a_system_call_costs_more_than_the_vdso(probe: Path) -> None:
    vdso, call = (
        cell(run("clock", "--via", via, "--points", "100000", "--json")) for via in ("vdso", "syscall")
    )
    if vdso["clocksource"]["before"] not in ("tsc", "arch_sys_counter"):
        skip("a clock source with a vDSO", MACHINE)
    assert call["columns"]["dt_ns"]["quantiles"]["0.5"] > vdso["columns"]["dt_ns"]["quantiles"]["0.5"]


def test_the_counter_agrees_with_the_clock(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    done = run("clock", "--clock", "cycles", "--json", "--stream", path)
    if done.returncode == 3:
        return
    summary = cell(done)
    rows = read_stream(path).columns[0]
    assert summary["outcomes"]["counter_hz"] > 1e6
    # Rounded one by one, a million differences still make up the time from the first to the last.
    spanned = rows["time_ns"][-1] - rows["time_ns"][0]
    assert abs(int(rows["dt_ns"][1:].sum()) - int(spanned)) <= rows["dt_ns"].size / 2


@needs_two_cpus
def test_a_stall_of_known_length_is_found_as_a_difference(probe: Path) -> None:
    name = f"clock/{max(os.sched_getaffinity(0))}"
    stall_ns = 0
    for _ in range(20):  # on a busy machine it may end before it was stopped often enough
        with running("clock", "--via", "syscall", "--points", "6000000", "--json") as one:
            wait_until_running(one, name)
            stall_ns = stall_often(one, STALL_NS, 12)
            code, out, err = one.end()
        assert code == 0, err
        if stall_ns:
            break
    assert stall_ns
    found = json.loads(out.splitlines()[-1])["cells"][0]["columns"]["dt_ns"]["max"]
    assert found >= stall_ns


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--clock", "cycles", "--via", "vdso"], "Leave --via out"),
        (["--points", "0"], "Choose from 1"),
        (["--record", "stream"], "in memory"),
        (["--policy", "deadline:1ms:2ms:2ms"], "other, fifo:P or rr:P"),
        (["--duration", "0"], "more than 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(probe: Path, words: list[str], said: str) -> None:
    done = run("clock", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_every_cpu_is_taken_only_when_that_is_said(probe: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        skip("a second CPU", MACHINE)
    assert run("clock", "--cpus", "all", "--points", "1000").returncode == 2
    summary = cell(run("clock", "--cpus", "all", "--occupy-all", "--points", "1000", "--json"))
    assert len(summary["threads"]) == len(os.sched_getaffinity(0))


def test_the_list_says_its_columns(probe: Path) -> None:
    test = next(one for one in probe_list()["tests"] if one["name"] == "clock")
    assert [column["name"] for column in test["columns"]] == ["index", "time_ns", "dt_ns", "flags"]
