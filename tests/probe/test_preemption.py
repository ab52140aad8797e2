"""A task of higher priority takes the CPU and gives it back, from the real probe."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lacks import AS_ROOT, needs_two_cpus, skip
from probe.drive import cell, read_stream, run, running, stall_often, thread_id

STALL_NS = 50_000_000


@pytest.fixture(autouse=True)
def real_time(probe: Path) -> Iterator[None]:
    done = run("preemption", "--points", "1")
    if done.returncode == 3:
        assert "." in done.stderr
        skip(done.stderr, AS_ROOT)
    yield


def test_every_point_passes_or_is_counted_as_failed(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    summary = cell(run("preemption", "--points", "1000", "--json", "--stream", path))
    account, outcomes = summary["accounting"], summary["outcomes"]
    assert account["releases"] == 1000 == account["recorded"] + account["overruns"]
    assert outcomes["passes"] + outcomes["failures"] == 1000
    stream = read_stream(path)
    assert stream.raw_header["switched_by_design"]
    rows = stream.columns[0]
    assert rows["index"].size == outcomes["passes"]
    for column in ("cs1_ns", "cs2_ns"):
        assert np.all(rows[column] > 0)
    assert np.all(rows["wait_ns"] >= 0)
    assert np.count_nonzero((rows["flags"] & 2) == 0) > 900  # no third task, but seldom
    for thread in (*summary["threads"], *summary["helpers"]):
        assert (thread["minor_faults"], thread["major_faults"]) == (0, 0)


def test_it_spins_for_half_of_the_time_at_most(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    cell(run("preemption", "--points", "20000", "--duration", "3s", "--json", "--stream", path))
    time_ns = read_stream(path).columns[0]["time_ns"]
    between = np.diff(time_ns)
    pauses = np.nonzero(between >= 500_000_000)[0]
    assert pauses.size >= 2
    resumed_ns = time_ns[pauses[-1] + 1]  # after it the run may end at any part of half a second
    assert between[pauses].sum() >= 0.4 * (resumed_ns - time_ns[0])


@needs_two_cpus
def test_a_stall_of_known_length_is_found_in_one_point(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    words = ["preemption", "--sleep", "10ms", "--spin", "10ms", "--points", "10000", "--timeout", "1s"]
    with running(*words, "--quiet", "--stream", path) as one:
        one.progress()
        stall_ns = stall_often(one, STALL_NS, 10)
        code, _, err = one.stop()
    assert code == 0, err
    rows = read_stream(path).columns[0]
    # What P1 spins on purpose (10 ms) may lie within the stall.
    assert (rows["cs1_ns"] + rows["wait_ns"] + rows["cs2_ns"]).max() >= stall_ns - 10_000_000


def test_a_third_task_between_is_flagged_and_costs(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    cpu = max(os.sched_getaffinity(0))
    load = f"cpu:20,cpus={cpu},policy=fifo:90"
    cell(run("preemption", "--points", "3000", "--load", load, "--json", "--stream", path))
    rows = read_stream(path).columns[0]
    others = (rows["flags"] & 2) != 0
    assert np.count_nonzero(others) > 0
    taken = rows["cs1_ns"] + rows["wait_ns"] + rows["cs2_ns"]
    assert np.count_nonzero(taken > 10 * np.median(taken[~others])) > 0


def test_a_preemption_that_does_not_come_in_time_fails(probe: Path) -> None:
    words = ["--sleep", "1ms", "--timeout", "5ms", "--points", "100000", "--json"]
    with running("preemption", *words) as one:
        one.progress()
        os.sched_setscheduler(
            thread_id(one, "P1"), os.SCHED_OTHER, os.sched_param(0)
        )  # it cannot preempt now
        one.progress()
        one.progress()
        code, out, err = one.stop()
    assert code == 0, err
    summary = json.loads(out.splitlines()[-1])["cells"][0]
    assert summary["stop_reason"] == "stopped"
    assert summary["outcomes"]["failures"] == summary["accounting"]["overruns"] > 10
    assert summary["outcomes"]["passes"] > 10


def test_a_point_that_fails_leaves_no_row_and_no_value(probe: Path, tmp_path: Path) -> None:
    """P1's sleep is over before it began, so it comes and goes before P2's first reading; the gap that P2 takes
    for the preemption (an interrupt is enough) lies after it."""
    path = tmp_path / "stream"
    words = ["--sleep", "1us", "--spin", "1us", "--timeout", "20ms", "--points", "400"]
    summary = cell(run("preemption", *words, "--json", "--stream", path))
    account, outcomes = summary["accounting"], summary["outcomes"]
    assert outcomes["failures"] > 0
    assert (outcomes["passes"], outcomes["failures"]) == (account["recorded"], account["overruns"])
    columns = read_stream(path).columns
    for rows in [columns[0]] if 0 in columns else []:
        assert rows["index"].size == outcomes["passes"]
        assert min(rows["cs1_ns"].min(), rows["cs2_ns"].min()) > 0
    for column in summary["columns"].values():
        assert column["count"] == outcomes["passes"]


def test_it_ends_when_it_is_stopped(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    with running("preemption", "--points", "1000000", "--quiet", "--stream", path) as one:
        points, _, _ = one.progress()
        assert points > 0
        one.process.send_signal(signal.SIGTERM)
        assert one.end()[0] == 0
    trailer = read_stream(path).trailer
    assert trailer is not None
    assert trailer["stop_reason"] == "stopped"
    assert trailer["accounting"][0]["recorded"] >= points - trailer["accounting"][0]["overruns"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--high", "70", "--low", "70"], "--high the greater"),
        (["--high", "100"], "1 to 99"),
        (["--sleep", "0"], "1us to 100ms"),
        (["--spin", "1ns"], "1us to 100ms"),
        (["--timeout", "100us"], "longer than"),
    ],
)
def test_what_cannot_be_meant_is_refused(probe: Path, words: list[str], said: str) -> None:
    done = run("preemption", *words)
    assert done.returncode == 2
    assert said in done.stderr
