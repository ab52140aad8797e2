"""A kernel's headers and build scripts, unpacked and not installed, for building modules outside its tree."""

from __future__ import annotations

import platform
import re
import tempfile
from pathlib import Path

from msgspec import Struct

from howlate.errors import NotPossibleError
from howlate.lab.archive.deb import unpack
from howlate.lab.archive.manifest import unchanged, write_manifest
from howlate.lab.archive.packages import Archive, Package, PackageVersion, Say, silent
from howlate.lab.cache import cache_folder, fills, locked, made, remove, say_changed, storing
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.problems import NO_MODULE
from howlate.store.files import file_hash
from howlate.system.paths import MACHINES

_WHERE = "where.txt"
_checked: set[Path] = set()
"""The trees that this process has compared with their manifests."""
BUILT = (".config", "Module.symvers", "include/generated/autoconf.h", "include/generated/utsrelease.h")
"""Files of a build tree for which modules can be built."""

TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
"""The compilers' names of the architectures."""


class Headers(Struct, frozen=True):
    """An unpacked tree: `usr/src/linux-headers-*` and `usr/lib/linux-kbuild-*` below `root`."""

    root: Path
    release: str
    packages: tuple[Package, ...]
    tree: Path | None = None
    """The build tree of a kernel of the user's own, in place of the packages."""

    @property
    def build(self) -> Path:
        """The argument of `make -C`."""
        return self.tree or self.root / "usr/src" / f"linux-headers-{self.release}"

    @property
    def sources(self) -> Path:
        """The folder whose name stands in the names of source files."""
        return self.tree or self.root / "usr/src"

    @property
    def parts(self) -> tuple[str, ...]:
        """What a module that is built with them depends on."""
        if self.tree is None:
            return tuple(package.sha256 for package in self.packages)
        return tuple(file_hash(self.tree / name) for name in BUILT)

    @property
    def gcc(self) -> int:
        """The major version of the compiler that the kernel was built with."""
        text = (self.build / ".config").read_text(encoding="utf-8", errors="replace")
        match = re.search(r'^CONFIG_CC_VERSION_TEXT="\S*gcc\S* .*?(\d+)\.\d+', text, re.MULTILINE)
        return int(match[1]) if match else 0


def host_architecture() -> str:
    """The architecture of the building machine, on which the build scripts run."""
    machine = platform.machine()
    if machine not in MACHINES:
        raise NotPossibleError(
            NO_MODULE(kernel="a kernel", reason=f"this machine is {machine}", hint="use amd64 or arm64")
        )
    return MACHINES[machine]


def header_packages(kernel: Kernel, archive: Archive) -> tuple[Package, ...]:
    """linux-headers of the kernel, what these share with other flavours, and the build scripts for this
    machine."""
    packages = archive.packages()
    name = f"linux-headers-{kernel.release}"
    own = [p for p in packages if (p.name, p.version, p.architecture) == (name, kernel.version, kernel.arch)]
    if not own:
        raise _no_headers(kernel, f"{name} {kernel.version}")
    packages_needed = [own[0]]
    for needed in re.findall(r"linux-headers-\S+-common\S*|linux-kbuild-\S+", own[0].depends):
        fitting = [
            p
            for p in packages
            if p.name == needed.rstrip(",") and p.architecture in ("all", host_architecture())
        ]
        # The build scripts of a series are one package for all its versions: the kernel's own, else the next.
        fitting.sort(key=lambda p: (p.version == kernel.version, PackageVersion(p.version)))
        if not fitting:
            raise _no_headers(kernel, needed)
        packages_needed.append(fitting[-1])
    return tuple(packages_needed)


def headers(kernel: Kernel, archive: Archive, cache: Path | None = None, say: Say = silent) -> Headers:
    """The kernel's headers in the cache; those of a kernel of the user's own in its build tree."""
    if kernel.label.own:
        return _own_tree(kernel)
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
            say_changed(folder, say, "it is made again")
            remove(folder)
    made(
        folder,
        lambda beside: _unpack(packages, beside, folder, archive, say),
        Path.is_dir if folder in _checked else unchanged(packages),
        say,
    )
    _checked.add(folder)
    return Headers(folder, kernel.release, packages)


def _own_tree(kernel: Kernel) -> Headers:
    tree = kernel.tree
    if tree is None or not all((tree / name).is_file() for name in BUILT):
        raise _no_tree(kernel)
    if re.search(r"[\s:]", str(tree)):
        raise _bad_path(tree)
    release = (tree / BUILT[-1]).read_text(encoding="utf-8", errors="replace")
    if kernel.release and f'"{kernel.release}"' not in release:
        raise _no_tree(kernel)
    return Headers(tree, kernel.release, (), tree)


def unpack_into(
    packages: tuple[Package, ...], root: Path, archive: Archive, say: Say, place: Path | None = None
) -> None:
    """Unpack the packages' trees below `root`; `place` is their later place if that is not /."""
    size = sum(package.size for package in packages)
    say(f"fetching {', '.join(p.name for p in packages)} ({size / 1e6:.0f} MB)")
    with tempfile.TemporaryDirectory(prefix="packages-", dir=root) as scratch, storing(root):
        fills(say, scratch, size)
        for package in packages:
            unpack(archive.fetch(package, Path(scratch)), root, lambda name: name.startswith("usr/"))
    if place is not None:
        for file in (root / "usr/src").glob("linux-headers-*/Makefile"):
            text = file.read_text(encoding="utf-8")
            if file.stat().st_size < 1000:  # the wrapper: it includes the real one by its full name
                file.write_text(text.replace("/usr/src/", f"{place}/usr/src/"), encoding="utf-8")


def _unpack(packages: tuple[Package, ...], beside: Path, folder: Path, archive: Archive, say: Say) -> None:
    if re.search(r"[\s:]", str(folder)):
        raise _bad_path(folder)
    unpack_into(packages, beside, archive, say, folder)
    (beside / _WHERE).write_text(str(folder), encoding="utf-8")
    with storing(beside):
        write_manifest(beside, folder.name, packages)


def _place_of(folder: Path) -> Path | None:
    try:
        return Path((folder / _WHERE).read_text(encoding="utf-8"))
    except OSError:
        return None


def _no_headers(kernel: Kernel, package: str) -> NotPossibleError:
    hint = "fetch the newest version of that kernel"
    return NotPossibleError(
        NO_MODULE(kernel=kernel.pinned, reason=f"the archive does not have {package}", hint=hint)
    )


def _no_tree(kernel: Kernel) -> NotPossibleError:
    reason = f"{kernel.tree or 'its folder'} is not its tree after `make bzImage modules`"
    hint = "name the bzImage or Image in its build tree (arch/x86/boot/bzImage)"
    return NotPossibleError(NO_MODULE(kernel=kernel.name, reason=reason, hint=hint))


def _bad_path(folder: Path) -> NotPossibleError:
    hint = "set HOWLATE_CACHE to another folder"
    return NotPossibleError(NO_MODULE(kernel="a kernel", reason=f"{folder} has a space or colon", hint=hint))
