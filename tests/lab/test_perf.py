"""`perf bench sched pipe` as another job in the same guest: a switch by a pipe costs the same in both."""

import json
import re
from pathlib import Path

import pytest

from howlate.lab.bench import PROBE
from lab.guests import LIMITS, RT, STANDARD, bench, peers

ROUNDS = 20_000
"""Of perf: it counts also the making of the second task, which is 2 % of 5,000 rounds."""
FIFO = ("/bin/chrt", "-f", "80")


def their_switch_ns(output: bytes) -> float:
    """perf counts a round, two switches, as one operation."""
    found = re.search(rb"([0-9.]+) usecs/op", output)
    assert found is not None, output
    return float(found[1]) * 1000 / 2


def our_switch_ns(output: bytes) -> float:
    (cell,) = json.loads(output)["cells"]
    assert cell["columns"]["switch_ns"]["count"] == 20
    return float(cell["columns"]["switch_ns"]["mean"])


@pytest.mark.long
@pytest.mark.parametrize("name", [pytest.param(STANDARD, marks=pytest.mark.sweep), RT])
def test_a_switch_by_a_pipe_costs_what_perf_says(tmp_path: Path, booted: Path, name: str) -> None:
    on = bench(tmp_path, name, peers(), snapshots=booted)
    ours = (PROBE, "switch", "--by=pipe", "--policy=fifo:80", "--points=20", "--json")
    theirs = (*FIFO, "/bin/perf", "bench", "sched", "pipe", "-l", str(ROUNDS))
    lines = [(*ours, "--between=processes"), theirs, (*ours, "--between=threads"), (*theirs, "-T")]
    done = on.run(lines, LIMITS)
    assert [line.status for line in done] == ["0"] * 4, [line.stderr for line in done]
    for our, their in (done[:2], done[2:]):
        found = our_switch_ns(our.stdout), their_switch_ns(their.stdout)
        print(f"{name}: a switch is {found[0]:.0f} ns by the probe, {found[1]:.0f} ns by perf")
        assert found[0] == pytest.approx(found[1], rel=0.1)
