"""Which devices that interrupt a guest may have: those with which a cell is the same bytes whatever the host does
(docs/lab/guests.md has the table). Each is used as a cell would use it."""

import dataclasses
import threading
from collections.abc import Callable, Mapping
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from howlate.lab.archive.apt import AptArchive
from howlate.lab.archive.packages import silent
from howlate.lab.bench import PROBE, Bench
from howlate.lab.devices import CARDS
from howlate.lab.guests.machine import Machine
from howlate.lab.kernels.catalogue import get
from howlate.lab.kernels.label import Label
from howlate.lab.needed import needed
from howlate.model.capabilities import Need
from howlate.store.stream import StreamReader
from lab.guests import KERNELS, RT, STANDARD, bench, cell, difference, preload, stream_of, with_cpus
from lab.test_equal import ARM, asked_all_the_time, busy_host
from lacks import KERNEL, skip

RATE = "network:1000,card=rtl8139"
FLOODS = [f"network:flood,card={card}" for card in CARDS]
NULL_BLK = "disk:max,device=null_blk"
EDU = "edu"
UIO = (PROBE, "uio", "--source=edu", "--points=100", "--stream=stream", "--quiet")


class Using(Struct, frozen=True):
    """A guest with a device, and the cell that uses it: the test `uio`, or one beside a load. With several CPUs the
    load is on the first, and the last is measured."""

    on: Bench
    used: str

    def stream(self) -> bytes:
        if self.used == EDU:
            return stream_of(self.on, UIO, [("module", "uio"), ("module", "howlate_uio")])
        load = self.used + (",cpus=0" if self.on.machine.cpus > 1 else "")
        line = cell(100, f"--load={load}", "--dither", "--seed=3", "--first=1234us")
        return stream_of(self.on, line, self.on.lines_for([load]))


def modules_of_uio(kernel: str) -> Mapping[str, bytes]:
    label, archive = Label.parse(kernel), AptArchive(KERNELS / "apt")
    modules = [Need("uio"), Need("howlate_uio")]
    found = needed(modules, label, get(label, archive, KERNELS), archive, KERNELS, silent)
    if found.absent:
        skip(found.absent[0], KERNEL)
    return found.files


def using(folder: Path, kernel: str, used: str, cpus: int, snapshots: Path | None = None) -> Using:
    machine = with_cpus(cpus) if cpus > 1 else Machine.of(Label.parse(kernel).arch)
    modules = modules_of_uio(kernel) if used == EDU else {}
    on = bench(folder, kernel, modules, fresh=True, snapshots=snapshots, machine=machine)
    devices = ("edu",) if used == EDU else on.devices_for([used])
    return Using(replace(on, machine=dataclasses.replace(on.machine, devices=devices)), used)


def ended(stream: bytes) -> dict[str, Any]:
    """What stands at a stream's end."""
    reader = StreamReader(BytesIO(stream))
    list(reader.batches())
    assert reader.trailer is not None
    return dict(reader.trailer)


def assert_interrupted(used: str, stream: bytes) -> None:
    """The cell did use the device."""
    end = ended(stream)
    if used == EDU:
        assert end["outcomes"]["interrupts"] >= 100
        return
    (load,) = end["loads"]
    results = load["results"]
    if used == NULL_BLK:
        assert results["fsyncs"] > 5 and results["fsync_ns_min"] > 100_000  # it waited for an interrupt
    else:
        assert results["path"] == "card_pair" and results["received"] > 50 and results["lost"] == 0


Disturbed = Callable[[Using, Path, pytest.MonkeyPatch], list[bytes]]
"""The streams of a guest like this one, disturbed in some way."""


def late_by_chance(guest: Using, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Whatever a device left to QEMU's main loop, or to a timer of the host, would come at another instruction."""
    monkeypatch.setenv("LD_PRELOAD", str(preload(folder, "slow_thread.cpp")))
    streams = []
    for slow in ("random", "halting"):
        monkeypatch.setenv("SLOW", slow)
        streams.append(guest.stream())
    return streams


def elsewhere(guest: Using, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Booted with QEMU's vCPU late by force, and measured beside other work."""
    kernel, cpus = str(guest.on.label), guest.on.machine.cpus
    there = using(folder / "another, longer place", kernel, guest.used, cpus)
    monkeypatch.setenv("LD_PRELOAD", str(preload(folder, "slow_thread.cpp")))
    monkeypatch.setenv("SLOW", "booting")
    with there.on.snapshots.opened(there.on._boot(there.on._stored()), there.on.key, threading.Event()):
        pass
    monkeypatch.undo()
    with busy_host():
        return [there.stream()]


def asked(guest: Using, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Asked for its clock all the time."""
    answers = asked_all_the_time(monkeypatch)
    streams = [guest.stream()]
    assert len(answers) > 5
    return streams


AMD64 = (RT, STANDARD)
USED = [*FLOODS, NULL_BLK, EDU]
SWEPT = [
    *product(AMD64, [1], USED, (late_by_chance, elsewhere, asked)),
    *product(AMD64, [2], USED, (late_by_chance, elsewhere)),
    *product([RT], [4], USED, [late_by_chance]),
    *product(ARM, [1], USED, (late_by_chance, elsewhere)),
]
CASES = [
    pytest.param(RT, 1, RATE, late_by_chance),
    *(pytest.param(*case, marks=pytest.mark.sweep) for case in SWEPT),
]


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "cpus", "used", "disturbed"), CASES)
def test_a_guest_whose_devices_interrupt_is_the_same(
    tmp_path: Path,
    booted: Path,
    monkeypatch: pytest.MonkeyPatch,
    kernel: str,
    cpus: int,
    used: str,
    disturbed: Disturbed,
) -> None:
    guest = using(tmp_path, kernel, used, cpus, booted)
    undisturbed = guest.stream()
    streams = disturbed(guest, tmp_path, monkeypatch)
    assert [difference(undisturbed, stream) for stream in streams] == [""] * len(streams)
    assert_interrupted(used, undisturbed)
