"""Modules that a test can use in a guest: those of kmod/, and the kernel's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from howlate.errors import NotPossibleError, TargetError
from howlate.lab.archive.packages import Archive, Say
from howlate.lab.build_module import build_module
from howlate.lab.cache import read_entry
from howlate.lab.kernels import catalogue as kernels
from howlate.lab.kernels import initramfs
from howlate.lab.kernels.kernel import Kernel
from howlate.lab.kernels.label import Label
from howlate.lab.kernels.modules import modinfo, normal
from howlate.model.capabilities import Need
from howlate.system.paths import SHARE

KMOD = SHARE / "kmod"
"""One file there is one module."""


class GuestModules(Struct, frozen=True):
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The modules, by their names in the guest."""
    lines: tuple[tuple[str, ...], ...] = ()
    """The lines of a job that load them."""
    absent: tuple[str, ...] = ()
    """Sentences about modules that are not available; the test says what it can do without them."""


def needed(
    modules: Sequence[Need],
    label: Label,
    kernel: Kernel,
    archive: Archive,
    cache: Path,
    say: Say,
) -> GuestModules:
    """These modules, in order, and messages about those that this kernel cannot have."""
    files: dict[str, bytes] = {}
    lines: dict[tuple[str, ...], None] = {}
    absent: list[str] = []
    for need in modules:
        try:
            for path in _files_of(need.name, label, kernel, archive, cache, say):
                files[f"{initramfs.MODULES}/{path.name}"] = read_entry(path)
                own = need.parameters.split() if path.stem == need.name else []
                lines["module", path.stem, *own] = None
        except (NotPossibleError, TargetError) as problem:
            absent.append(problem.message)
    return GuestModules(files, tuple(lines), tuple(absent))


def built(
    folders: Sequence[Path], label: Label, kernel: Kernel, archive: Archive, cache: Path, say: Say
) -> GuestModules:
    """The modules of the user's own folders, built for this kernel, each after its dependencies."""
    own = {
        normal(path.stem): path
        for folder in folders
        for path in build_module(folder, kernel, archive, cache, say)
    }
    files: dict[str, bytes] = {}
    lines: dict[tuple[str, ...], None] = {}

    def add(path: Path) -> None:
        if ("module", path.stem) in lines:
            return
        data = read_entry(path)
        for value in modinfo(data, path.name).get("depends", []):
            for name in map(normal, filter(None, value.split(","))):
                found = [own[name]] if name in own else _files_of(name, label, kernel, archive, cache, say)
                for needs in found:
                    add(needs)
        files[f"{initramfs.MODULES}/{path.name}"] = data
        lines["module", path.stem] = None

    for path in own.values():
        add(path)
    return GuestModules(files, tuple(lines))


def _files_of(
    name: str, label: Label, kernel: Kernel, archive: Archive, cache: Path, say: Say
) -> Sequence[Path]:
    if (KMOD / f"{name}.c").is_file():
        built = build_module(KMOD, kernel, archive, cache, say)
        return [path for path in built if path.stem == name]
    if kernel.modules_path is None:  # built in, or the guest reports what is missing
        return ()
    return kernels.get(label, archive, cache, (name,), say).module_files(name)
