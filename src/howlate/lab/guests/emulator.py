"""A QEMU that can run several CPUs in virtual time: the installed one, else packages of the host's own release,
unpacked in the cache. Nothing of the machine changes."""

from __future__ import annotations

import platform
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from howlate.errors import HowlateError, NotPossibleError
from howlate.lab.archive.deb import unpack
from howlate.lab.archive.manifest import unchanged, write_manifest
from howlate.lab.archive.packages import EMULATOR, Archive, Package, PackageVersion, Say
from howlate.lab.cache import fills, made, storing
from howlate.lab.guests.machine import Machine, data_of, output_of, version_of
from howlate.lab.problems import UNUSABLE
from howlate.model.run import VIRTUAL
from howlate.system.paths import MACHINES
from howlate.words.statement import Statement

NEEDED = 10
"""QEMU 7.2 hangs with several CPUs in virtual time."""
FOLDER = "emulators"
NEITHER = "neither this machine nor its archive has it"


def with_emulator(machine: Machine, archive: Archive, cache: Path, say: Say) -> Machine:
    """The machine with a QEMU that can run it. One CPU takes the installed one."""
    if machine.clock != VIRTUAL or machine.cpus == 1 or _is_new(machine.architecture.emulator):
        return machine
    packages = _chosen(archive)
    main = packages[0]
    name = f"{main.name}_{main.version.replace(':', '%3a')}"

    def make(beside: Path) -> None:
        size = sum(package.size for package in packages)
        say(f"fetching QEMU {main.version} ({size / 1e6:.0f} MB)")
        with tempfile.TemporaryDirectory(prefix="packages-", dir=beside) as scratch:
            fills(say, scratch, size)
            for package in packages:
                file = archive.fetch(package, Path(scratch))
                with storing(beside):
                    unpack(file, beside, _is_wanted)
        with storing(beside):
            write_manifest(beside, name, packages)
        program = [
            str(beside / "usr" / "bin" / machine.architecture.emulator),
            *data_of(beside / "usr" / "share"),
        ]
        try:
            output_of(program, "--version")
        except HowlateError as problem:
            raise NotPossibleError(_no_new_emulator(problem.message)) from None

    folder = made(cache / FOLDER / name, make, unchanged(packages), say)
    return replace(machine, fetched=folder)


def _no_new_emulator(why: str) -> Statement:
    reason = f"several CPUs in virtual time need QEMU {NEEDED} or newer: {why}"
    return UNUSABLE(what="this QEMU", reason=reason, hint="install a newer QEMU, or ask for one CPU")


def _is_new(emulator: str) -> bool:
    path = shutil.which(emulator)
    match = re.search(r"version (\d+)\.", version_of(Path(path))) if path else None
    return match is not None and int(match[1]) >= NEEDED


def _is_wanted(name: str) -> bool:
    """Programs, modules and firmware."""
    return not name.startswith(("usr/share/doc/", "usr/share/man/", "etc/", "lib/"))


def _chosen(archive: Archive) -> Sequence[Package]:
    """The newest QEMU of the host's release and its additions, the emulator first."""
    for refresh in (False, True):  # lists that an older howlate has kept do not name it
        packages = archive.packages(refresh=refresh)
        if any(package.name == EMULATOR[0] for package in packages):
            break
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    here = MACHINES.get(platform.machine(), "")
    own = [p for p in packages if p.suite.split("-")[0] == release and p.architecture in (here, "all")]
    main = _newest(own, EMULATOR[0])
    number = re.match(r"(?:\d+:)?(\d+)", main.version) if main else None
    if main is None or number is None or int(number[1]) < NEEDED:
        raise NotPossibleError(_no_new_emulator(NEITHER))
    chosen = [main]
    for name in EMULATOR[1:]:
        package = _newest(
            [p for p in own if p.version == main.version] if name.startswith("qemu") else own, name
        )
        if package is None:
            raise NotPossibleError(_no_new_emulator(NEITHER))
        chosen.append(package)
    return chosen


def _newest(packages: Sequence[Package], name: str) -> Package | None:
    named = [package for package in packages if package.name == name]
    return max(named, key=lambda package: PackageVersion(package.version), default=None)
