"""Folders for large, short-lived data: in memory if there is room, and removed afterwards, however howlate
ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from howlate.system.interrupts import interrupts_held

MEMORY = Path("/dev/shm")
_YOUNG_S = 10.0
"""A folder is made before it is locked; a younger one than this is left alone."""


def free_bytes(place: Path) -> int:
    """How much this caller may still write there; 0 if nothing."""
    try:
        status = os.statvfs(place)
    except OSError:
        return 0
    return status.f_bavail * status.f_frsize if os.access(place, os.W_OK) else 0


@contextlib.contextmanager
def held_folder(prefix: str, place: Path) -> Iterator[Path]:
    """A private folder. Its lock tells other howlates that it is in use; the next howlate removes what a
    killed one left."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place, ignore_cleanup_errors=True) as name:
        handle = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)  # waits for a howlate that checks whether the folder is in use
            yield Path(name)
        finally:
            os.close(handle)


def remove_stale(place: Path, prefix: str) -> None:
    """Remove what a killed howlate left: folders whose lock nobody holds."""
    for folder in place.glob(f"{prefix}*"):
        # some belong to other users, some are just being removed
        with interrupts_held(), contextlib.suppress(OSError):
            if _is_old(folder):
                _remove_unheld(folder)


def _remove_unheld(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_old(folder):  # check again: another folder may have taken its place
            shutil.rmtree(folder)
    finally:
        os.close(handle)


def _is_old(folder: Path) -> bool:
    status = folder.lstat()
    return status.st_uid == os.geteuid() and time.time() - status.st_mtime > _YOUNG_S
