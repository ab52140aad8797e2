"""The same promise for guests with several CPUs: the same cell is the same bytes. All of its CPUs are busy, and QEMU
lets each execute for a turn of the virtual clock."""

import os
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from howlate.lab.bench import Bench
from howlate.lab.guests import monitor
from lab.guests import RT, STANDARD, bench, cell, difference, preload, stream_of, with_cpus
from lab.test_equal import asked_all_the_time, busy_host
from processes import children_of

LOAD = "--load=memory-alloc:100,cpus=0"
BOTH = [cell(60), cell(60, LOAD, "--dither", "--seed=3", "--first=1234us")]
"""On the highest CPU, alone and beside a load on another."""
KINDS = [
    pytest.param(RT, 2),
    pytest.param(STANDARD, 2, marks=pytest.mark.sweep),
    pytest.param(RT, 4, marks=pytest.mark.sweep),
]


def streams(on: Bench) -> list[bytes]:
    return [stream_of(on, line) for line in BOTH]


def unlike(first: list[bytes], second: list[bytes]) -> list[str]:
    return [found for pair in zip(first, second, strict=True) if (found := difference(*pair))]


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "cpus"), KINDS)
def test_two_boots_of_several_cpus_are_equal(tmp_path: Path, booted: Path, kernel: str, cpus: int) -> None:
    """The second one elsewhere, beside other work."""
    machine = with_cpus(cpus)
    first = streams(bench(tmp_path / "a", kernel, fresh=True, snapshots=booted, machine=machine))
    with busy_host():
        second = streams(bench(tmp_path / "another, longer place", kernel, fresh=True, machine=machine))
    assert unlike(first, second) == []
    assert first[0] != first[1]


@pytest.mark.long
def test_cells_of_several_cpus_are_the_same_in_any_order_and_beside_others(
    tmp_path: Path, booted: Path
) -> None:
    on = bench(tmp_path, fresh=True, snapshots=booted, machine=with_cpus(2))
    first = streams(on)
    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(lambda line: stream_of(on, line), reversed(BOTH)))
    assert unlike(first, at_once[::-1]) == []


@pytest.mark.long
@pytest.mark.parametrize("slow", ["halting", pytest.param("random", marks=pytest.mark.sweep)])
@pytest.mark.parametrize(("kernel", "cpus"), KINDS)
def test_a_host_that_takes_the_cpu_from_a_guest_of_several_changes_nothing(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch, kernel: str, cpus: int, slow: str
) -> None:
    """QEMU's main loop gets all the time it wants to look whenever a CPU leaves what it executes, or comes late."""
    on = bench(tmp_path, kernel, fresh=True, snapshots=booted, machine=with_cpus(cpus))
    undisturbed = streams(on)
    monkeypatch.setenv("LD_PRELOAD", str(preload(tmp_path, "slow_thread.cpp")))
    monkeypatch.setenv("SLOW", slow)
    assert unlike(undisturbed, streams(on)) == []


def test_no_timer_of_the_hosts_time_is_due_while_a_guest_executes(
    tmp_path: Path, booted: Path, programs: Mapping[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU would end a turn at it. As a control, the one that it has by itself when a machine is loaded."""
    on = bench(tmp_path, RT, programs, fresh=True, snapshots=booted, machine=with_cpus(2))
    timed = tmp_path / "timed"
    monkeypatch.setenv("LD_PRELOAD", str(preload(tmp_path, "slow_thread.cpp")))
    monkeypatch.setenv("TIMED", str(timed))
    stream_of(on, cell(20))
    assert not timed.exists()
    monkeypatch.setattr(monitor, "SILENT", {"announce-rounds": 5})
    stream_of(on, cell(20))
    assert timed.stat().st_size > 0


@pytest.mark.long
def test_the_main_loop_interrupts_no_cpu_while_a_guest_executes(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would end a turn at a time of the host's. It does so where it lets the guest continue, and no more often in
    ten times as long a cell, nor where the guest is asked for its clock. As a control, a monitor that stops the guest
    at each question."""
    on = bench(tmp_path, fresh=True, snapshots=booted, machine=with_cpus(2))
    monkeypatch.setenv("LD_PRELOAD", str(preload(tmp_path, "slow_thread.cpp")))

    def kicks(name: str, activations: int) -> int:
        kicked = tmp_path / name
        monkeypatch.setenv("KICKED", str(kicked))
        stream_of(on, cell(activations))
        return kicked.stat().st_size

    start = kicks("short", 20)
    assert start > 0
    assert kicks("long", 200) == start
    asked = asked_all_the_time(monkeypatch)
    assert kicks("asked", 200) == start
    assert len(asked) >= 5
    ask = monitor.Monitor.ahead_s

    def stopping(self: monitor.Monitor, deadline: float) -> float:
        self._run(self._client.execute("stop"), deadline)
        self._run(self._client.execute("cont"), deadline)
        return ask(self, deadline)

    monkeypatch.setattr(monitor.Monitor, "ahead_s", stopping)
    assert kicks("stopped", 200) > start


@pytest.mark.long
@pytest.mark.parametrize("slow", ["booting", pytest.param("random", marks=pytest.mark.sweep)])
@pytest.mark.parametrize(("kernel", "cpus"), KINDS)
def test_a_host_that_takes_the_cpu_while_several_boot_changes_nothing(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch, kernel: str, cpus: int, slow: str
) -> None:
    machine = with_cpus(cpus)
    undisturbed = streams(bench(tmp_path / "a", kernel, fresh=True, snapshots=booted, machine=machine))
    on = bench(tmp_path / "b", kernel, machine=machine)
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(preload(tmp_path, "slow_thread.cpp")))
        patch.setenv("SLOW", slow)
        with on.snapshots.opened(on._boot(on._stored()), on.key, threading.Event()):
            pass
    assert unlike(undisturbed, streams(on)) == []


@pytest.mark.long
def test_a_guest_of_several_cpus_that_is_asked_for_its_clock_is_the_same(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = bench(tmp_path, fresh=True, snapshots=booted, machine=with_cpus(2))
    unasked = streams(on)
    asked = asked_all_the_time(monkeypatch)
    assert unlike(unasked, streams(on)) == []
    assert len(asked) >= 10


@pytest.mark.long
def test_a_guest_of_several_cpus_that_is_stopped_and_continued_is_the_same(
    tmp_path: Path, booted: Path
) -> None:
    """At no particular moments: each stop is somewhere else in the guest's time."""
    on = bench(tmp_path, fresh=True, snapshots=booted, machine=with_cpus(2))
    undisturbed = streams(on)
    over, stops = threading.Event(), 0

    def stopping() -> None:
        nonlocal stops
        while not over.wait(0.05):
            for process in children_of(os.getpid()):
                try:
                    os.kill(process, signal.SIGSTOP)
                    over.wait(0.05)
                    os.kill(process, signal.SIGCONT)
                    stops += 1
                except ProcessLookupError:
                    continue

    thread = threading.Thread(target=stopping)
    thread.start()
    try:
        disturbed = streams(on)
    finally:
        over.set()
        thread.join()
    assert unlike(undisturbed, disturbed) == []
    assert stops > 0
