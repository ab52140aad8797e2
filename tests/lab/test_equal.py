"""What virtual time promises: the same cell is the same bytes. A run is compared with a run, never with a number."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.lab.bench import Bench
from howlate.lab.guests import guest, monitor, watch
from howlate.lab.guests.scratch import PREFIX
from howlate.lab.guests.snapshot import Snapshots
from howlate.lab.results import Results
from howlate.system.scratch import MEMORY
from lab.equipped import Guest
from lab.guests import (
    LIMITS,
    RT,
    STANDARD,
    bench,
    booted_guests,
    cell,
    difference,
    preload,
    stream_of,
    with_kernels,
)
from processes import with_word

LOAD = "--load=memory-alloc:100"
ARM = ("6.1-rt@arm64", "6.1@arm64")
SWEPT = [pytest.param(name, marks=pytest.mark.sweep) for name in (STANDARD, *ARM)]
"""Beside the kernel of the quick suite."""
RANDOM = pytest.param("random", marks=pytest.mark.sweep)


@contextmanager
def busy_host() -> Iterator[None]:
    """What is started meanwhile has one core of the host, which has something else to do as well."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    spins = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        spins.kill()
        spins.wait()
        os.sched_setaffinity(0, cores)


@pytest.mark.long
@pytest.mark.parametrize("kernel", [pytest.param(STANDARD, marks=pytest.mark.sweep), RT])
def test_two_boots_in_other_places_are_equal_and_know_nothing_of_their_hosts_nor_of_chance(
    tmp_path: Path, equipped: Guest, kernel: str
) -> None:
    """Boot, snapshot and cell, each made twice: once for all tests, once elsewhere beside other work, with an
    environment, a host path and a time of day of its own, because the snapshot there is damaged. Entropy, addresses,
    time of day, inodes and the boot's id are the same."""
    line = cell(100, LOAD, "--dither", "--seed=3", "--first=1234us")
    here = equipped(kernel)
    first = stream_of(here, line)
    there = replace(here, cache=with_kernels(tmp_path / "another, longer place" / "b"))
    there = replace(
        there, snapshots=Snapshots(there.cache / "snapshots"), results=Results(there.cache / "results")
    )
    damaged = _damaged(here, there.cache / "snapshots")
    with busy_host():
        second = stream_of(there, line)
    assert difference(first, second) == ""
    assert len(first) > 100 * 33
    assert (there.cache / "snapshots" / there.key / "state").read_bytes() != damaged
    seen = [on.run([("/bin/peek",)], LIMITS)[0] for on in (here, there)]
    assert seen[0].status == "0"
    assert seen[0].stdout == seen[1].stdout
    lines = seen[0].stdout.decode().splitlines()
    assert len(lines) == 7
    assert time.gmtime(float(lines[2]))[:3] == (2026, 1, 1)  # -rtc base, not this host's clock


def _damaged(on: Bench, snapshots: Path) -> bytes:
    """Copies the guest's snapshot with one bit changed amid it; what it holds then."""
    folder = snapshots / on.key
    shutil.copytree(booted_guests() / on.key, folder)
    data = bytearray((folder / "state").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "state").write_bytes(data)
    return bytes(data)


@pytest.mark.long
@pytest.mark.parametrize("other", ["memory-fault:100", pytest.param("hackbench:1", marks=pytest.mark.sweep)])
def test_a_cell_is_the_same_whatever_ran_before_it_and_beside_it(
    tmp_path: Path, booted: Path, other: str
) -> None:
    """Each cell starts from the same machine; two at once share the host's cores and nothing else."""
    lines = [cell(100, LOAD), cell(150), cell(100, f"--load={other}")]
    on = bench(tmp_path, fresh=True, snapshots=booted)
    forwards = [stream_of(on, line) for line in lines]
    backwards = [stream_of(on, line) for line in reversed(lines)]
    with ThreadPoolExecutor(3) as pool:
        at_once = list(pool.map(lambda line: stream_of(on, line), lines))
    assert forwards == list(reversed(backwards)) == at_once
    assert len(set(forwards)) == len(lines)


@pytest.mark.parametrize("kernel", [RT, *SWEPT])
@pytest.mark.parametrize("slow", ["halting", RANDOM])
def test_a_host_that_takes_the_cpu_from_a_halting_guest_changes_nothing(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch, slow: str, kernel: str
) -> None:
    """QEMU's main loop gets all the time it wants to look at a guest that is between two of its states, or comes
    late."""
    on = bench(tmp_path, kernel, fresh=True, snapshots=booted)
    undisturbed = stream_of(on, cell(200))
    monkeypatch.setenv("LD_PRELOAD", str(preload(tmp_path, "slow_thread.cpp")))
    monkeypatch.setenv("SLOW", slow)
    assert [difference(undisturbed, stream_of(on, cell(200))) for _ in range(2)] == ["", ""]


