"""Gaps that a task sees: a delay of known length is found and told as what it is; what each way to watch refuses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lacks import KERNEL, MACHINE, needs_root, skip
from probe.drive import cell, read_stream, run

HOLD_MS = 20
HOLDER = f"""
import os, sys, time
os.sched_setaffinity(0, {{int(sys.argv[1])}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))
print("ready", flush=True)
sys.stdin.readline()
while True:
    time.sleep(0.1)
    end = time.monotonic() + {HOLD_MS / 1000}
    while time.monotonic() < end:
        pass
"""


@needs_root
def test_a_cpu_that_is_taken_by_another_task_is_no_hardware_gap(probe: Path, tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(cpu)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        try:
            assert holder.stdout.readline() == "ready\n"
            holder.stdin.write("go\n")
            holder.stdin.flush()
            done = run(
                *("hardware-gap", "--source", "spin", "--cpus", str(cpu), "--duration", "2s", "--json"),
                *("--stream", tmp_path / "stream"),
            )
        finally:
            holder.kill()
    found = cell(done)
    rows = read_stream(tmp_path / "stream").columns[0]
    held = rows["gap_ns"][(rows["flags"] & 2) != 0]
    assert (held >= HOLD_MS * 1_000_000 * 0.99).any()
    assert found["outcomes"]["gaps_switched_out"] == len(held)
    assert found["outcomes"]["gaps"] == len(rows["gap_ns"]) - len(held)
    assert set(rows["cpu"]) == {cpu}


def test_the_windows_that_were_watched_are_counted(probe: Path) -> None:
    done = run(
        *("hardware-gap", "--source", "spin", "--duration", "1s", "--window", "100ms", "--width", "20ms"),
        *("--threshold", "5s", "--json"),
    )
    found = cell(done)
    assert found["accounting"]["recorded"] == 0
    assert found["stop_reason"] == "duration"
    outcomes = found["outcomes"]
    assert outcomes["gaps"] == 0 and outcomes["windows_with_gap"] == 0
    assert 1 <= outcomes["windows"] <= 10
    assert outcomes["watched_ns"] >= outcomes["windows"] * 20_000_000 * 0.9


def test_a_task_says_what_it_cannot_tell_apart(probe: Path) -> None:
    done = run("hardware-gap", "--duration", "300ms", "--window", "100ms", "--width", "10ms", "--json")
    found = cell(done)
    if found["labels"]["source"] == "hwlat":
        skip("a kernel without hwlat", KERNEL)
    (warning,) = (one for one in found["warnings"] if "cannot tell" in one)
    assert "hypervisor" in warning and "firmware" in warning


def test_without_the_tracer_it_says_so(probe: Path) -> None:
    done = run(
        "hardware-gap", "--source", "hwlat", "--duration", "100ms", "--window", "50ms", "--width", "1ms"
    )
    if done.returncode == 0:
        skip("a kernel without hwlat", KERNEL)
    assert done.returncode == 3
    assert "--source spin" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--threshold", "100ns"], "--threshold"),
        (["--width", "1s", "--window", "1s"], "--width"),
        (["--source", "spin", "--cpus", "all"], "--occupy-all"),
    ],
)
def test_wrong_usage_is_said(probe: Path, words: list[str], said: str) -> None:
    if "all" in words and len(os.sched_getaffinity(0)) == 1:
        skip("a second CPU", MACHINE)
    done = run("hardware-gap", "--duration", "100ms", *words)
    assert done.returncode == 2
    assert said in done.stderr
