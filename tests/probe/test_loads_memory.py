"""Loads that would take more memory than there is are refused before anything starts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from probe.drive import run
from probe.loads_drive import load_once


def _available_bytes() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def test_loads_that_fit_alone_and_not_together_are_refused(probe: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    size = _available_bytes() * 3 // 10
    loads = [f"{name}:1,cpus={cpu},size={size}" for name in ("memory-alloc", "memory-fault")]
    done = run("cyclic", "--duration", "10ms", "--load", loads[0], "--load", loads[1])
    assert done.returncode == 3
    assert "the loads together" in done.stderr and "MiB" in done.stderr


def test_hackbench_does_not_fill_the_memory(probe: Path) -> None:
    if _available_bytes() > 180_000_000_000:
        pytest.skip("this machine has memory for it")
    done = load_once("hackbench:2500", "--datasize", "1MB", "--duration", "1s")
    assert done.returncode == 3
    assert "100000 tasks" in done.stderr and "fewer groups" in done.stderr
