"""What takes longer than a plan allows for is refused before anything starts, and no read is without a limit."""

import json
import os
from pathlib import Path

import pytest

from probe.drive import run

pytestmark = pytest.mark.beside
MOST = 50
"""Loads on a CPU."""
LARGEST = 64 << 20
CPU = min(os.sched_getaffinity(0))


def loads(count: int, load: str) -> list[str]:
    return [word for _ in range(count) for word in ("--load", load)]


@pytest.mark.parametrize(
    "load", [f"cpu:1,cpus={CPU}", f"memory-alloc:1,cpus={CPU}", f"hackbench:1,cpus={CPU}"]
)
def test_more_loads_than_can_start_in_time_are_refused_before_anything_starts(load: str) -> None:
    words = [f"--cpus={CPU}", "--duration=10ms", *loads(MOST + 1, load)]
    refused = run("cyclic", *words)
    assert refused.returncode == 2 and f"{MOST + 1} loads on CPU {CPU} " in refused.stderr
    assert refused.stdout == ""
    planned = run("plan", json.dumps(["cyclic", *words]))
    assert planned.stdout.startswith('{"ok": false') and f"{MOST + 1} loads on CPU" in planned.stdout
    fewer = [f"--cpus={CPU}", "--duration=10ms", *loads(MOST, load)]
    assert run("plan", json.dumps(["cyclic", *fewer])).stdout.startswith('{"ok": true')


@pytest.mark.parametrize("size", [4096, LARGEST + 1])
def test_a_file_beyond_the_limit_is_not_taken_as_if_it_were_whole(size: int, tmp_path: Path) -> None:
    place = tmp_path / "proc" / "cmdline"
    place.parent.mkdir()
    with place.open("wb") as file:
        file.truncate(size)
    done = run("facts", "--json", "--root", str(tmp_path))
    facts = json.loads(done.stdout)
    assert done.returncode == 0
    assert (facts["values"]["kernel.cmdline"] is not None) is (size < LARGEST)
