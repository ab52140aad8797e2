"""A run that did not take place says so: by its exit code, without a cell that calls itself valid."""

import json
import subprocess

import pytest

from howlate.system.paths import probe_path
from processes import completed

pytestmark = pytest.mark.beside
TIMERS = ("timerfd", "epoll_timerfd", "epoll_pwait2", "io_uring", "timer_create")
FILES = range(4, 12)
"""With so few open files some thread gets no timer after everything else has begun."""


def run(timer: str, files: int, *more: str) -> subprocess.CompletedProcess[str]:
    argv = ["prlimit", f"--nofile={files}", str(probe_path()), "cyclic", f"--timer={timer}"]
    return completed([*argv, "--period=1ms", "--activations=5", *more], timeout=60)


@pytest.mark.parametrize("timer", TIMERS)
def test_no_cell_is_valid_whose_thread_was_refused(timer: str) -> None:
    codes = set()
    for files in FILES:
        done = run(timer, files, "--json")
        codes.add(done.returncode)
        if done.returncode in (0, 1):
            (cell,) = json.loads(done.stdout)["cells"]
            assert cell["accounting"]["recorded"] == 5
        else:
            assert done.stderr.startswith("howlate-probe: ") or "\nhowlate-probe: " in done.stderr
            assert done.stdout == "", (timer, files, "nothing was measured, so there is no cell")
    assert 0 in codes and len(codes) > 1


def test_the_summary_for_people_does_not_show_zeros_either() -> None:
    refused = [done for files in FILES if (done := run("timerfd", files)).returncode not in (0, 1)]
    assert refused and all("minimum" not in done.stdout for done in refused)
