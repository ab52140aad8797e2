"""The test `scheduler` on the real system."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lacks import AS_ROOT, lack, needs_root, needs_two_cpus, skip
from probe.drive import Stream, cell, read_stream, run, running, threads_of
from processes import completed

CPUS = sorted(os.sched_getaffinity(0))


def _asked(path: Path, *words: str) -> Stream:
    done = run("scheduler", *words, "--quiet", "--stream", path)
    if done.returncode == 3:
        skip(done.stderr, AS_ROOT)
    assert done.returncode == 0, done.stderr
    return read_stream(path)


def _summary(*words: str) -> Any:
    return cell(run("scheduler", *words, "--json"))


def test_inheritance_spares_the_work_of_who_comes_between(probe: Path, tmp_path: Path) -> None:
    words = ["--question", "inversion", "--points", "20", "--hold", "1ms", "--between", "5ms"]
    samples = _asked(tmp_path / "stream", *words).columns[0]
    assert samples["index"].size == 20
    inherited, plain = (
        int(samples[name].min()) for name in ("inherit_ns", "plain_ns")
    )  # the least disturbed
    assert 0.8 * 1_000_000 <= inherited < 5_000_000 < 0.9 * 6_000_000 <= plain


@needs_two_cpus
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


@needs_two_cpus
def test_a_point_without_a_gap_is_given_up_and_counted(probe: Path) -> None:
    words = ["--question", "throttling", "--points", "2", "--spin", "20ms", "--rest", "10ms", "--json"]
    done = run("scheduler", *words)
    if done.returncode == 3:
        skip(done.stderr, AS_ROOT)
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
        (["--question", "throttling", "--rest", "6s"], 2, "5s"),
        (["--call", "0"], 2, "--call"),
        (["--question", "tasks", "--tasks", "4097"], 2, "4096"),
        (["--question", "tasks", "--policy", "deadline:1ms:2ms:3ms", "--tasks", "1"], 2, "sleeping"),
        (["--question", "slice", "--policy", "fifo:80"], 2, "rr:P"),
        (["--question", "slice", "--policy", "other", "--tasks", "65"], 2, "64"),
        (["--question", "shares", "--policy", "fifo:80"], 2, "nice"),
        (["--question", "shares", "--nice", "20"], 2, "19"),
        (["--question", "shares", "--window", "1us"], 2, "1ms"),
        (["--question", "sleeper", "--tasks", "0"], 2, "64"),
        (["--question", "sleeper", "--sleep", "0ms"], 2, "--sleep"),
    ],
)
def test_what_cannot_be_is_refused(probe: Path, words: list[str], code: int, says: str) -> None:
    done = run("scheduler", *words)
    if done.returncode == 3 != code:
        skip(done.stderr, AS_ROOT)
    assert done.returncode == code
    assert says in done.stderr


def test_a_poll_is_as_long_as_the_descriptors_that_it_looks_at(probe: Path) -> None:
    """Its own limit on open files tells how many."""

    def call_ns(files: int) -> int:
        before = ("prlimit", f"--nofile={files}:{files}")
        words = ["--question", "syscall", "--long-call", "poll", "--points", "20", "--json"]
        return int(cell(run("scheduler", *words, before=before))["outcomes"]["call_ns"])

    if shutil.which("prlimit") is None:
        skip("prlimit", "apt-get install util-linux")
    assert call_ns(10_000) > 4 * call_ns(500) > 0


def _tasks(path: Path, *words: str) -> Stream:
    return _asked(path, "--question", "tasks", "--points", "50", *words)


@pytest.mark.parametrize("policy", ["other", "fifo:80"])
@pytest.mark.parametrize("state", ["runnable", "sleeping"])
def test_every_point_among_many_tasks_is_a_row_or_a_failure(
    probe: Path, tmp_path: Path, policy: str, state: str
) -> None:
    words = ["--policy", policy, "--tasks", "40", "--tasks-state", state]
    stream = _tasks(tmp_path / "stream", *words)
    assert stream.trailer is not None
    outcomes, account = stream.trailer["outcomes"], stream.trailer["accounting"][0]
    assert outcomes["passes"] == account["recorded"] and outcomes["failures"] == account["overruns"]
    assert outcomes["passes"] + outcomes["failures"] == 50
    # tasks of a busy machine may come between all pairs of fair ones
    assert outcomes["passes"] > 0 or policy == "other"
    samples = stream.columns[0]
    assert samples["wake_up_ns"].min(initial=1) > 0 and samples["switch_ns"].min(initial=1) > 0
    assert (account["minor_faults"], account["major_faults"]) == (0, 0)
    # FIFO: between two points each of the others has had the CPU at least once.
    if state == "sleeping":
        assert outcomes["crowd_turns"] == 0
    elif policy.startswith("fifo"):
        assert outcomes["crowd_turns"] >= 40 * 50


def test_the_tasks_are_there_and_do_what_was_asked_and_end_when_it_is_killed(probe: Path) -> None:
    words = ["scheduler", "--question", "tasks", "--tasks", "64", "--tasks-state", "sleeping"]
    with running(*words, "--points", "3000000") as one:
        one.progress()
        states = [state for _, name, state in threads_of(one) if name == "scheduler/crowd"]
        assert states == ["S"] * 64
        one.process.kill()
        one.end()
        assert not Path(f"/proc/{one.pid}/task").exists()


def test_it_ends_among_runnable_tasks_when_it_is_stopped(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    words = ["scheduler", "--question", "tasks", "--tasks", "200", "--points", "10000000", "--quiet"]
    with running(*words, "--stream", str(path)) as one:
        points, _, _ = one.progress()
        one.process.send_signal(signal.SIGTERM)
        assert one.end()[0] == 0
    trailer = read_stream(path).trailer
    assert trailer is not None and trailer["stop_reason"] == "stopped"
    assert trailer["accounting"][0]["releases"] >= points


ANOTHER = ("setpriv", "--reuid=65533", "--regid=65533", "--clear-groups")
"""Becomes a user without rights, and without tasks."""
NOBODY = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("prlimit", "setpriv", "nice")) or os.geteuid() != 0,
    reason=lack("root's rights, prlimit, setpriv or nice", AS_ROOT),
)


def _as_another(probe: Path, folder: Path, before: tuple[str, ...], *words: str) -> str:
    """What is said of what is not possible."""
    own = folder / "howlate-probe"
    shutil.copy(probe, own)
    own.chmod(0o755)
    argv: list[str | Path] = [*before, *ANOTHER, own, *words]
    done = completed(argv, timeout=120, cwd="/")
    assert done.returncode == 3
    return done.stderr


@NOBODY
def test_a_limit_on_tasks_is_named(probe: Path, everybodys: Path) -> None:
    words = ["scheduler", "--question", "tasks", "--tasks", "100", "--policy", "other"]
    at_zero = ("nice", "-n", str(-os.nice(0)))  # also where the tests run at a higher one
    said = _as_another(probe, everybodys, (*at_zero, "prlimit", "--nproc=30"), *words)
    assert "100 tasks" in said and "ulimit -u" in said


@NOBODY
def test_who_was_started_at_a_nice_value_is_told_of_that(probe: Path, everybodys: Path) -> None:
    words = ["cyclic", "--policy", "other", "--activations", "1"]
    said = _as_another(probe, everybodys, ("nice", "-n", "5"), *words)
    assert "other at nice 0" in said and "without 'nice'" in said


@needs_two_cpus
@needs_root
def test_deadline_tasks_are_refused_where_they_cannot_be_kept_on_one_cpu(probe: Path) -> None:
    words = ["--policy", "deadline:30ms:50ms:100ms", "--tasks-state", "sleeping"]
    done = run("scheduler", "--question", "tasks", *words)
    assert done.returncode == 3
    assert "one CPU" in done.stderr or "sched" in done.stderr


def _medians(stream: Stream) -> dict[str, float]:
    return {name: float(np.median(values)) for name, values in stream.columns[0].items()}


@needs_two_cpus
def test_round_robin_equals_take_equal_turns(probe: Path, tmp_path: Path) -> None:
    """Whoever else takes the CPU meanwhile takes it from both alike: run and absence are compared with each other."""
    words = ["--question", "slice", "--policy", "rr:80", "--points", "3"]
    stream = _asked(tmp_path / "stream", *words)
    assert stream.trailer is not None
    outcomes = stream.trailer["outcomes"]
    told = Path("/proc/sys/kernel/sched_rr_timeslice_ms").read_text()
    assert outcomes["rr_timeslice_ms"] == int(told)
    assert outcomes["interval_ns"] == pytest.approx(int(told) * 1_000_000, rel=0.1)  # whole ticks
    median = _medians(stream)
    assert median["run_ns"] + median["stolen_ns"] == pytest.approx(median["away_ns"], rel=0.2)
    assert (stream.columns[0]["flags"] & 2 == 2).all()


def test_a_fair_task_is_away_for_its_equals_turns(probe: Path, tmp_path: Path) -> None:
    """The more equals, the longer it is away for each part of a second that it runs. Others may want the CPU too:
    then the difference is smaller."""
    share = {}
    for tasks in (1, 31):
        words = ["--question", "slice", "--policy", "other", "--points", "8", "--tasks", str(tasks)]
        samples = _asked(tmp_path / str(tasks), *words).columns[0]
        assert samples["run_ns"].size == 8 and samples["run_ns"].min() > 0
        share[tasks] = samples["run_ns"].sum() / (samples["run_ns"].sum() + samples["away_ns"].sum())
    assert share[31] < 0.6 * share[1]


def test_shares_follow_the_kernels_weights(probe: Path) -> None:
    """The two tasks' CPU time is compared, so what others take does not matter."""
    share = {}
    for nice in (0, 5, 10):
        found = _summary("--question", "shares", "--nice", str(nice), "--points", "6", "--window", "200ms")
        assert set(found["columns"]) == {"window_ns", "nice0_ns", "niced_ns"}
        own, other = (found["columns"][name]["mean"] for name in ("nice0_ns", "niced_ns"))
        assert found["outcomes"]["share"] == pytest.approx(other / (own + other), rel=1e-6)
        assert found["outcomes"]["share"] == pytest.approx(found["outcomes"]["expected_share"], abs=0.05)
        assert found["labels"]["nice"] == str(nice)
        share[nice] = found["outcomes"]["share"]
    assert share[0] > 1.5 * share[5] > 3 * share[10]


def test_who_sleeps_is_served_before_who_computes(probe: Path, tmp_path: Path) -> None:
    """A real-time sleeper is always; the tasks that compute wait for each other."""
    words = ["--question", "sleeper", "--tasks", "4", "--points", "30", "--policy", "fifo:80"]
    median = _medians(_asked(tmp_path / "stream", *words))
    assert 0 < median["timer_ns"] < median["runnable_ns"]
    assert 0 < median["pipe_ns"] < median["runnable_ns"]


@pytest.mark.parametrize("question", ["slice", "shares", "sleeper"])
def test_it_ends_among_tasks_that_compute_when_it_is_stopped(
    probe: Path, tmp_path: Path, question: str
) -> None:
    path = tmp_path / "stream"
    words = ["scheduler", "--question", question, "--policy", "other", "--tasks", "3", "--points", "1000000"]
    with running(*words, "--window", "10ms", "--quiet", "--stream", str(path)) as one:
        one.progress()
        one.process.send_signal(signal.SIGTERM)
        assert one.end()[0] == 0
    trailer = read_stream(path).trailer
    assert trailer is not None and trailer["stop_reason"] == "stopped"
