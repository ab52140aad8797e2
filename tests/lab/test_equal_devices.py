"""Which devices that interrupt a guest may have: those with which a cell is the same bytes whatever the host does
(docs/lab/guests.md has the table). Each is loaded as a cell would load it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from howlate.lab.bench import Bench
from howlate.store.stream import StreamReader
from lab.guests import RT, STANDARD, bench, cell, difference, preload, stream_of
from lab.test_equal import asked_all_the_time, busy_host

FLOOD, RATE = "network:flood,card=rtl8139", "network:1000,card=rtl8139"
NULL_BLK = "disk:max,device=null_blk"


@dataclass(frozen=True)
class Loaded:
    """A guest with the devices of a load, and the cell beside that load."""

    on: Bench
    load: str

    def stream(self) -> bytes:
        line = cell(100, f"--load={self.load}", "--dither", "--seed=3", "--first=1234us")
        return stream_of(self.on, line, self.on.lines_for([self.load]))


def loaded(folder: Path, kernel: str, load: str, snapshots: Path | None = None) -> Loaded:
    on = bench(folder, kernel, fresh=True, snapshots=snapshots)
    return Loaded(replace(on, machine=replace(on.machine, devices=on.devices_for([load]))), load)


def load_of(stream: bytes) -> dict[str, Any]:
    reader = StreamReader(BytesIO(stream))
    list(reader.batches())
    assert reader.trailer is not None
    (load,) = reader.trailer["loads"]
    return dict(load)


Disturbed = Callable[[Loaded, Path, pytest.MonkeyPatch], list[bytes]]
"""The streams of a guest like this one, disturbed in some way."""


def late_by_chance(guest: Loaded, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Whatever a device left to QEMU's main loop, or to a timer of the host, would come at another instruction."""
    monkeypatch.setenv("LD_PRELOAD", str(preload(folder, "slow_thread.cpp")))
    streams = []
    for slow in ("random", "halting"):
        monkeypatch.setenv("SLOW", slow)
        streams.append(guest.stream())
    return streams


def elsewhere(guest: Loaded, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Booted with QEMU's vCPU late by force, and measured beside other work."""
    there = loaded(folder / "another, longer place", str(guest.on.label), guest.load)
    monkeypatch.setenv("LD_PRELOAD", str(preload(folder, "slow_thread.cpp")))
    monkeypatch.setenv("SLOW", "booting")
    with there.on.snapshots.opened(there.on._boot(there.on._stored()), there.on.key, threading.Event()):
        pass
    monkeypatch.undo()
    with busy_host():
        return [there.stream()]


def asked(guest: Loaded, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Asked for its clock all the time."""
    answers = asked_all_the_time(monkeypatch)
    streams = [guest.stream()]
    assert len(answers) > 5
    return streams


KERNELS = [RT, STANDARD]
LOADS = [FLOOD, NULL_BLK]
CASES = [
    pytest.param(RT, RATE, late_by_chance),
    *(
        pytest.param(*case, marks=pytest.mark.sweep)
        for case in product(KERNELS, LOADS, (late_by_chance, elsewhere, asked))
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "load", "disturbed"), CASES)
def test_a_guest_whose_devices_interrupt_is_the_same(
    tmp_path: Path,
    booted: Path,
    monkeypatch: pytest.MonkeyPatch,
    kernel: str,
    load: str,
    disturbed: Disturbed,
) -> None:
    guest = loaded(tmp_path, kernel, load, booted)
    undisturbed = guest.stream()
    streams = disturbed(guest, tmp_path, monkeypatch)
    assert [difference(undisturbed, stream) for stream in streams] == [""] * len(streams)
    results = load_of(undisturbed)["results"]
    if load == NULL_BLK:
        assert results["fsyncs"] > 10 and results["fsync_ns_min"] > 100_000  # it waited for an interrupt
    else:
        assert results["path"] == "card_pair" and results["received"] > 50 and results["lost"] == 0
