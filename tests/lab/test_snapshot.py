import shutil
import struct
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from howlate.errors import TargetError
from howlate.lab.cache import entry_hash, remove
from howlate.lab.guests import snapshot, window
from howlate.lab.guests.guest import TURN_CPU_S, Boot, Guest, StuckError
from howlate.lab.guests.machine import Machine
from howlate.lab.guests.monitor import Monitor
from howlate.lab.guests.snapshot import AFTER_NS, Snapshots, set_clock, write_record
from howlate.lab.guests.watch import Limits, Used, Watch
from howlate.store.files import read_json, write_json
from lab.guests import RT, bench, cell, difference, preload, stream_of

READ_NS, INSTRUCTIONS = 6_107_000_000, 6_106_000_000
MARK = b"\x05\x0ctimer/icount\x00\x00\x00\x01"
RECORD = b"\x06replay" + struct.pack(">II", 0, 2)


def saved(path: Path, bias: int, mark: bytes = MARK) -> Path:
    """As much of a saved machine as its clock and its record are of."""
    clock = b"before" + mark + struct.pack(">qq", bias, INSTRUCTIONS)
    # Where the host's record ends, and other things that only its reader needs.
    record = RECORD + struct.pack(">qqQiIIQQQ", 0, 0, INSTRUCTIONS, 0, 3, 1, bias % 1000, 0, 0)
    path.write_bytes(clock + record + b"after")
    return path


def clock_of(state: bytes) -> int:
    bias, instructions = struct.unpack_from(">qq", state, state.index(MARK) + len(MARK))
    return int(bias + instructions)


def test_a_clock_that_the_host_moved_on_is_set_to_what_the_guest_read(tmp_path: Path) -> None:
    """QEMU's main loop may or may not have moved it to the next timer's expiry: both become the same file."""
    still, moved = saved(tmp_path / "still", 1_000_014), saved(tmp_path / "moved", 4_159_367)
    assert set_clock(still, READ_NS) == 14
    assert set_clock(moved, READ_NS) == 3_159_367
    assert still.read_bytes() == moved.read_bytes()
    data = still.read_bytes()
    bias, instructions = struct.unpack_from(">qq", data, data.index(MARK) + len(MARK))
    assert (bias, instructions) == (READ_NS + AFTER_NS, 0)
    (recorded,) = struct.unpack_from(">Q", data, data.index(RECORD) + len(RECORD) + 16)
    assert recorded == 0
    assert data.startswith(b"before") and data.endswith(b"after")


@pytest.mark.parametrize("shift", [1, 3])
def test_a_guest_that_booted_with_longer_instructions_goes_on_with_short_ones(
    tmp_path: Path, shift: int
) -> None:
    """What has passed is in the bias alone, so the length of an instruction matters only for those to come."""
    slow, fast = saved(tmp_path / "slow", 1_000_014), saved(tmp_path / "fast", 1_000_014)
    read_ns = 1_000_000 + (INSTRUCTIONS << shift)
    assert set_clock(slow, read_ns, shift) == 14
    assert clock_of(slow.read_bytes()) == read_ns + AFTER_NS
    before = fast.read_bytes()
    with pytest.raises(TargetError, match="clock"):
        set_clock(fast, read_ns)  # as if they had been short from the start
    assert fast.read_bytes() == before


@pytest.mark.parametrize("version", [2, 3])
def test_a_record_of_either_version_begins_anew_and_another_is_not_guessed(
    tmp_path: Path, version: int
) -> None:
    """QEMU 10 has a member more before the kind of the next entry, and one byte in place of four after it."""
    path = saved(tmp_path / "state", 1_000_014)
    head = path.read_bytes().split(RECORD)[0]
    begun = struct.pack(">qqQiIIQQQ", 1, 2, INSTRUCTIONS, 4, 5, 6, 7, 8, 9)
    if version == 3:
        begun = struct.pack(">qqQiIIBQQQ", 1, 2, INSTRUCTIONS, 4, 5, 6, 1, 7, 8, 9)
    mark = RECORD[:-1] + bytes([version])
    path.write_bytes(head + mark + begun + b"after")
    set_clock(path, READ_NS)
    after = path.read_bytes().split(mark)[1]
    words = struct.unpack_from(">qqQi", after)
    assert words == (0, 0, 0, 0)
    assert after.count(b"\xff" * 4) == 1
    assert after.endswith(b"after") and not any(after[32 + 4 * (version - 2) : -5])
    path.write_bytes(head + RECORD[:-1] + bytes([4]) + begun + b"after")
    before = path.read_bytes()
    with pytest.raises(TargetError, match="clock"):
        set_clock(path, READ_NS)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("mark", "bias"),
    [(b"nothing", 1_000_014), (b"", 0), (MARK, 999_999), (MARK, 1_000_001 + AFTER_NS), (MARK, 1 << 62)],
)
def test_what_is_not_the_guests_clock_is_not_written_over(tmp_path: Path, mark: bytes, bias: int) -> None:
    path = saved(tmp_path / "state", bias, mark)
    before = path.read_bytes()
    with pytest.raises(TargetError, match="clock"):
        set_clock(path, READ_NS)
    assert path.read_bytes() == before


