"""The loads that are held at a share of the CPUs, against the kernel's account of their processes.

Others may take CPUs from a load at any time - other tasks, and a hypervisor - and from the test that watches it
as well. So a load is judged by what it could have: what was taken from it is subtracted, what it was behind
before is added. Every figure of the load is taken together with the load's own clock reading.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from probe.drive import probe_list
from probe.loads_drive import Load, Report, running
from processes import children_of, until

CPUS = sorted(os.sched_getaffinity(0))
TICKS = os.sysconf("SC_CLK_TCK")
HELD = [load["name"] for load in probe_list()["loads"] if load["held"]]


def cpu_seconds(pids: list[int]) -> float:
    """What the kernel says that these processes have used."""
    total = 0.0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
        except OSError:  # a kernel that keeps no such file
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:13])) / TICKS
    return total


def waited_seconds(pids: list[int]) -> float:
    """How long these processes have waited for a CPU since they are. 0 where the kernel does not count it."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return total


def all_have_run(pids: list[int]) -> None:
    """Waits until each has been on a CPU: the kernel adds what one waited when the wait is over."""
    before = {pid: cpu_seconds([pid]) for pid in pids}
    assert until(lambda: all(cpu_seconds([pid]) > ran_s for pid, ran_s in before.items()))


def stolen_seconds() -> float:
    """What the hypervisor has given to others of these CPUs' time."""
    lines = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    return sum(int(line[8]) for line in lines if line[0] in {f"cpu{cpu}" for cpu in CPUS}) / TICKS


class Account(Struct, frozen=True):
    """A load at the moment of a report: what the kernel says of it shortly before and after."""

    report: Report
    least_s: float
    most_s: float
    kept_away_s: float  # waited or stolen, since the load was started

    @classmethod
    def take(cls, load: Load, pids: list[int], stolen_before_s: float) -> Account:
        least_s = cpu_seconds(pids)
        asked_ns = time.monotonic_ns()
        load.process.send_signal(signal.SIGUSR1)
        while True:
            report = load.report()
            assert report is not None
            if report.time_ns >= asked_ns:
                break
        kept_away_s = waited_seconds(pids) + stolen_seconds() - stolen_before_s
        return cls(report, least_s, cpu_seconds(pids), kept_away_s)

    @property
    def width_s(self) -> float:
        return self.most_s - self.least_s


class Seen(Struct, frozen=True):
    """A load between two accounts; shares of all CPUs."""

    least: float
    most: float  # that it ran
    told: float  # by its reports
    kept_away: float
    behind: float  # what it may have had to make up for

    @classmethod
    def between(cls, start: Account, end: Account) -> Seen:
        wall_s = (end.report.time_ns - start.report.time_ns) / 1e9 * len(CPUS)
        return cls(
            (end.least_s - start.most_s) / wall_s,
            (end.most_s - start.least_s) / wall_s,
            (end.report.cpu_ns - start.report.cpu_ns) / 1e9 / wall_s,
            (end.kept_away_s - start.kept_away_s) / wall_s,
            start.kept_away_s / wall_s,
        )

    def holds(self, target: float) -> bool:
        """A load that is behind runs whenever it is let: it lacks at most its share of the time that was taken from
        it, and has beyond its target at most its share of what was taken before."""
        at_least, at_most = target * (1 - self.kept_away), target * (1 + self.behind)
        return at_least - 0.03 < self.most and self.least < at_most + 0.03

    def tells_the_truth(self) -> bool:
        return self.least - 0.01 <= self.told <= self.most + 0.01  # the kernel's account is a tick old


def watch(*each: str) -> list[tuple[Seen, Any]]:
    """What the kernel says of loads that run together for two seconds, and what each says of itself."""
    with contextlib.ExitStack() as stack:
        loads = [(stolen_seconds(), stack.enter_context(running(words))) for words in each]
        assert all(load.report() is not None for _, load in loads)
        trees = [load.tree() for _, load in loads]

        def accounts() -> list[Account]:
            all_have_run([pid for _, load in loads for pid in children_of(load.process.pid)])
            # Whoever reads may be kept away as well: the closest reading of several.
            return [
                min((Account.take(load, pids, stolen_s) for _ in range(5)), key=lambda one: one.width_s)
                for (stolen_s, load), pids in zip(loads, trees, strict=True)
            ]

        starts = accounts()
        ends_ns = starts[-1].report.time_ns + 1_500_000_000
        for _, load in loads:
            while (now := load.report()) is not None and now.time_ns < ends_ns:
                pass
        seen = [Seen.between(start, end) for start, end in zip(starts, accounts(), strict=True)]
        told = [load.stop() for _, load in loads]
    for words, one, its in zip(each, seen, told, strict=True):
        print(f"{words}: {one}, told {100 * its['achieved_cpu']:.2f} %")
    return [*zip(seen, told, strict=True)]


QUICK = ("cpu", "memory-fault")
EACH = [pytest.param(name, marks=[pytest.mark.sweep] * (name not in QUICK), id=name) for name in HELD]
"""One that computes and one that asks the kernel for memory; the others are held by the same code."""


@pytest.mark.parametrize("name", EACH)
def test_half_of_the_cpus_is_held_within_three_points(probe: Path, name: str) -> None:
    ((seen, told),) = watch(f"{name}:50")
    assert seen.holds(0.5), seen
    assert seen.tells_the_truth(), seen
    assert told["achieved_cpu"] == pytest.approx(told["cpu_ns"] / told["duration_ns"] / len(CPUS))
    assert told["target_cpu"] == 0.5
    assert told["units"] > 0


def test_a_tenth_is_held_by_all_of_them_together(probe: Path) -> None:
    for seen, _ in watch(*(f"{name}:10" for name in HELD)):
        assert seen.holds(0.1), seen
        assert seen.tells_the_truth(), seen


@pytest.mark.parametrize("name", EACH)
def test_all_of_the_cpus_are_held(probe: Path, name: str) -> None:
    ((seen, _),) = watch(f"{name}:100")
    assert seen.holds(1), seen
    assert seen.tells_the_truth(), seen


@pytest.mark.parametrize(
    ("target", "ran", "kept_away", "behind", "holds"),
    [
        (0.1, 0.1, 0.0, 0.0, True),
        (0.1, 0.05, 0.0, 0.0, False),
        (0.1, 0.05, 0.1, 0.0, False),  # a tenth of the time is a hundredth of the CPUs
        (0.1, 1.0, 0.0, 0.0, False),
        (0.5, 0.46, 0.0, 0.0, False),
        (0.5, 0.54, 0.0, 0.0, False),
        (0.5, 0.4, 0.2, 0.0, True),
        (0.5, 0.4, 0.1, 0.0, False),
        (0.5, 0.56, 0.0, 0.1, True),  # it makes up for what it missed
        (0.5, 0.6, 0.0, 0.1, False),
        (1.0, 0.88, 0.1, 0.0, True),
        (1.0, 0.9, 0.0, 0.0, False),
        (1.0, 0.5, 0.4, 0.0, False),
        (1.0, 1.05, 0.0, 0.0, False),
    ],
)
def test_only_what_was_taken_from_a_load_excuses_it(
    target: float, ran: float, kept_away: float, behind: float, holds: bool
) -> None:
    assert Seen(ran, ran, ran, kept_away, behind).holds(target) is holds


def test_nothing_is_asked_for_and_nothing_is_used(probe: Path) -> None:
    with running("cpu:0") as load:
        ready, later = load.report(), load.report()
        assert ready is not None and later is not None
        told = load.stop()
    assert told["achieved_cpu"] < 0.02 and told["units"] == later.units == 0, told


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
