"""What a CPU asks of another that `isolcpus` has set aside: the process may use it only where it names it."""

import json
from pathlib import Path

import pytest

from howlate.lab.bench import PROBE
from lab.guests import LIMITS, RT, bench, with_cpus

POINTS = 20
WINDOW_NS = 500_000_000
"""Real-time throttling begins after 0.95 s."""


@pytest.mark.long
def test_an_isolated_cpu_is_asked_where_it_is_named(tmp_path: Path, booted: Path) -> None:
    """The main thread, which starts all others, may use the asking CPU alone."""
    on = bench(tmp_path, f"{RT}[isolcpus=1]", snapshots=booted, machine=with_cpus(2))
    line = [PROBE, "cross", "--cpus=0", f"--points={POINTS}", "--seed=1", "--json"]
    *asked, unnamed = on.run(
        [[*line, "--asked=1"], [*line, "--asked=1", "--kind=membarrier"], line],
        LIMITS,
    )
    for done in asked:
        assert done.status == "0", done.stderr
        (cell,) = json.loads(done.stdout)["cells"]
        assert cell["labels"]["asked"] == "1"
        assert cell["accounting"]["recorded"] == POINTS
        assert cell["others"]["window_ns"] < WINDOW_NS
        assert cell["warnings"] == []
    assert unnamed.status == "3"
    assert b"every other CPU is isolated" in unnamed.stderr and b"--asked from 1" in unnamed.stderr
