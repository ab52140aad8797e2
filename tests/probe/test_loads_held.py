"""The loads that are held at a share of the CPUs, against the kernel's account of their processes."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from probe.loads_drive import ROOT, Load, running
from processes import children_of

CPUS = len(os.sched_getaffinity(0))
TICKS = os.sysconf("SC_CLK_TCK")
HELD = ["cpu", "memory-alloc", "memory-fault", "memory-access"]
AHEAD = ",nice=-20" if ROOT else ""


def cpu_seconds(pids: list[int]) -> float:
    """What the kernel says that these processes have used, and their children that ended."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS


def wanted_seconds(pids: list[int]) -> float:
    """How long these processes have run or waited for a CPU. 0 where the kernel does not count it."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            ran, waited, _ = map(int, Path(f"/proc/{pid}/schedstat").read_text().split())
            total += (ran + waited) / 1e9
    return total


@dataclass(frozen=True)
class Seen:
    """A tree of processes over some seconds, as the kernel sees it; shares of all CPUs."""

    ran: float
    wanted: float  # ran or waited for a CPU that others had

    def holds(self, target: float) -> bool:
        """It keeps its target, or others leave it less than that and it takes all that they leave."""
        return abs(self.ran - target) < 0.03 or (self.ran < target and self.wanted > 0.9)


def seen(load: Load, seconds: float) -> Seen:
    pids = load.tree()
    start_s, start_cpu, start_wanted = time.monotonic(), cpu_seconds(pids), wanted_seconds(pids)
    while time.monotonic() < start_s + seconds:
        assert load.report() is not None
    wall_s = (time.monotonic() - start_s) * CPUS
    return Seen((cpu_seconds(pids) - start_cpu) / wall_s, (wanted_seconds(pids) - start_wanted) / wall_s)


@pytest.mark.parametrize("name", HELD)
def test_half_of_the_cpus_is_held_within_three_points(probe: Path, name: str) -> None:
    with running(f"{name}:50{AHEAD}") as load:
        load.come_first()
        assert load.report() is not None
        there = seen(load, 4)
        told = load.stop()
    told_share = 100 * told["achieved_cpu"]
    print(f"{name}: target 50 %, seen by the kernel {100 * there.ran:.2f} %, told {told_share:.2f} %")
    assert there.holds(0.5), there
    assert abs(told["achieved_cpu"] - there.ran) < 0.03 or there.wanted > 0.9
    assert told["target_cpu"] == 0.5
    assert told["units"] > 0


@pytest.mark.parametrize("name", HELD)
def test_a_tenth_and_all_are_held(probe: Path, name: str) -> None:
    with running(f"{name}:10{AHEAD}") as load:
        load.come_first()
        assert load.report() is not None
        tenth = seen(load, 3)
    with running(f"{name}:100{AHEAD}") as load:
        load.come_first()
        assert load.report() is not None
        whole = seen(load, 2)
    print(f"{name}: target 10 %, seen {100 * tenth.ran:.2f} %; target 100 %, seen {100 * whole.ran:.2f} %")
    assert tenth.holds(0.1), tenth
    assert whole.holds(1.0), whole


def test_nothing_is_asked_for_and_nothing_is_used(probe: Path) -> None:
    with running("cpu:0") as load:
        assert load.report() is not None
        assert load.report() is not None
        assert load.stop()["achieved_cpu"] < 0.02


def test_a_worker_stays_on_its_cpu(probe: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    with running(f"cpu:20,cpus={cpu},nice=3") as load:
        assert load.report() is not None
        (worker,) = children_of(load.process.pid)
        assert os.sched_getaffinity(worker) == {cpu}
        assert os.getpriority(os.PRIO_PROCESS, worker) == 3
        told = load.stop()
    assert told["cpus"] == str(cpu) and told["nice"] == 3


def test_a_fault_load_does_not_pile_up_areas(probe: Path) -> None:
    with running("memory-fault:50,size=32MiB") as load:
        assert load.report() is not None
        areas = [
            len(Path(f"/proc/{pid}/maps").read_text().splitlines()) for pid in children_of(load.process.pid)
        ]
        assert max(areas) < 60
        load.stop()
