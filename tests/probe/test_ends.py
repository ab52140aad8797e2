"""However it ends: whole streams, no process left, the documented exit code."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lacks import AS_ROOT, KERNEL, skip
from probe.drive import cell, probe_path, read_stream, run, running
from processes import is_running, until, with_word

FULL = os.strerror(errno.ENOSPC)

pytestmark = pytest.mark.beside


def test_an_interrupted_test_ends_as_it_would_at_its_end(probe: Path, tmp_path: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        path = tmp_path / f"stream-{number}"
        with running("cyclic", "--duration", "1h", "--json", "--stream", path) as one:
            one.progress()
            one.process.send_signal(number)
            code, out, err = one.end()
        assert code == 0, err
        summary = json.loads(out.splitlines()[-1])["cells"][0]
        assert summary["stop_reason"] == "stopped"
        account = summary["accounting"]
        assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
        trailer = read_stream(path).trailer
        assert trailer is not None and trailer["stop_reason"] == "stopped"


def loads_of(pid: int) -> set[int]:
    """The processes that a probe has started itself: its loads."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.add(int(stat.parent.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_test_that_is_stopped_while_its_loads_run_alone_measures_nothing(
    probe: Path, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "stream"
    load = f"disk:max,size=1MiB,sync=1TiB,directory={tmp_path}"  # never syncs: runs alone for as long as any load may
    with running("cyclic", "--load", load, "--duration", "1h", "--stream", path) as one:
        while not (started := loads_of(one.pid)):
            assert one.process.poll() is None
        one.process.send_signal(signal.SIGSTOP)  # it comes no further before the signal is there
        one.process.send_signal(number)
        one.process.send_signal(signal.SIGCONT)
        while one.process.poll() is None:
            started |= loads_of(one.pid)
        code, out, err = one.end()
    assert code == 5
    assert "before anything" in err and not out
    assert len(started) == 1, "the load was started again"
    assert not any(is_running(pid) for pid in started)
    assert path.stat().st_size == 0
    assert list(tmp_path.iterdir()) == [path], "the load left files"


def test_a_killed_probe_leaves_a_stream_that_balances(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    with running("cyclic", "--cpus", "all", "--duration", "1h", "--quiet", "--stream", path) as one:
        one.progress()
        one.process.kill()
        code, _, _ = one.end()
    assert code == -signal.SIGKILL
    stream = read_stream(path)
    assert stream.trailer is None
    tables = [table for table in stream.header.tables if table.name == "samples"]
    assert tables
    for table in tables:
        totals = stream.totals[table.id]
        assert totals.rows_total == stream.columns[table.id]["release"].size > 0
        assert totals.releases == totals.rows_total + totals.overruns + totals.dropped
        assert totals.releases == stream.columns[table.id]["release"][-1] + 1


def test_a_killed_probe_leaves_no_load_behind(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    with running("cyclic", "--load", "cpu:10", "--duration", "1h", "--quiet", "--stream", path) as one:
        one.progress()
        loads = [int(load["pid"]) for load in read_stream(path).raw_header["in_force"]["loads"]]
        assert loads and all(is_running(pid) for pid in loads)
        one.process.kill()
        one.end()
    assert until(lambda: not any(is_running(pid) for pid in loads))


def test_it_ends_with_its_parent(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream-of-an-orphan"
    program = (
        "import os, signal, subprocess, sys\n"
        "one = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)\n"
        "one.stdout.readline()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    words = [str(probe_path()), "cyclic", "--duration", "1h", "--quiet", "--progress", "--end-with-parent"]
    subprocess.run([sys.executable, "-c", program, *words, "--stream", str(path)], check=False)
    assert until(lambda: not with_word(str(path)))
    trailer = read_stream(path).trailer
    assert trailer is not None and trailer["stop_reason"] == "stopped"


@pytest.mark.parametrize("words", [("cyclic",), ("load", "cpu:5")])
def test_a_parent_that_ended_before_it_could_ask_is_noticed(probe: Path, words: tuple[str, ...]) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    words = (*words, "--duration", "10ms", "--end-with-parent")
    done = run(*words, f"--parent={ended.pid}")
    assert done.returncode == 4
    assert "the parent has" in done.stderr
    mine = run(*words, f"--parent={os.getpid()}")
    assert mine.returncode == 0, mine.stderr


def test_a_threshold_ends_the_run_with_exit_code_1(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    done = run(
        "cyclic", "--cpus", "all", "--threshold", "1ns", "--duration", "1h", "--quiet", "--stream", path
    )
    assert done.returncode == 1, done.stderr
    trailer = read_stream(path).trailer
    assert trailer is not None and trailer["stop_reason"] == "threshold"


def test_a_threshold_that_is_not_reached_changes_nothing(probe: Path) -> None:
    summary = cell(run("cyclic", "--threshold", "50s", "--activations", "50", "--json"))
    assert summary["stop_reason"] == "activations"
    assert summary["accounting"]["recorded"] == 50


def test_a_full_disk_ends_orderly_with_a_stream_up_to_its_last_whole_batch(
    probe: Path, small_disk: Path
) -> None:
    path = small_disk / "stream"
    done = run("cyclic", "--period", "100us", "--duration", "1h", "--quiet", "--stream", path)
    assert done.returncode == 4
    assert FULL in done.stderr and "Traceback" not in done.stderr
    stream = read_stream(path)
    totals = stream.totals[0]
    assert totals.releases == totals.rows_total + totals.overruns + totals.dropped
    assert totals.rows_total == stream.columns[0]["release"].size > 0
    if stream.trailer is not None:  # it fitted after all
        account = stream.trailer["accounting"][0]
        assert account["recorded"] == totals.rows_total
        assert account["dropped"] > 0


def test_a_disk_that_is_full_at_once_ends_the_run_too(probe: Path, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(65536))
    done = run("cyclic", "--duration", "1h", "--quiet", "--stream", small_disk / "stream")
    assert done.returncode == 4
    assert FULL in done.stderr


def test_no_thread_outlives_an_error_in_the_middle_of_the_start(probe: Path, tmp_path: Path) -> None:
    done = run("cyclic", "--load", "no-such-load", "--duration", "1s")
    assert done.returncode == 2
    assert not with_word("no-such-load")


def test_progress_lines_count_up(probe: Path) -> None:
    with running("cyclic", "--duration", "1h", "--quiet") as one:
        first, second = one.progress(), one.progress()
        assert second[0] > first[0] > 0 and second[1] > first[1] and second[2] >= first[2]
        one.process.send_signal(signal.SIGINT)
        assert one.end()[0] == 0


def test_the_trace_is_marked_and_stopped_at_the_threshold(probe: Path) -> None:
    tracing = Path("/sys/kernel/tracing")
    if not os.access(tracing / "tracing_on", os.W_OK):
        skip("the kernel's trace", AS_ROOT if os.geteuid() != 0 else KERNEL)
    before = (tracing / "tracing_on").read_text()
    try:
        (tracing / "tracing_on").write_text("1")
        done = run("cyclic", "--threshold", "1ns", "--break-trace", "--duration", "1h", "--quiet")
        assert done.returncode == 1, done.stderr
        assert (tracing / "tracing_on").read_text().strip() == "0"
        assert "howlate: latency" in (tracing / "trace").read_text()
    finally:
        (tracing / "tracing_on").write_text(before)
