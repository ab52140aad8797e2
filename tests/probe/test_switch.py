"""The test `switch` on the real system: every way, between threads and processes, on one CPU and across."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lacks import needs_two_cpus
from probe.drive import cell, probe_list, probe_path, read_stream, run, running

CPUS = sorted(os.sched_getaffinity(0))
across = needs_two_cpus


def _ways() -> list[str]:
    if not probe_path().is_file():
        return ["mutex"]  # the fixture `probe` then says what is missing
    return [way["name"] for way in probe_list()["switches"] if way["available"]]


def _switch(*words: str) -> Any:
    return cell(run("switch", "--points", "50", "--switches-per-point", "200", "--json", *words))


@pytest.mark.parametrize("between", ["threads", "processes"])
@pytest.mark.parametrize("by", _ways())
def test_every_hand_over_on_one_cpu_is_a_switch_that_the_kernel_counted(
    probe: Path, by: str, between: str
) -> None:
    found = _switch("--by", by, "--between", between)
    outcomes = found["outcomes"]
    assert found["accounting"]["recorded"] == 50
    assert outcomes["switches"] == 50 * 200
    # A task of the machine that took the CPU in between adds a switch; none can be missing.
    assert outcomes["switches"] <= outcomes["counted_switches"] <= 1.5 * outcomes["switches"] + 1000
    assert found["threads"][0]["minor_faults"] == 0 and found["threads"][0]["major_faults"] == 0
    assert outcomes["partner_faults"] == 0


@across
@pytest.mark.parametrize("by", ["mutex-three", "pipe"])
def test_across_two_cpus_as_many_points_are_made(probe: Path, by: str) -> None:
    found = _switch("--by", by, "--place", "across")
    assert found["accounting"]["recorded"] == 50
    assert found["labels"]["cpu"].replace("-", ",").split(",") == [str(cpu) for cpu in CPUS[-2:]]


def test_a_switch_is_the_point_by_its_number(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    done = run("switch", "--points", "40", "--switches-per-point", "500", "--quiet", "--stream", path)
    assert done.returncode == 0, done.stderr
    samples = read_stream(path).columns[0]
    assert np.array_equal(samples["index"], np.arange(40))
    assert np.array_equal(samples["switch_ns"], (samples["point_ns"] + 250) // 500)
    assert np.all(np.diff(samples["time_ns"]) >= samples["point_ns"][:-1])


def test_work_of_known_size_in_each_turn_is_found_again(probe: Path, tmp_path: Path) -> None:
    least = []  # of the points that nobody came between
    for work in ("0ns", "50us"):
        path = tmp_path / f"stream-{work}"
        words = ["--points", "40", "--switches-per-point", "20", "--work", work, "--quiet"]
        done = run("switch", *words, "--stream", path)
        assert done.returncode == 0, done.stderr
        least.append(int(read_stream(path).columns[0]["switch_ns"].min()))
    assert 0.8 * 50_000 <= least[1] - least[0] <= 1.5 * 50_000


def test_waking_costs_more_than_the_switch_alone(probe: Path) -> None:
    woken, alone = (_switch("--by", by)["columns"]["switch_ns"]["min"] for by in ("pipe", "sched_yield"))
    assert alone < woken


@pytest.mark.parametrize("by", ["mutex", "mutex-pi", "condvar", "pipe"])
def test_a_partner_that_is_killed_ends_the_test_with_a_reason(probe: Path, by: str) -> None:
    words = ["switch", "--by", by, "--between", "processes", "--points", "200000", "--quiet"]
    with running(*words) as one:
        one.progress()
        children = Path(f"/proc/{one.pid}/task/{one.pid}/children").read_text().split()
        assert len(children) == 1
        os.kill(int(children[0]), signal.SIGKILL)
        code, _, err = one.end()
    assert code == 4
    assert "the partner's process ended" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--by", "pip"], "pipe"),
        (["--switches-per-point", "3"], "even"),
        (["--by", "sched_yield", "--place", "across"], "one CPU only"),
        (["--place", "across", "--cpus", str(CPUS[0])], "two CPUs"),
        (["--work", "1min"], "1s"),
    ],
)
def test_what_makes_no_sense_is_refused(probe: Path, words: list[str], says: str) -> None:
    done = run("switch", *words)
    assert done.returncode == 2
    assert says in done.stderr
