"""The cache's bounds: what was used longest ago goes first, and what a killed howlate left goes after a day."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from howlate.lab.cache import remove

MOST_BYTES = {"results": 4 << 30, "initramfs": 1 << 30}
"""Of files that can be made again; snapshots have a bound of their own."""
MADE_AGAIN = ("results", "initramfs", "snapshots", "modules", "roots", "headers", "tmp")
"""What the lab makes of kernels, and can make again."""
OWN = "own_"
"""How the names of copies of the user's own kernels begin, below `kernels`."""
MOST_OWN_BYTES = 1 << 30
"""Of these copies. A bisect makes one of each kernel."""
_IN_USE_S = 3600.0
_LEFT_S = 24 * 3600.0


def tidy(cache: Path) -> None:
    """Brings the cache below its bounds. What cannot be removed stays."""
    for name, most in MOST_BYTES.items():
        _prune(cache / name, most)
    _prune_own(cache / "kernels")
    for name in (*MADE_AGAIN, "kernels"):
        for path in _listed(cache / name):
            if path.name.startswith(".") and _age_s(path) > _LEFT_S:
                _remove_lock(path) if path.name.endswith(".lock") else remove(path)


def clean(cache: Path) -> int:
    """Removes all but the archive's kernels and lists, and gives how many bytes these were."""
    made = [path for name in MADE_AGAIN for path in _listed(cache / name)]
    own = [path for path in _listed(cache / "kernels") if path.name.startswith((OWN, f".{OWN}"))]
    size = 0
    for path in (*made, *own):
        if not path.name.endswith(".lock"):
            size += _size_of_tree(path)
            remove(path)
    return size


def _prune(folder: Path, most: int) -> None:
    kept = 0
    for path in sorted((p for p in _listed(folder) if p.name[0] != "."), key=_age_s):
        kept += _size(path)
        if kept > most and _age_s(path) > _IN_USE_S:
            with suppress(OSError):
                path.unlink()


def _prune_own(kernels: Path) -> None:
    """A run may boot its kernels for hours, so nothing goes that was opened within a day."""
    kept = 0
    for folder in sorted((p for p in _listed(kernels) if p.name.startswith(OWN)), key=_age_s):
        kept += _size_of_tree(folder)
        if kept > MOST_OWN_BYTES and _age_s(folder) > _LEFT_S:
            remove(folder)


def _remove_lock(path: Path) -> None:
    """One that nobody holds, of something that is not there. Who waits for it sees that it is gone (`locked`)."""
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
    """Of a file, or of a folder with all that is in it."""
    return _size(path) + sum(_size(below) for below in path.rglob("*") if not below.is_symlink())
