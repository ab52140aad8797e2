"""What other tasks take of the CPUs while a cell is measured."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from probe.drive import cell, run

LAST = max(os.sched_getaffinity(0))
BUSY = f"""
import os
os.sched_setaffinity(0, {{{LAST}}})
try:
    os.nice(-15)
except PermissionError:
    pass
print("ready", flush=True)
"""
FOREVER = BUSY + "while True: pass\n"
SHORT_LIVED = (
    BUSY
    + """
while True:
    if (child := os.fork()) == 0:
        sum(range(400_000))
        os._exit(0)
    os.waitpid(child, 0)
"""
)


@contextmanager
def beside(program: str) -> Iterator[int]:
    """A program that keeps the last CPU busy; its pid, when it has begun."""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process.pid
        finally:
            with suppress(ProcessLookupError):
                process.kill()


def measured(*words: str) -> Any:
    return cell(run("cyclic", "--duration=1500ms", f"--cpus={LAST}", "--load=none", "--json", *words))


def test_a_busy_loop_on_the_measuring_cpu_is_named(probe: Path) -> None:
    with beside(FOREVER) as pid:
        found = measured()
    task = next(task for task in found["others"]["tasks"] if task["pid"] == pid)
    assert (task["cpu"], task["pinned"], task["kernel"]) == (LAST, True, False)
    assert found["others"]["measuring_ns"] >= task["cpu_ns"] > 0
    assert not found["others"]["alone"]
    assert any(text.startswith("not alone: ") for text in found["warnings"])
    assert found["valid"]


def test_tasks_that_come_and_go_are_in_their_parents_account(probe: Path) -> None:
    with beside(SHORT_LIVED) as pid:
        found = measured()
    task = next(task for task in found["others"]["tasks"] if task["pid"] == pid and task["children"])
    assert task["cpu_ns"] > 0
    assert not found["others"]["alone"]


def test_others_that_are_expected_are_counted_and_not_told(probe: Path) -> None:
    with beside(FOREVER):
        found = measured("--others=expected")
    assert found["others"]["expected"]
    assert found["others"]["user_ns"] > 0
    assert not any("not alone" in text for text in found["warnings"])


@pytest.mark.parametrize("load", ["cpu:50", "hackbench:2", "memory-alloc:50"])
def test_the_loads_the_probe_and_its_shells_are_not_others(probe: Path, load: str) -> None:
    found = cell(run("cyclic", "--duration=1s", f"--cpus={LAST}", f"--load={load}", "--json"))
    names = {task["name"] for task in found["others"]["tasks"] if not task["kernel"]}
    assert not {name for name in names if name.startswith("howlate")}
    assert os.getpid() not in {task["pid"] for task in found["others"]["tasks"] if not task["children"]}
