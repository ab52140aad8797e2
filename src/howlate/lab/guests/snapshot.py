"""Guests that are booted and wait for their job, saved: a cell goes on from there in a fraction of a second.

A guest stops itself at one certain instruction (docs/lab/guests.md); QEMU writes the whole machine to a file; a cell
is the same machine, loaded, with a job in its window. Two snapshots of equal inputs hold the same machine,
whatever else the host did.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO

from msgspec import Struct

from howlate.errors import HowlateError, TargetError
from howlate.lab.archive.packages import Say, silent
from howlate.lab.cache import entry_hash, is_done, locked, made, remove, seal, storing
from howlate.lab.guests import qcow2, window
from howlate.lab.guests.console import trouble_on
from howlate.lab.guests.execution_log import LOG_BYTES, LogFiles
from howlate.lab.guests.guest import NO_LIMIT, Boot, Guest, StuckError, Tick
from howlate.lab.guests.machine import NAMED
from howlate.lab.guests.monitor import GoneError
from howlate.lab.guests.scratch import scratch
from howlate.lab.guests.watch import Limits
from howlate.lab.problems import UNUSABLE, guest_failed, saved_unreadable
from howlate.replay.log import ExecutionLog, LogPlan
from howlate.store.files import file_hash, read_json, write_json
from howlate.system.scratch import free_bytes

NO_BOOT = "the guest did not boot"

BOOT_CPU_S = 60.0
"""The limit where no boot on this host is known. A boot takes 5 to 20 s of CPU time."""
BOOTS, BOOT_LEAST_CPU_S = 4.5, 40.0
"""The limit elsewhere: a multiple of the usual boot, and a minimum. With the slowest of sixteen sets of
parameters (except those in `_SLOW`) a boot took 37 s where 9 s were usual."""
BOOT_VIRTUAL_S = 160.0
"""The limit by the guest's own clock: 20 s of instructions where each takes 8 ns. It is ready half a minute after its
kernel has started (docs/lab/guests.md)."""
_SLOW = {"idle=poll": 8.0}
"""Parameters that make a boot longer, by this factor: QEMU leaves its loop at each `pause`."""
_SAVE_S = 300.0
_LOAD_S = 300.0

MOST_BYTES = 12 << 30
"""So much of snapshots is kept; one takes about 80 MB."""
_IN_USE_S = 3600.0
_TRIES = 3
AFTER_NS = 20_000_000
"""A saved guest's clock stands so long after it was read last: more than it takes to get from there to the stop, and
more than a kernel's tick (see `set_clock`)."""
_ICOUNT = b"\x05\x0ctimer/icount" + (1).to_bytes(4, "big")
"""How the subsection begins: its mark, its name, its version."""
_CLOCK = struct.Struct(">qq")
_REPLAY = b"\x06replay" + (0).to_bytes(4, "big")
"""How the section of QEMU's record begins: its name, its number."""
_BEGUN = {2: struct.pack(">28xI28x", 0xFFFFFFFF), 3: struct.pack(">32xI25x", 0xFFFFFFFF)}
"""A record that has just begun, by the section's version (3 in QEMU 10): two clocks, the number of instructions,
and what only its reader needs."""
_ROOM_BYTES = 8 << 20
"""A disk with less room than this is taken to be full."""
_STATE, _RECORD, _IMAGE = "state", "snapshot.json", "image"


FORMAT = 5
"""Counted up when the host's steps from a booted guest to a saved one change what a cell measures."""


def key_of(boot: Boot, kernel_sha256: str, initramfs_sha256: str) -> str:
    """The hash of everything that a booted guest depends on; no path of the host is in it, only whether the host
    has unpacked the kernel."""
    inputs = {
        "snapshot": [FORMAT, AFTER_NS],
        "unpacked": boot.is_unpacked,
        "kernel": kernel_sha256,
        "initramfs": initramfs_sha256,
        "emulator": boot.machine.identity(),
        "arguments": boot.machine.arguments(NAMED, boot.command_line),
        "boot": boot.machine.arguments(NAMED, boot.command_line, boot.shift),
    }
    return sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


