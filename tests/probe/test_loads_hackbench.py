"""hackbench: its messages, its run times, the account of its tasks."""

import os
import re
import shutil
import signal
import statistics
from pathlib import Path

import pytest

from lacks import AS_ROOT, needs_program, skip
from probe.loads_drive import NOBODY, ROOT, of_session, running
from processes import completed


def test_hackbench_counts_its_messages_and_times_its_runs(probe: Path) -> None:
    with running("hackbench:3,loops=5,fds=4") as load:
        last = load.report()
        while last is not None and last.restarts < 3:
            last = load.report()
        tasks = len(load.tree()) - 2
        told = load.stop()
    results = told["results"]
    assert 0 <= tasks <= 3 * 4 * 2
    in_a_run = 3 * 4 * 4 * 5  # counted as they come, those of the run that the end cut as well
    assert results["runs"] * in_a_run <= told["units"] <= (results["runs"] + 1) * in_a_run
    times = results["run_ns"]
    assert results["runs"] >= 2 and len(times) == min(results["runs"], 635)
    if len(times) == results["runs"]:
        assert results["run_ns_min"] == min(times) and results["run_ns_max"] == max(times)
        assert results["run_ns_mean"] == pytest.approx(statistics.fmean(times))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("shape", ["", ",pipe", ",threads"])
def test_hackbench_ended_amid_a_run_leaves_no_task_and_prints_what_it_did(
    probe: Path, shape: str, number: int
) -> None:
    """A run that would take hours: of 2 groups of 3 senders and 3 receivers, all of them at work."""
    with running(f"hackbench:2,fds=3,loops=1000000{shape}") as load:
        last = load.report()
        while last is not None and last.units == 0:
            last = load.report()
        tasks = len(load.tree()) - 2  # the supervisor and its worker are none
        assert tasks == (0 if "threads" in shape else 12)
        told = load.stop(number)
        assert of_session(load.process.pid) == []
        assert load.report() is not None  # the last totals,
        while load.report() is not None:
            pass  # and then the end of the pipe: no task is left that holds it
    results = told["results"]
    assert results["running"] and results["runs"] == 0 and results["run_ns"] == []
    assert results["run_ns_mean"] is None
    assert told["units"] > 0 and told["cpu_ns"] > 0, "messages count though no run was over"


def test_hackbench_accounts_for_tasks_that_ended(probe: Path) -> None:
    """Its tasks come and go between two looks; the kernel gives the whole account to whoever waits."""
    before = os.times()
    with running("hackbench:4") as load:
        last = load.report()
        while last is not None and last.restarts < 4:
            last = load.report()
        told = load.stop()
    after = os.times()
    kernel_s = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"hackbench:4 told {told['cpu_ns'] / 1e9:.3f} s, the kernel {kernel_s:.3f} s")
    assert last is not None and told["cpu_ns"] >= last.cpu_ns > 0
    # The kernel's figure has the start and the end of the load as well, and comes in ticks.
    assert told["cpu_ns"] / 1e9 <= kernel_s + 0.05
    assert told["cpu_ns"] / 1e9 >= 0.8 * kernel_s - 0.05


@needs_program("hackbench", "rt-tests")
def test_hackbench_takes_as_long_as_the_known_one(probe: Path) -> None:
    """Runs in turn on the same machine; the ratio of the medians is printed."""
    ours, theirs = [], []
    for _ in range(3):
        done = completed(["hackbench", "-g", "4", "-l", "100"], timeout=120)
        match = re.search(r"Time: ([0-9.]+)", done.stdout)
        assert match is not None, done.stdout
        theirs.append(float(match.group(1)))
        with running("hackbench:4") as load:
            last = load.report()
            while last is not None and last.restarts < 2:
                last = load.report()
            ours.append(load.stop()["results"]["run_ns"][0] / 1e9)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"hackbench -g 4 -l 100: ours {ours} s, rt-tests' {theirs} s, ratio of the medians {ratio:.2f}")
    assert 0.33 < ratio < 3


def test_a_limit_of_tasks_is_a_sentence(probe: Path, everybodys: Path) -> None:
    if not ROOT:
        skip("root's rights, to give them up", AS_ROOT)
    binary = everybodys / "howlate-probe"
    shutil.copy2(probe, binary)
    done = completed(
        [*NOBODY, "prlimit", "--nproc=30:30", str(binary), "load", "hackbench:10", "--duration", "1s"],
        timeout=60,
    )
    assert done.returncode == 3
    assert "ulimit -u" in done.stderr and done.stderr.count("\n") == 1
