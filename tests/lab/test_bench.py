"""What a bench knows without a guest: its key, and what is in the cache."""

import gzip
import struct
import threading
from pathlib import Path

import pytest
from msgspec.structs import force_setattr, replace

from howlate.errors import REMEDIED, DamagedError, GuestError, TargetError
from howlate.lab.archive.packages import Say, silent
from howlate.lab.bench import Bench
from howlate.lab.guests.guest import STUCK, WITH_CONSOLE, Boot
from howlate.lab.guests.machine import Machine
from howlate.lab.guests.snapshot import NO_BOOT, Snapshots
from howlate.lab.guests.watch import Limits
from howlate.lab.kernels.own_kernel import own_kernel
from howlate.lab.kernels.own_needs import NO_TSC, WHAT_IT_NEEDS
from howlate.lab.results import Results
from lab.made_archive import bzimage

VMLINUX = b"\x7fELF" + bytes(600) + b"tsc_early_khz\0" + struct.pack("<III4sI", 4, 4, 18, b"Xen\0", 0x1000000)
"""As much of an unpacked kernel as shows that QEMU can enter it, and that it can be told its clock's rate."""


def made_bench(folder: Path, payload: bytes = b"", cache: Path | None = None, say: Say = silent) -> Bench:
    """A bench with a kernel that nobody boots."""
    file = folder / "bzImage-made"
    file.write_bytes(bzimage("6.9.1", payload))
    cache = cache or folder / "cache"
    label, kernel = own_kernel(str(file), cache, say)
    return Bench(
        label,
        kernel,
        Machine.of("amd64"),
        b"probe",
        cache,
        Snapshots(cache / "snapshots"),
        Results(cache / "results"),
        threading.Event(),
        {},
        say,
    )


def test_a_kernel_that_was_exchanged_in_the_cache_is_not_measured(tmp_path: Path) -> None:
    key = made_bench(tmp_path).key
    assert made_bench(tmp_path).key == key
    on = made_bench(tmp_path)
    on.kernel.vmlinuz.write_bytes(bzimage("6.9.2"))
    with pytest.raises(DamagedError, match="is not the kernel bzImage-made") as caught:
        on.run([("howlate-probe", "--version")], Limits(1.0))
    assert str(on.kernel.vmlinuz.parent) in caught.value.remedy
    on.kernel.vmlinuz.unlink()
    gone = replace(on)
    with pytest.raises(DamagedError, match="No such file"):
        _ = gone.key
    assert made_bench(tmp_path).key == key, "copied again"


class Boots:
    """Stands for the guests: notes which kernels they would boot, by their bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kernels: list[bytes] = []
        monkeypatch.setattr(Snapshots, "opened", self)

    def __call__(self, boot: Boot, key: str, stop: threading.Event) -> None:
        self.kernels.append(boot.kernel.read_bytes())
        raise TargetError(REMEDIED(problem="it is only noted", remedy="go on"))

    def by(self, on: Bench) -> bytes:
        """The kernel that a bench boots for a job."""
        with pytest.raises(TargetError, match="only noted"):
            on.run([("howlate-probe", "--version")], Limits(1.0))
        return self.kernels[-1]


@pytest.mark.parametrize("gone", ["vmlinux", "sha256", "both"])
def test_an_unpacked_kernel_that_is_gone_is_unpacked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    boots, payload = Boots(monkeypatch), gzip.compress(VMLINUX)
    on = made_bench(tmp_path, payload)
    assert boots.by(on) == VMLINUX
    for name in ("vmlinux", "sha256") if gone == "both" else (gone,):
        (path,) = (on.cache / "unpacked").glob(f"*/{name}")
        path.unlink()
    again = made_bench(tmp_path, payload)
    assert again.key == on.key
    assert boots.by(again) == VMLINUX


@pytest.mark.parametrize("harm", [b"", VMLINUX[:-1], VMLINUX[:-1] + b"\1"])
def test_a_guest_boots_the_kernel_that_the_host_has_unpacked_and_never_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: bytes
) -> None:
    """Whether there is a snapshot or not: QEMU opens the kernel's file in either case."""
    boots, payload = Boots(monkeypatch), gzip.compress(VMLINUX)
    on = made_bench(tmp_path, payload)
    assert boots.by(on) == VMLINUX
    (unpacked,) = (on.cache / "unpacked").glob("*/vmlinux")
    unpacked.write_bytes(harm)
    (on.snapshots._folder / on.key).mkdir(parents=True)
    again = made_bench(tmp_path, payload)
    assert boots.by(again) == VMLINUX
    assert again.key == on.key


def test_a_kernel_that_qemu_cannot_enter_unpacks_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boots = Boots(monkeypatch)
    payload = gzip.compress(VMLINUX.replace(b"Xen", b"GNU"))
    on = made_bench(tmp_path, payload)
    assert boots.by(on) == on.kernel.vmlinuz.read_bytes()
    assert not list((on.cache / "unpacked").glob("*/vmlinux"))
    assert boots.by(made_bench(tmp_path, payload)) == on.kernel.vmlinuz.read_bytes()


def test_an_own_kernel_that_does_not_boot_is_told_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panics(*_: object) -> None:
        raise TargetError(REMEDIED(problem="the guest's kernel panicked", remedy="look there"), "the console")

    monkeypatch.setattr(Snapshots, "opened", panics)
    with pytest.raises(TargetError) as caught:
        made_bench(tmp_path).run([("howlate-probe", "--version")], Limits(1.0))
    assert caught.value.remedy == f"look there; {WHAT_IT_NEEDS}"
    assert caught.value.console == "the console"


def test_a_dovetail_kernel_that_hangs_is_told_of_its_clock_and_not_of_endless_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hangs(*_: object) -> None:
        raise GuestError(WITH_CONSOLE(problem=STUCK(what=NO_BOOT, reason="it waits"), console="Spectre V2"))

    monkeypatch.setattr(Snapshots, "opened", hangs)
    on = made_bench(tmp_path)
    with pytest.raises(GuestError) as plain:
        on.run([("howlate-probe", "--version")], Limits(1.0))
    assert plain.value.remedy == f"{STUCK.remedy}; {WHAT_IT_NEEDS}"
    on.kernel.__dict__["config"] = {"CONFIG_DOVETAIL": "y"}
    force_setattr(on.kernel, "config_path", tmp_path)
    with pytest.raises(GuestError) as caught:
        on.run([("howlate-probe", "--version")], Limits(1.0))
    assert caught.value.remedy == NO_TSC
