"""Packages that the archive's lists name and the archive does not have: remembered after a fetch that failed, so that
`howlate lab kernels` lists what can be had."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from howlate.errors import HowlateError
from howlate.lab.cache import locked, storing
from howlate.store.files import read_json, write_json

if TYPE_CHECKING:
    from howlate.lab.kernels import Available

FILE = "gone.json"
FORGOTTEN_S = 7 * 24 * 3600.0
"""After so long one that is listed still is believed again: archives are mended."""


def gone(cache: Path) -> frozenset[str]:
    """The hashes of these packages."""
    return frozenset(_read(cache / FILE))


def remember(cache: Path, sha256: str, is_gone: bool) -> None:
    """That the archive does not have a package, or that it does."""
    file = cache / FILE
    if not is_gone and sha256 not in _read(file):
        return
    with locked(file):
        known = _read(file)
        known.pop(sha256, None)
        if is_gone:
            known[sha256] = time.time()
        with storing(file):
            write_json(file, {"schema": 1, "packages": known})


def there(kernels: Sequence[Available], gone: frozenset[str]) -> list[Available]:
    """Without those that are gone, where another of the same label is left."""
    kept = [kernel for kernel in kernels if not is_gone(kernel, gone)]
    labels = {kernel.label for kernel in kept}
    return [kernel for kernel in kernels if not is_gone(kernel, gone) or kernel.label not in labels]


def is_gone(kernel: Available, gone: frozenset[str]) -> bool:
    """Whether a package that it is made of is."""
    return any(package.sha256 in gone for package in kernel.packages)


def _read(file: Path) -> dict[str, float]:
    """What is damaged is forgotten: it costs one request that fails."""
    if not file.is_file():
        return {}
    try:
        found = read_json(file, "remove it")["packages"]
        return {str(key): float(at) for key, at in found.items() if time.time() - float(at) < FORGOTTEN_S}
    except (HowlateError, KeyError, TypeError, ValueError, AttributeError):
        return {}
