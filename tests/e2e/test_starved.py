"""A load at nice 19 beside a task that spins under SCHED_FIFO on its CPU: the cell says that it was not loaded."""

import json
import sys
from pathlib import Path

import pytest

from e2e.commands import environment
from lacks import AS_ROOT, skip
from made_starved import check, starving
from processes import completed

LOAD = "cpu:100,nice=19,cpus=same"


@pytest.mark.alone
def test_a_load_that_got_nothing_makes_its_cell_invalid(tmp_path: Path) -> None:
    (tmp_path / "starving.toml").write_text(starving(LOAD))

    def howlate(*words: str) -> str:
        done = completed(
            [sys.executable, "-m", "howlate", *words], cwd=tmp_path, env=environment(), timeout=300
        )
        if done.returncode == 3:
            skip("the right to SCHED_FIFO", AS_ROOT)
        assert done.returncode == 0, done.stderr
        return done.stdout

    howlate("run", "starving.toml", "--out", "r")
    check(json.loads(howlate("show", "r", "--json"))["cells"], LOAD)
    table = " ".join(howlate("show", "r", "--all").split())
    assert "achieved" in table and "starved (expected)" in table
