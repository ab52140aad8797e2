"""Folders for what is large and short-lived: in memory where it fits, and gone afterwards, whatever ends howlate."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

MEMORY = Path("/dev/shm")
_YOUNG_S = 10.0
"""A folder is made before it is locked; one this young is left alone."""


def free_bytes(place: Path) -> int:
    """What this caller may still write there; 0 if nothing."""
    try:
        status = os.statvfs(place)
    except OSError:
        return 0
    return status.f_bavail * status.f_frsize if os.access(place, os.W_OK) else 0


@contextlib.contextmanager
def held_folder(prefix: str, place: Path) -> Iterator[Path]:
    """A folder of its own. Its lock tells other howlates that it is in use; one that was killed leaves it to the
    next."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place, ignore_cleanup_errors=True) as name:
        handle = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)  # waits for one that looks whether it is in use
            yield Path(name)
        finally:
            os.close(handle)


def remove_stale(place: Path, prefix: str) -> None:
    """Removes what a killed howlate left: nobody holds its lock."""
    for folder in place.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # some are other users', some are going
            if _is_old(folder):
                _remove_unheld(folder)


def _remove_unheld(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_old(folder):  # still: another may be in its place
            shutil.rmtree(folder)
    finally:
        os.close(handle)


def _is_old(folder: Path) -> bool:
    status = folder.lstat()
    return status.st_uid == os.geteuid() and time.time() - status.st_mtime > _YOUNG_S