class Snapshot(Struct, frozen=True):
    """A saved guest; its file is open, so that it stays whatever becomes of its name."""

    boot: Boot
    state: BinaryIO

    def run(self, job: bytes, otherwise: Path, stop: threading.Event, limits: Limits, tick: Tick) -> bytes:
        """The result of a job. The machine that runs it is the saved one, whatever ran before."""
        with scratch(window.SIZE, otherwise) as folder:
            return self._run(job, Guest(self.boot, folder, stop), limits, tick)

    def run_logged(
        self, job: bytes, otherwise: Path, stop: threading.Event, limits: Limits, plan: LogPlan
    ) -> tuple[bytes, tuple[ExecutionLog, ...]]:
        """The same, and what the guest executed in some windows of its time (lab/guests/execution_log.py)."""
        with scratch(window.SIZE + LOG_BYTES, otherwise) as folder:
            files = LogFiles(folder)
            guest = Guest(self.boot, folder, stop)
            result = self._run(job, guest, limits, lambda _: None, *files.arguments(plan))
            return result, files.read()

    def _run(self, job: bytes, guest: Guest, limits: Limits, tick: Tick, *more: str) -> bytes:
        with guest.started("-incoming", "defer", *more, limits=limits):
            assert guest.monitor is not None
            with guest.explained():
                deadline = time.monotonic() + _LOAD_S
                guest.monitor.load(self.state.fileno(), deadline)
                guest.give(job)
                guest.go_on(deadline)
            guest.finish(limits.cpu_s, tick)
        return guest.answer()