def test_a_clock_that_is_there_twice_is_not_guessed(tmp_path: Path) -> None:
    path = saved(tmp_path / "state", 1_000_014)
    path.write_bytes(path.read_bytes() * 2)
    with pytest.raises(TargetError, match="clock"):
        set_clock(path, READ_NS)


class Makes:
    """Stands for a boot: counts how many there were."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        monkeypatch.setattr(snapshot, "_make", self)

    def __call__(self, boot: Boot, key: str, beside: Path, **_others: Any) -> None:
        self.count += 1
        (beside / "state").write_bytes(b"state")
        write_record(beside, key, {"sha256": entry_hash(beside / "state")})


BOOT = Boot(Machine.of("amd64"), Path("vmlinuz"), Path("initramfs"), "")


def test_of_two_that_find_a_damaged_snapshot_one_makes_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makes, is_whole = Makes(monkeypatch), snapshot._is_whole
    found, made = threading.Event(), threading.Event()

    def take() -> None:
        with Snapshots(tmp_path).opened(BOOT, "key", threading.Event()):
            pass

    def slowly(folder: Path) -> bool:
        """Whoever looks first is overtaken by the other, if that is possible."""
        whole = is_whole(folder)
        if not found.is_set():
            found.set()
            made.wait(0.3)
        return whole

    take()
    (tmp_path / "key" / "state").write_bytes(b"damaged")
    monkeypatch.setattr(snapshot, "_is_whole", slowly)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(take)
        found.wait()
        take()
        made.set()
        first.result()
    assert makes.count == 2
    assert (tmp_path / "key" / "state").read_bytes() == b"state"


def test_snapshots_that_were_swapped_or_are_older_are_made_again_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makes, said = Makes(monkeypatch), list[str]()

    def take(*keys: str) -> None:
        snapshots = Snapshots(tmp_path, say=said.append)
        for key in keys:
            with snapshots.opened(BOOT, key, threading.Event()) as saved:
                assert saved.state.read() == b"state"

    take("one", "other")
    take("one", "other")
    assert (makes.count, said) == (2, [])
    (tmp_path / "one").rename(tmp_path / "third")
    (tmp_path / "other").rename(tmp_path / "one")
    (tmp_path / "third").rename(tmp_path / "other")
    take("one", "other")
    assert (makes.count, len(said)) == (4, 2)
    write_json(tmp_path / "one" / "snapshot.json", {"sha256": entry_hash(tmp_path / "one" / "state")})
    take("one")
    assert (makes.count, len(said)) == (5, 3)


def test_a_snapshot_that_another_removed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makes, snapshots = Makes(monkeypatch), Snapshots(tmp_path)
    with snapshots.opened(BOOT, "key", threading.Event()) as saved:
        remove(tmp_path / "key")
        assert saved.state.read() == b"state"  # one that is in use stays
    (tmp_path / "key").mkdir()  # its removal is under way
    with snapshots.opened(BOOT, "key", threading.Event()) as saved:
        assert saved.state.read() == b"state"
    assert makes.count == 2


class Told:
    """Hears how much of each boot was done when it was asked for first."""

    def __init__(self) -> None:
        self.shares: list[float] = []

    def __call__(self, text: str) -> None:
        pass

    def done(self, share: Callable[[], float]) -> None:
        self.shares.append(share())


def test_the_usual_boot_is_the_median_of_those_by_the_same_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records of an older howlate, of another guest and damaged ones say nothing; the limit of a boot follows from
    the rest, and how much of it is done."""
    makes, limits, told = Makes(monkeypatch), list[float](), Told()

    def make(
        boot: Boot, key: str, beside: Path, limit_s: float, boots: Callable[[Any], None], **_others: Any
    ) -> None:
        limits.append(limit_s)
        boots(SimpleNamespace(cpu_s=6.0))
        makes(boot, key, beside)

    x86, arm = "qemu-system-x86_64", "qemu-system-aarch64"
    known = ((x86, 10.0), (x86, 12.0), (x86, 40.0), (arm, 30.0))
    records: list[dict[str, Any]] = [{"emulator": name, "boot_cpu_s": took} for name, took in known]
    for number, record in enumerate([*records, {"boot_cpu_s": 99.0}, {"emulator": x86}]):
        (tmp_path / f"kept{number}").mkdir()
        write_record(tmp_path / f"kept{number}", f"kept{number}", record)
        (tmp_path / f"kept{number}" / "state").touch()
    changed = (tmp_path / "kept0" / "snapshot.json").read_text().replace("10.0", "1.0")
    older = '{"emulator": "qemu-system-x86_64", "boot_cpu_s": 1.0}'
    for name, text in (("older", older), ("changed", changed)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "snapshot.json").write_text(text)
        (tmp_path / name / "state").touch()
    monkeypatch.setattr(snapshot, "_make", make)
    for machine in (Machine.of("amd64"), Machine.of("arm64")):
        boot = Boot(machine, Path("vmlinuz"), Path("initramfs"), "")
        with Snapshots(tmp_path, say=told).opened(boot, machine.architecture.name, threading.Event()):
            pass
    assert limits == [54.0, 135.0]
    assert told.shares == [0.5, 0.2]


