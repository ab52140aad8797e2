"""Every way in which a load can end: none outlives its parent, and nothing is left behind."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from probe.drive import probe_list, probe_path
from probe.loads_drive import of_session, running
from processes import children_of, completed, is_running, until

pytestmark = pytest.mark.beside

CPUS = len(os.sched_getaffinity(0))
SMALLER = {"disk": "disk:5MiB/s", "hackbench": "hackbench:2", "network": "network:200"}
"""In place of a load at its default target, where that takes long."""
NAMES = [load["name"] for load in probe_list()["loads"] if load["name"] != "none"]
ALL = [*(SMALLER.get(name, name) for name in NAMES), "hackbench:2,threads"]


@pytest.mark.parametrize("spec", ALL)
def test_a_load_whose_supervisor_is_killed_leaves_nothing(probe: Path, spec: str) -> None:
    with running(spec) as load:
        assert load.report() is not None
        assert len(of_session(load.process.pid)) > 1
        load.process.kill()
        assert until(lambda: not of_session(load.process.pid))


@pytest.mark.parametrize("spec", ALL)
@pytest.mark.parametrize("stopped", [False, True])
def test_a_load_does_not_outlive_its_parent(probe: Path, spec: str, stopped: bool) -> None:
    """The parent is a shell that is killed; a load that is stopped at that moment ends as well."""
    read_fd, write_fd = os.pipe()
    script = f'"$0" load {spec} --json --end-with-parent --report-fd={write_fd} & wait'
    parent = subprocess.Popen(
        ["sh", "-c", script, str(probe_path())],
        pass_fds=[write_fd],
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(write_fd)
    try:
        assert len(os.read(read_fd, 32)) == 32
        assert len(of_session(parent.pid)) > 2
        if stopped:
            os.kill(children_of(parent.pid)[0], signal.SIGSTOP)
        parent.kill()
        parent.wait()
        assert until(lambda: not of_session(parent.pid))
    finally:
        parent.kill()
        parent.wait()
        os.close(read_fd)


def test_a_load_does_not_outlive_a_killed_probe(probe: Path) -> None:
    words = ["--load", "cpu:10", "--load", "hackbench:1", "--load", "network:100", "--load", "disk:1MiB/s"]
    one = subprocess.Popen(
        [str(probe_path()), "cyclic", *words, "--duration", "1h", "--progress"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert one.stdout is not None
        assert one.stdout.readline().startswith("progress ")
        assert len(of_session(one.pid)) >= 1 + 4 + CPUS + 3  # itself, the supervisors, their workers
    finally:
        one.kill()
        one.wait()
    assert until(lambda: not of_session(one.pid))


def test_a_load_that_cannot_start_ends_the_test_with_its_own_sentence(probe: Path) -> None:
    words = ["--load", "cpu:10", "--load", "disk:1MiB/s,directory=/not/there", "--duration", "1s"]
    done = completed([str(probe_path()), "cyclic", *words], timeout=120)
    assert done.returncode == 3
    assert "/not/there" in done.stderr and "disk:1MiB/s" in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_the_signals_that_end_a_load_end_it_whole(probe: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with running("hackbench:1") as load:
            assert load.report() is not None
            pids = load.tree()
            load.stop(number)
            assert not any(is_running(pid) for pid in pids)


def test_a_worker_that_is_killed_ends_the_load_with_a_sentence(probe: Path) -> None:
    with running("cpu:10") as load:
        assert load.report() is not None
        os.kill(children_of(load.process.pid)[0], signal.SIGKILL)
        _, err = load.process.communicate(timeout=60)
    assert load.process.returncode == 4
    assert "signal 9" in err and err.count("\n") == 1
