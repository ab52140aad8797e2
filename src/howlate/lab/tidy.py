"""Limits of the cache: the least recently used goes first, and what a killed howlate left goes after a day."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from howlate.lab.cache import remove

MOST_BYTES = {"results": 4 << 30, "landscapes": 1 << 30, "initramfs": 1 << 30}
"""Limits for files that can be made again; snapshots have a limit of their own."""
MADE_AGAIN = (
    "results",
    "landscapes",
    "clocks",
    "initramfs",
    "unpacked",
    "snapshots",
    "modules",
    "roots",
    "headers",
    "emulators",
    "tmp",
)
"""What the lab makes from kernels, and can make again."""
OWN = "own_"
"""The prefix of copies of the user's own kernels, below `kernels`."""
MOST_OWN_BYTES = 1 << 30
"""The limit for these copies, and for kernels that the host has unpacked. A bisection makes both of each kernel."""
_IN_USE_S = 3600.0
_LEFT_S = 24 * 3600.0


def tidy(cache: Path) -> None:
    """Bring the cache below its limits. Files that cannot be removed stay."""
    for name, most in MOST_BYTES.items():
        _prune(cache / name, most)
    _prune_kernels(cache / "kernels", OWN)
    _prune_kernels(cache / "unpacked", "")
    for name in (*MADE_AGAIN, "kernels"):
        for path in _listed(cache / name):
            if path.name.startswith(".") and _age_s(path) > _LEFT_S:
                _remove_lock(path) if path.name.endswith(".lock") else remove(path)


def clean(cache: Path) -> int:
    """Remove everything except the archive's kernels and lists, and return the number of bytes. What a link in the
    cache leads to belongs to somebody else, and stays."""
    own_folders = [cache / name for name in MADE_AGAIN if not (cache / name).is_symlink()]
    made = [path for folder in own_folders for path in _listed(folder)]
    own = [path for path in _listed(cache / "kernels") if path.name.startswith((OWN, f".{OWN}"))]
    size = 0
    for path in (*made, *own):
        if not path.name.endswith(".lock"):
            size += _size_of_tree(path)
            remove(path)
    return size


def _prune(folder: Path, most: int) -> None:
    total = 0
    for path in sorted((p for p in _listed(folder) if p.name[0] != "."), key=_age_s):
        total += _size(path)
        if total > most and _age_s(path) > _IN_USE_S:
            with suppress(OSError):
                path.unlink()


def _prune_kernels(kernels: Path, prefix: str) -> None:
    """A run may boot its kernels for hours, so nothing is removed that was opened within a day."""
    total = 0
    for folder in sorted(
        (p for p in _listed(kernels) if p.name.startswith(prefix) and p.name[0] != "."), key=_age_s
    ):
        total += _size_of_tree(folder)
        if total > MOST_OWN_BYTES and _age_s(folder) > _LEFT_S:
            remove(folder)


def _remove_lock(path: Path) -> None:
    """Remove a lock that nobody holds and whose place is gone. Processes that wait for it notice (`locked`)."""
    if path.with_name(path.name[1 : -len(".lock")]).exists():
        return
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(handle)


def _listed(folder: Path) -> Iterable[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir())
    return ()


def _age_s(path: Path) -> float:
    with suppress(OSError):
        return time.time() - path.lstat().st_mtime
    return 0.0


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.lstat().st_size
    return 0


def _size_of_tree(path: Path) -> int:
    return _size(path) + sum(_size(below) for below in path.rglob("*") if not below.is_symlink())
