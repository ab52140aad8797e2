"""Which QEMU runs several CPUs: the installed one if it is new, else one of the host's own release."""

import platform
from collections.abc import Sequence
from pathlib import Path

import pytest

from howlate.errors import NotPossibleError
from howlate.lab.archive.packages import EMULATOR, Package, silent
from howlate.lab.guests import emulator
from howlate.lab.guests.machine import Machine
from howlate.system.paths import MACHINES
from lab.made_archive import deb

OLD, NEW, NEWER = "1:7.2+dfsg-7", "1:10.0.2+ds-2~bpo12+1", "1:10.0.11+ds-1~bpo12+1"
ARCH = MACHINES[platform.machine()]
PROGRAM = b"#!/bin/sh\necho QEMU emulator version 10.0.11 made for a test\n"


class MadeEmulators:
    """An archive whose lists know a new QEMU only once they are fetched again."""

    def __init__(self, *suites: tuple[str, str], program: bytes = PROGRAM) -> None:
        self.suites, self.program = suites, program
        self.asked: list[bool] = []
        self.fetched: list[str] = []

    def packages(self, refresh: bool = False) -> Sequence[Package]:
        self.asked.append(refresh)
        if not refresh:
            return []
        return [
            Package(name, "1.16" if name == "seabios" else version, arch, suite, "", 1, "")
            for suite, version in self.suites
            for name in EMULATOR
            for arch in ("amd64", "arm64")
        ]

    def fetch(self, package: Package, folder: Path) -> Path:
        self.fetched.append(f"{package.name} {package.version} {package.architecture} {package.suite}")
        files = {"usr/share/doc/x": b"", f"usr/share/{package.name}": b"data"}
        if package.name == EMULATOR[0]:
            files["usr/bin/qemu-system-x86_64"] = self.program
        path = folder / package.file_name
        path.write_bytes(deb(files))
        return path

    def places(self) -> Sequence[tuple[str, str, Path]]:
        return []


@pytest.fixture(autouse=True)
def old_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator, "_is_new", lambda name: False)
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"VERSION_CODENAME": "bookworm"})


def test_the_newest_of_the_hosts_own_release_is_unpacked_once(tmp_path: Path) -> None:
    archive = MadeEmulators(
        ("bookworm", OLD), ("bookworm-backports", NEW), ("bookworm-backports", NEWER), ("trixie", "1:11.0")
    )
    machines = [
        emulator.with_emulator(Machine.of("amd64", cpus=2), archive, tmp_path, silent) for _ in range(2)
    ]
    assert archive.fetched == [
        *(f"{name} {NEWER} {ARCH} bookworm-backports" for name in EMULATOR[:3]),
        f"seabios 1.16 {ARCH} bookworm",
    ]
    assert archive.asked[:2] == [False, True]
    assert machines[0] == machines[1]
    folder = machines[0].fetched
    assert folder is not None
    assert (folder / "usr/share/qemu-system-data").is_file() and not (folder / "usr/share/doc").exists()
    assert machines[0].program() == [
        str(folder / "usr/bin/qemu-system-x86_64"),
        *("-L", str(folder / "usr/share/qemu"), "-L", str(folder / "usr/share/seabios")),
    ]
    assert "10.0.11" in machines[0].identity()["version"]


def test_one_cpu_keeps_the_installed_one(tmp_path: Path) -> None:
    archive = MadeEmulators()
    machine = Machine.of("amd64", mips=250)
    assert emulator.with_emulator(machine, archive, tmp_path, silent) is machine
    assert archive.asked == []


def test_a_release_without_a_new_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotPossibleError, match="QEMU 10 or newer"):
        emulator.with_emulator(
            Machine.of("amd64", cpus=2),
            MadeEmulators(("bookworm", OLD), ("trixie", NEW)),
            tmp_path,
            silent,
        )


def test_one_that_does_not_start_is_told_and_not_kept(tmp_path: Path) -> None:
    broken = MadeEmulators(("bookworm-backports", NEW), program=b"#!/bin/sh\necho no libslirp >&2; exit 1\n")
    with pytest.raises(NotPossibleError, match="no libslirp"):
        emulator.with_emulator(Machine.of("amd64", cpus=2), broken, tmp_path, silent)
    assert not list((tmp_path / emulator.FOLDER).glob("qemu*"))
