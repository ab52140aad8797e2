"""A kernel's headers and build scripts, unpacked and not installed, to build modules outside of its tree with."""

from __future__ import annotations

import platform
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from howlate.errors import NotPossibleError
from howlate.lab.archive import Archive, Package, Say, Version, silent
from howlate.lab.cache import cache_folder, locked, made, remove, storing
from howlate.lab.deb import unpack
from howlate.lab.kernel import Kernel
from howlate.places import MACHINES

_WHERE = "where.txt"

TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
"""As compilers call the architectures."""


@dataclass(frozen=True)
class Headers:
    """An unpacked tree: `usr/src/linux-headers-*` and `usr/lib/linux-kbuild-*` below `root`."""

    root: Path
    release: str
    packages: tuple[Package, ...]

    @property
    def build(self) -> Path:
        """What `make -C` is given."""
        return self.root / "usr/src" / f"linux-headers-{self.release}"

    @property
    def gcc(self) -> int:
        """The major version of the compiler that the kernel was built with."""
        text = (self.build / ".config").read_text(encoding="utf-8", errors="replace")
        found = re.search(r'^CONFIG_CC_VERSION_TEXT="\S*gcc\S* .*?(\d+)\.\d+', text, re.MULTILINE)
        return int(found[1]) if found else 0


def host_architecture() -> str:
    """The build scripts are programs of the machine that builds."""
    machine = platform.machine()
    if machine not in MACHINES:
        raise NotPossibleError(
            f"modules cannot be built on this machine ({machine})", "build them on amd64 or arm64"
        )
    return MACHINES[machine]


def header_packages(kernel: Kernel, archive: Archive) -> tuple[Package, ...]:
    """linux-headers of the kernel, what these share with other flavours, and the build scripts for this machine."""
    packages = archive.packages()
    name = f"linux-headers-{kernel.release}"
    own = [p for p in packages if (p.name, p.version, p.architecture) == (name, kernel.version, kernel.arch)]
    if kernel.label.own or not own:
        why = (
            "it is a file of your own" if kernel.label.own else f"the archive has no {name} {kernel.version}"
        )
        raise NotPossibleError(
            f"no module can be built for {kernel.name}: {why}",
            "build it by hand" if kernel.label.own else "fetch the newest version of that kernel",
        )
    found = [own[0]]
    for needed in re.findall(r"linux-headers-\S+-common\S*|linux-kbuild-\S+", own[0].depends):
        fitting = [
            p
            for p in packages
            if p.name == needed.rstrip(",") and p.architecture in ("all", host_architecture())
        ]
        # The build scripts of a series are one package for all its versions: the kernel's own, else the next.
        fitting.sort(key=lambda p: (p.version == kernel.version, Version(p.version)))
        if not fitting:
            raise NotPossibleError(
                f"no module can be built for {kernel.pinned}: the archive has no {needed} (any more)",
                "fetch the newest version of that kernel",
            )
        found.append(fitting[-1])
    return tuple(found)


def headers(kernel: Kernel, archive: Archive, cache: Path | None = None, say: Say = silent) -> Headers:
    """The kernel's headers in the cache."""
    packages = header_packages(kernel, archive)
    folder = (
        (cache or cache_folder())
        / "headers"
        / (f"{packages[0].name}_{kernel.version}_{kernel.arch}_on_{host_architecture()}")
    )
    with locked(folder.with_name(f"{folder.name}.moved")):
        if (
            folder.is_dir() and _place_of(folder) != folder
        ):  # the cache was moved, and names of places stand in them
            remove(folder)
    made(folder, lambda beside: _unpack(packages, beside, folder, archive, say))
    return Headers(folder, kernel.release, packages)


def unpack_into(
    packages: tuple[Package, ...], root: Path, archive: Archive, say: Say, place: Path | None = None
) -> None:
    """The packages' trees below `root`; `place` is where they will stand if that is not /."""
    say(f"fetching {', '.join(p.name for p in packages)} ({sum(p.size for p in packages) / 1e6:.0f} MB)")
    with tempfile.TemporaryDirectory(prefix="packages-", dir=root) as scratch, storing(root):
        for package in packages:
            unpack(archive.fetch(package, Path(scratch)), root, lambda name: name.startswith("usr/"))
    if place is not None:
        for file in (root / "usr/src").glob("linux-headers-*/Makefile"):
            text = file.read_text(encoding="utf-8")
            if file.stat().st_size < 1000:  # the wrapper: it includes the real one by its full name
                file.write_text(text.replace("/usr/src/", f"{place}/usr/src/"), encoding="utf-8")


def _unpack(packages: tuple[Package, ...], beside: Path, folder: Path, archive: Archive, say: Say) -> None:
    if re.search(r"[\s:]", str(folder)):
        raise NotPossibleError(
            f"modules cannot be built below {folder}: the kernel's build allows no space or colon in a path",
            "set HOWLATE_CACHE to a folder without",
        )
    unpack_into(packages, beside, archive, say, folder)
    (beside / _WHERE).write_text(str(folder), encoding="utf-8")


def _place_of(folder: Path) -> Path | None:
    try:
        return Path((folder / _WHERE).read_text(encoding="utf-8"))
    except OSError:
        return None
