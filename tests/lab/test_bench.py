"""What a bench knows without a guest: its key, and what is in the cache."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from howlate.errors import DamagedError, TargetError
from howlate.lab.bench import Bench
from howlate.lab.machine import Machine
from howlate.lab.own import own_kernel
from howlate.lab.own_needs import WHAT_IT_NEEDS
from howlate.lab.results import Results
from howlate.lab.snapshot import Snapshots
from lab.made_archive import bzimage


def made_bench(folder: Path) -> Bench:
    """A bench with a kernel that nobody boots."""
    file = folder / "bzImage-made"
    file.write_bytes(bzimage("6.9.1"))
    cache = folder / "cache"
    label, kernel = own_kernel(str(file), cache)
    return Bench(
        label,
        kernel,
        Machine.of("amd64"),
        b"probe",
        cache,
        Snapshots(cache / "snapshots"),
        Results(cache / "results"),
        threading.Event(),
    )


def test_a_kernel_that_was_exchanged_in_the_cache_is_not_measured(tmp_path: Path) -> None:
    key = made_bench(tmp_path).key
    assert made_bench(tmp_path).key == key
    on = made_bench(tmp_path)
    on.kernel.vmlinuz.write_bytes(bzimage("6.9.2"))
    with pytest.raises(DamagedError, match="is not the kernel bzImage-made") as caught:
        on.run([("howlate-probe", "--version")], 1.0)
    assert str(on.kernel.vmlinuz.parent) in caught.value.remedy
    on.kernel.vmlinuz.unlink()
    with pytest.raises(DamagedError, match="cannot be read"):
        _ = made_bench(tmp_path).key


def test_an_own_kernel_that_does_not_boot_is_told_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panics(*_: object) -> None:
        raise TargetError("the guest's kernel panicked", "look there", "the console")

    monkeypatch.setattr(Snapshots, "opened", panics)
    with pytest.raises(TargetError) as caught:
        made_bench(tmp_path).run([("howlate-probe", "--version")], 1.0)
    assert caught.value.remedy == f"look there; {WHAT_IT_NEEDS}"
    assert caught.value.console == "the console"