class Snapshots:
    """A cache's saved guests. Each is checked against its checksum once a process; a damaged one is made again."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES, say: Say = silent) -> None:
        self._folder, self._say = folder, say
        self._most_bytes = most_bytes
        self._sound: set[str] = set()

    @contextmanager
    def opened(self, boot: Boot, key: str, stop: threading.Event) -> Iterator[Snapshot]:
        """The snapshot of that key; made if it is not there, and again if it goes before it is open (another howlate
        makes room)."""
        for _ in range(_TRIES):
            try:
                state = (self._take(boot, key, stop) / _STATE).open("rb")
            except FileNotFoundError:
                self._sound.discard(key)
                continue
            with state:
                yield Snapshot(boot, state)
            return
        hint = "call the command again"
        raise TargetError(UNUSABLE(what=self._folder / key, reason="it keeps disappearing", hint=hint))

    def _take(self, boot: Boot, key: str, stop: threading.Event) -> Path:
        folder = self._folder / key
        if key not in self._sound or not folder.is_dir():
            if not folder.is_dir():
                self._make_room()
            usual_s = self._usual_boot_s(_kind_of(boot))

            def boots(guest: Guest) -> None:
                is_done(self._say, lambda: boot_share(guest.cpu_s, usual_s))

            limit_s = boot_limit_s(boot.command_line, usual_s)
            make = partial(_make, boot, key, otherwise=self._folder, limit_s=limit_s, stop=stop, boots=boots)
            made(folder, make, self._is_whole)
            self._sound.add(key)
        with suppress(OSError):
            os.utime(folder / _RECORD)  # when it was last used
        return folder

    def _is_whole(self, folder: Path) -> bool:
        is_whole = _is_whole(folder)
        if not is_whole:
            self._say(
                f"the cache's {folder.name[:12]} is not the guest that was saved there; it is booted again"
            )
        return is_whole

    def holds(self, key: str) -> bool:
        return (self._folder / key).is_dir()

    def forget(self, key: str, saved: Snapshot) -> None:
        """Remove a guest that is not what its key says, unless it was booted again meanwhile."""
        folder = self._folder / key
        with locked(folder), suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(saved.state.fileno()), (folder / _STATE).stat()):
                self._sound.discard(key)
                remove(folder)

    def _usual_boot_s(self, kind: str) -> float:
        """The median CPU time of the boots of this kind that are kept; 0 where there is none."""
        times = []
        for record in self._folder.glob(f"[!.]*/{_RECORD}"):
            with suppress(OSError, HowlateError, KeyError, TypeError, ValueError):
                boot = _read_record(record.parent)
                if boot.get("emulator") == kind:
                    times.append(float(boot["boot_cpu_s"]))
        return median(times) if times else 0.0

    def _make_room(self) -> None:
        """Removes the snapshots that were not used for longest (each new build of the probe leaves some behind)."""
        used = []
        for record in self._folder.glob(f"[!.]*/{_RECORD}"):
            with suppress(OSError):
                used.append((record.stat().st_mtime, (record.parent / _STATE).stat().st_size, record.parent))
        total = 0
        for last, size, folder in sorted(used, reverse=True):
            total += size
            if total > self._most_bytes and time.time() - last > _IN_USE_S:
                remove(folder)


def _kind_of(boot: Boot) -> str:
    """Boots of one kind take about as long."""
    cpus = boot.machine.cpus
    return boot.machine.architecture.emulator + (f", {cpus} CPUs" if cpus > 1 else "")


def _is_whole(folder: Path) -> bool:
    try:
        return bool(_read_record(folder)["sha256"] == entry_hash(folder / _STATE))
    except (OSError, KeyError, TypeError, ValueError, HowlateError):
        return False


def _read_record(folder: Path) -> dict[str, Any]:
    """What `write_record` wrote there; ValueError if it is something else, or of another guest."""
    record = read_json(folder / _RECORD)
    if record.pop("seal", "") != _record_seal(folder.name, record):
        raise ValueError("it is not what was kept there")
    return record


def write_record(folder: Path, key: str, record: dict[str, Any]) -> None:
    """The record of a saved guest that will stand in the folder of its key."""
    write_json(folder / _RECORD, {"seal": _record_seal(key, record), **record})


def _record_seal(key: str, record: dict[str, Any]) -> str:
    return seal(key, sha256(json.dumps(record, sort_keys=True).encode()).hexdigest())


def boot_limit_s(command_line: str, usual_s: float) -> float:
    """The CPU time that a guest may use until it is saved."""
    slower = max((factor for word, factor in _SLOW.items() if word in command_line.split()), default=1.0)
    return (max(BOOT_LEAST_CPU_S, BOOTS * usual_s) if usual_s else BOOT_CPU_S) * slower


def boot_share(cpu_s: float, usual_s: float) -> float:
    """How much of a boot is done, by the usual CPU time, which another load of the host hardly changes; 0 where no
    boot is known. What follows the boot is short."""
    return min(cpu_s / usual_s, 0.99) if usual_s else 0.0


def _make(
    boot: Boot,
    key: str,
    beside: Path,
    *,
    otherwise: Path,
    limit_s: float,
    stop: threading.Event,
    boots: Callable[[Guest], None],
) -> None:
    with scratch(window.SIZE, otherwise) as folder:
        guest = Guest(boot, folder, stop)
        boots(guest)
        path, image = beside / _STATE, beside / _IMAGE
        with storing(image):
            qcow2.create(image)
        with guest.started(limits=Limits(limit_s, BOOT_VIRTUAL_S), boot_shift=boot.shift):
            assert guest.monitor is not None
            began = time.monotonic()
            clock_ns = _boot(guest)
            booted, cpu_s = time.monotonic(), guest.cpu_s
            with guest.explained(), _disk_full_told(image):
                guest.monitor.save(image, booted + _SAVE_S)
                guest.monitor.quit(booted + _SAVE_S)
            guest.wait(booted + _SAVE_S)
    with storing(path):
        with image.open("rb") as source, path.open("xb") as file:
            for piece in qcow2.saved_machine(source):
                file.write(piece)
        image.unlink()
        moved_ns = set_clock(path, clock_ns, boot.shift)
        digest, size = file_hash(path), path.stat().st_size
    times: dict[str, float | str] = {
        "boot_s": round(booted - began, 3),
        "save_s": round(time.monotonic() - booted, 3),
    }
    times |= {"boot_cpu_s": round(cpu_s, 3), "emulator": _kind_of(boot)}
    write_record(beside, key, {"sha256": digest, "bytes": size, "moved_ns": moved_ns, **times})


@contextmanager
def _disk_full_told(image: Path) -> Iterator[None]:
    """QEMU only says "Input/output error" where there is no room for what it saves."""
    try:
        yield
    except TargetError:
        if free_bytes(image.parent) < _ROOM_BYTES:
            with storing(image):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        raise


def _boot(guest: Guest) -> int:
    """Until the guest waits for a job; its clock then."""
    assert guest.monitor is not None
    try:
        guest.go_on(NO_LIMIT)
        guest.monitor.wait_for_stop()
    except GoneError:
        guest.wait(NO_LIMIT)
        guest.answer()  # raises what the guest says of itself
        raise guest.failure(guest_failed("it ended while it booted")) from None
    except StuckError as problem:
        raise guest.stuck(NO_BOOT, problem) from None
    guest.has_stopped()
    clock_ns = window.read_ready(guest.window)
    if clock_ns is None:
        raise guest.failure(guest_failed("it stopped before it was ready for a job"))
    trouble = trouble_on(guest.console_text())
    if trouble:  # it went on all the same; what it measures is not what a sound kernel does
        raise guest.failure(trouble)
    return clock_ns


def set_clock(state: Path, clock_ns: int, shift: int = 0) -> int:
    """Sets the virtual clock of a saved guest and gives how far it was from what the guest read last. This undoes all
    that the host's timing has touched.

    The vCPU stops first, QEMU as a whole a moment later. If its main loop looks in between, it takes the stopped vCPU
    for an idle one and moves the clock on to the next timer's expiry (`icount_start_warp_timer`). Depending on where
    the vCPU's thread is then, that timer also expires, but only while the guest is saved: its interrupt is pending in
    the file. So of one guest there can be three files: as it was, moved, moved with the timer expired.

    The clock becomes what the guest itself read last, and a fixed time more, which is later than that timer. If
    it is still there, it expires when the machine goes on, before the first instruction: the same state in all three.

    It is a bias and the number of instructions, each of 2**`shift` ns, in QEMU's section "timer", subsection
    "timer/icount", big-endian. The number becomes 0, so that a cell goes on with instructions of 1 ns, there and in
    the section "replay": a record begins with the cell, and QEMU aborts if the two are not of one number.
    """
    with state.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        moved_ns = saved_clock_ns(data, shift) - clock_ns
        if not 0 <= moved_ns <= AFTER_NS:
            raise TargetError(saved_unreadable(f"its clock is {moved_ns} ns late, more than {AFTER_NS} ns"))
        begin_anew(data, clock_ns + AFTER_NS)
    return moved_ns


def saved_clock_ns(data: mmap.mmap, shift: int) -> int:
    """The clock of a saved machine, whose instructions took 2 ^ shift ns."""
    bias, instructions = _CLOCK.unpack_from(data, _only(data, _ICOUNT))
    clock_ns: int = bias + (instructions << shift)
    return clock_ns


def saved_instructions(data: mmap.mmap) -> int:
    """How many instructions a saved machine has executed since its own snapshot."""
    _, instructions = _CLOCK.unpack_from(data, _only(data, _ICOUNT))
    return int(instructions)


def begin_anew(data: mmap.mmap, clock_ns: int) -> None:
    """Sets the clock of a saved machine, and the number of its instructions to 0, there and in its record."""
    at, record_at = _only(data, _ICOUNT), _only(data, _REPLAY)
    begun = _BEGUN.get(int.from_bytes(data[record_at : record_at + 4], "big"))
    if begun is None:
        raise TargetError(saved_unreadable("it has no clock"))
    _CLOCK.pack_into(data, at, clock_ns, 0)
    data[record_at + 4 : record_at + 4 + len(begun)] = begun


def _only(data: mmap.mmap, mark: bytes) -> int:
    at = data.find(mark)
    if at < 0 or data.find(mark, at + 1) >= 0:
        raise TargetError(saved_unreadable("it has no clock"))
    return at + len(mark)
