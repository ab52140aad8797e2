"""The test `scheduler` on the real system."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probe.drive import Stream, cell, read_stream, run

CPUS = sorted(os.sched_getaffinity(0))


def _asked(path: Path, *words: str) -> Stream:
    done = run("scheduler", *words, "--quiet", "--stream", path)
    if done.returncode == 3:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return read_stream(path)


def _summary(*words: str) -> Any:
    return cell(run("scheduler", *words, "--json"))


def test_inheritance_spares_the_work_of_who_comes_between(probe: Path, tmp_path: Path) -> None:
    words = ["--question", "inversion", "--points", "20", "--hold", "1ms", "--between", "5ms"]
    samples = _asked(tmp_path / "stream", *words).columns[0]
    assert samples["index"].size == 20
    inherited, plain = (float(np.median(samples[name])) for name in ("inherit_ns", "plain_ns"))
    assert inherited >= 0.8 * 1_000_000
    assert 0.8 * 5_000_000 <= plain - inherited <= 1.5 * 5_000_000


@pytest.mark.skipif(len(CPUS) < 2, reason="leaves a CPU free")
def test_a_gap_is_one_in_which_the_other_task_ran(probe: Path, tmp_path: Path) -> None:
    stream = _asked(tmp_path / "stream", "--question", "throttling", "--points", "1", "--spin", "2500ms")
    assert stream.trailer is not None
    account = stream.trailer["accounting"][0]
    assert account["recorded"] + account["overruns"] == account["releases"] == 1
    outcomes = stream.trailer["outcomes"]
    assert (outcomes["taken"], outcomes["not_taken"]) == (account["recorded"], account["overruns"])
    if outcomes["taken"]:
        samples = stream.columns[0]
        assert samples["flags"][0] & 2
        assert 0 < samples["ran_ns"][0] < 2_500_000_000
        assert samples["gap_ns"][0] > 20_000
        assert account["involuntary_switches"] >= 1


@pytest.mark.skipif(len(CPUS) < 2, reason="leaves a CPU free")
def test_a_point_without_a_gap_is_given_up_and_counted(probe: Path) -> None:
    done = run("scheduler", "--question", "throttling", "--points", "2", "--spin", "20ms", "--json")
    if done.returncode == 3:
        pytest.skip(done.stderr)
    found = cell(done)
    assert found["outcomes"] == {"taken": 0, "not_taken": 2}
    assert found["accounting"]["overruns"] == 2


def test_the_system_call_is_as_long_as_what_was_asked_for(probe: Path) -> None:
    short, long = (_summary("--points", "20", "--call", size) for size in ("256KiB", "16MiB"))
    assert set(short["columns"]) == {"user_ns", "syscall_ns"}
    assert long["outcomes"]["call_ns"] > 4 * short["outcomes"]["call_ns"] > 0


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--question", "inversion", "--policy", "other"], 3, "FIFO"),
        (["--question", "inversion", "--policy", "fifo:2"], 2, "three priorities"),
        (["--question", "inversion", "--hold", "1min"], 2, "100ms"),
        (["--question", "throttling", "--spin", "1h"], 2, "20s"),
        (["--call", "0"], 2, "--call"),
    ],
)
def test_what_cannot_be_is_refused(probe: Path, words: list[str], code: int, says: str) -> None:
    done = run("scheduler", *words)
    if done.returncode == 3 != code:
        pytest.skip(done.stderr)
    assert done.returncode == code
    assert says in done.stderr
