"""Packages that the archive's lists name and the archive does not have. They are remembered after a failed
fetch, so that `howlate lab kernels` lists the available kernels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from howlate.lab.archive.packages import Package, Say, silent
from howlate.lab.cache import locked, read_instants, storing, write_sealed_json

FILE = "gone.json"
FORGOTTEN_S = 7 * 24 * 3600.0
"""After this time a package that is still listed is trusted again, because archives are repaired."""


def gone(cache: Path, say: Say = silent) -> frozenset[str]:
    """The hashes of these packages."""
    return frozenset(_read(cache / FILE, say))


def remember(cache: Path, sha256: str, *, is_gone: bool, say: Say = silent) -> None:
    file = cache / FILE
    if not is_gone and sha256 not in _read(file, say):
        return
    with locked(file):
        known = _read(file, silent)
        known.pop(sha256, None)
        if is_gone:
            known[sha256] = time.time()
        with storing(file):
            write_sealed_json(file, {"schema": 1, "packages": known})


class MadeOfPackages(Protocol):
    """A kernel of the archive, as far as this file needs it."""

    @property
    def label(self) -> object: ...

    @property
    def packages(self) -> tuple[Package, ...]: ...


Listed = TypeVar("Listed", bound=MadeOfPackages)


def there(kernels: Sequence[Listed], gone: frozenset[str]) -> list[Listed]:
    """The kernels without those that are gone, if another of the same label is left."""
    present = [kernel for kernel in kernels if not is_gone(kernel, gone)]
    labels = {kernel.label for kernel in present}
    return [kernel for kernel in kernels if not is_gone(kernel, gone) or kernel.label not in labels]


def is_gone(kernel: MadeOfPackages, gone: frozenset[str]) -> bool:
    return any(package.sha256 in gone for package in kernel.packages)


def _read(file: Path, say: Say) -> dict[str, float]:
    """A damaged record is forgotten, which costs one failing request."""
    known = read_instants(file, "packages", say, "the archive is asked again for what it did not have")
    return {key: at for key, at in known.items() if time.time() - at < FORGOTTEN_S}