class ReadyMonitor:
    """Of a guest that boots at once."""

    def ahead_s(self, deadline: float) -> float:
        return 0.0

    def go_on(self, deadline: float) -> None:
        pass

    def wait_for_stop(self) -> None:
        pass


class SilentMonitor:
    """Of a guest whose turn does not end: it looks whether it should wait on, as the real one does."""

    def __init__(self, guest: Guest) -> None:
        self._guest, self.looked = guest, 0

    def ahead_s(self, deadline: float) -> float:
        while True:
            self.looked += 1
            self._guest.check()


def test_a_guest_whose_turn_does_not_end_is_stuck(tmp_path: Path) -> None:
    guest = Guest(BOOT, tmp_path, threading.Event())
    used = [float(second) for second in range(100)]
    look = iter(used)
    guest._watch = Watch(lambda: Used(next(look), False), Limits(1000.0, 10.0), guest._virtual_s)
    guest._began = (0.0, 0.0)
    monitor = SilentMonitor(guest)
    guest.monitor = cast(Monitor, monitor)
    with pytest.raises(StuckError, match="interrupts off"):
        guest._virtual_s()
    assert TURN_CPU_S <= monitor.looked <= TURN_CPU_S + 2


def test_an_oops_while_it_boots_is_told_and_nothing_is_saved(tmp_path: Path) -> None:
    guest = Guest(BOOT, tmp_path, threading.Event())
    guest.monitor = cast(Monitor, ReadyMonitor())
    with guest.window.open("r+b") as file:
        file.write(struct.pack("<8s6Q", b"howlwin1", 0, 0, window.State.READY, 0, 0, READ_NS))
    guest.console.write_text("Booting Linux\n")
    assert snapshot._boot(guest) == READ_NS
    assert guest._virtual_s() is None  # saving takes the host's time, not the guest's
    guest.console.write_text("Booting Linux\n[    0.7] Oops: 0000 [#1] PREEMPT\n")
    with pytest.raises(TargetError, match="the guest's kernel oopsed: Oops: 0000"):
        snapshot._boot(guest)


def test_what_has_no_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(MARK + struct.pack(">qq", 1_000_014, INSTRUCTIONS))
    with pytest.raises(TargetError, match="clock"):
        set_clock(path, READ_NS)


SLOW = {"leaving": False, "main": True, "stopped": True}
"""Which of QEMU's threads is slow -> whether the clock is moved on to the next timer then."""
MOST_BOOTS = 5


def booted_with(cache: Path, slow: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bytes]:
    """Boots and saves a guest with one of QEMU's threads slowed; how far its clock was moved, and the saved file.
    Where the guest stops while the main loop is between its sleep and its next look, the host has chosen after all:
    then it is booted anew."""
    monkeypatch.setenv("SLOW", slow)
    for _ in range(MOST_BOOTS):
        on = bench(cache, RT)
        with on.snapshots.opened(on._boot(on._stored()), on.key, threading.Event()) as guest:
            (record,) = cache.glob("snapshots/*/snapshot.json")
            moved_ns, state = read_json(record)["moved_ns"], guest.state.read()
        if (moved_ns > 1000) is SLOW[slow]:
            return moved_ns, state
        shutil.rmtree(cache / "snapshots")
    raise AssertionError(f"of {MOST_BOOTS} boots none stopped as with a slow thread ({slow})")


@pytest.mark.long
def test_it_does_not_matter_which_of_qemus_threads_is_slower_when_a_guest_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guests that the host's timing can make of one: saved as it was, or with its clock moved on to its next
    timer. That timer does not expire in the stopped machine, not even where only the record keeps it from that. Their
    cells are equal."""
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(preload(tmp_path, "slow_thread.cpp")))
        made = [booted_with(tmp_path / slow, slow, patch) for slow in SLOW]
    (left_ns, left), (moved_ns, moved), (woken_ns, woken) = made
    assert left_ns < moved_ns == woken_ns
    timer = struct.pack(">q", clock_of(left) - AFTER_NS + moved_ns)
    counts = {state.count(timer) for state in (left, moved, woken)}
    assert len(counts) == 1 and 0 not in counts  # one that has expired is gone from the file
    for line in (cell(100), cell(100, "--load=memory-alloc:100", "--dither", "--seed=3")):
        first, *others = [stream_of(bench(tmp_path / slow, RT), line) for slow in SLOW]
        assert [difference(first, other) for other in others] == ["", ""]
