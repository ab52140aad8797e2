"""On a guest's one CPU a task that spins under SCHED_FIFO leaves an ordinary load nothing: the cell is not loaded."""

import json
from io import BytesIO
from pathlib import Path

from howlate.store.stream import StreamReader
from lab.guests import RT, STANDARD, bench, cell, run_study, stream_of, warm_cache
from made_starved import check, starving

LOAD = "cpu:100,nice=10"


def test_a_load_that_the_only_cpu_has_no_time_for_makes_its_cell_invalid(tmp_path: Path) -> None:
    cache = warm_cache(tmp_path / "cache", STANDARD)
    (tmp_path / "starving.toml").write_text(starving(LOAD))
    check(run_study("starving.toml", [STANDARD], cache, tmp_path)["cells"], LOAD)
    # What a load does before and after it is measured beside nothing: it does not count.
    for folder in (tmp_path / "r" / "cells").iterdir():
        trailer = json.loads((folder / "cell.json").read_text())["trailer"]
        for load in trailer["loads"]:
            assert load["duration_ns"] <= 1.2 * trailer["duration_ns"], folder.name


def test_what_ran_alone_ends_at_once_on_a_real_time_kernel(tmp_path: Path, booted: Path) -> None:
    """Before two loads are measured beside, they run alone for 0.25 s, and a real-time thread waits for their end on
    the only CPU: it must leave them that CPU."""
    on = bench(tmp_path, RT, snapshots=booted)
    loads = ("--load=cpu:50", "--load=memory-access:50")
    idle, loaded = (StreamReader(BytesIO(stream_of(on, cell(20, *more)))) for more in ((), loads))
    later_ns = loaded.header.t0_ns - idle.header.t0_ns
    assert 250e6 < later_ns < 2e9