@pytest.mark.long
@pytest.mark.parametrize("kernel", [RT, *SWEPT])
@pytest.mark.parametrize("slow", ["booting", RANDOM])
def test_a_host_that_takes_the_cpu_from_a_halting_guest_while_it_boots_changes_nothing(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch, slow: str, kernel: str
) -> None:
    """A cell of a guest that booted undisturbed, and one of a guest that did not."""
    undisturbed = stream_of(bench(tmp_path / "a", kernel, fresh=True, snapshots=booted), cell(200))
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(preload(tmp_path, "slow_thread.cpp")))
        patch.setenv("SLOW", slow)
        on = bench(tmp_path / "b", kernel)
        with on.snapshots.opened(on._boot(on._stored()), on.key, threading.Event()):
            pass
    assert difference(undisturbed, stream_of(on, cell(200))) == ""


def test_a_host_that_reads_slowly_changes_nothing(tmp_path: Path, booted: Path) -> None:
    """Console and window of a running guest are read all the time, a byte at a time and in pieces."""
    on = bench(tmp_path, fresh=True, snapshots=booted)
    line = cell(500)
    unread = stream_of(on, line)
    over, read = threading.Event(), []

    def reader() -> None:
        while not over.is_set():
            for folder in MEMORY.glob(f"{PREFIX}*"):
                for name in ("console", "window"):
                    try:
                        with (folder / name).open("rb") as file:
                            while not over.is_set() and file.read(1) and file.read(4096):
                                read.append(name)
                                file.seek(65536, os.SEEK_CUR)
                    except OSError:
                        continue

    thread = threading.Thread(target=reader)
    thread.start()
    try:
        assert difference(unread, stream_of(on, line)) == ""
    finally:
        over.set()
        thread.join()
    assert "window" in read


@pytest.mark.long
def test_a_guest_that_is_asked_for_its_clock_all_the_time_is_the_same(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a guest that needs more than usual is asked, and what it measures is the same all the same."""
    on = bench(tmp_path, fresh=True, snapshots=booted)
    lines = [cell(1500), cell(300, LOAD, "--dither")]
    unasked = [stream_of(on, line) for line in lines]
    asked = asked_all_the_time(monkeypatch)
    assert [difference(first, stream_of(on, line)) for first, line in zip(unasked, lines, strict=True)] == [
        "",
        "",
    ]
    assert len(asked) >= 10
    assert max(asked) > 1


@pytest.mark.long
def test_a_guest_that_is_asked_for_its_clock_while_it_boots_is_the_same(
    tmp_path: Path, booted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unasked = stream_of(bench(tmp_path / "a", fresh=True, snapshots=booted), cell(200, LOAD))
    with monkeypatch.context() as patch:
        asked = asked_all_the_time(patch)
        on = bench(tmp_path / "b")
        with on.snapshots.opened(on._boot(on._stored()), on.key, threading.Event()):
            pass
    assert len(asked) >= 50
    assert 1 < max(asked) < 160  # while its kernel started; an idle guest's half a minute may pass unasked
    assert difference(unasked, stream_of(on, cell(200, LOAD))) == ""


def asked_all_the_time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Asks each guest for its clock ten times a second; what they say."""
    monkeypatch.setattr(watch, "ASKED_S", -1.0)
    monkeypatch.setattr(watch, "ASKED_SHARE", 0.0)
    monkeypatch.setattr(watch, "_LOOK_S", 0.0)
    monkeypatch.setattr(guest, "_LOOK_S", 0.02)
    monkeypatch.setattr(monitor, "_LOOK_S", 0.02)
    said: list[float] = []
    ask = guest.Guest._virtual_s

    def noting(self: guest.Guest) -> float | None:
        clock_s = ask(self)
        if clock_s is not None:
            said.append(clock_s)
        return clock_s

    monkeypatch.setattr(guest.Guest, "_virtual_s", noting)
    limits = replace(LIMITS, virtual_s=1e6)
    started = guest.Guest.started
    monkeypatch.setattr(
        guest.Guest, "started", lambda self, *more, **how: started(self, *more, **{**how, "limits": limits})
    )
    return said


def test_nothing_of_a_guest_is_left(tmp_path: Path, booted: Path) -> None:
    stream_of(bench(tmp_path, snapshots=booted), cell(20))
    assert not with_word(str(tmp_path))
