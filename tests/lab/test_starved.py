"""On a guest's one CPU a task that spins under SCHED_FIFO leaves an ordinary load nothing: the cell is not loaded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.guests import STANDARD, bench, run_study, with_kernels
from made_starved import check, starving

LOAD = "cpu:100,nice=10"


@pytest.mark.slow
def test_a_load_that_the_only_cpu_has_no_time_for_makes_its_cell_invalid(
    tmp_path: Path, booted: Path
) -> None:
    cache = with_kernels(tmp_path / "cache")
    bench(cache, STANDARD)
    (cache / "snapshots").symlink_to(booted)
    (tmp_path / "starving.toml").write_text(starving(LOAD))
    check(run_study("starving.toml", [STANDARD], cache, tmp_path)["cells"], LOAD)
    # What a load does before and after it is measured beside nothing: it does not count.
    for cell in (tmp_path / "r" / "cells").iterdir():
        trailer = json.loads((cell / "cell.json").read_text())["trailer"]
        for load in trailer["loads"]:
            assert load["duration_ns"] <= 1.2 * trailer["duration_ns"], cell.name
