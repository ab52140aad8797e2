"""Folders for what a running guest needs: in memory where it fits, and gone afterwards, whatever ends howlate."""

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
PREFIX = "howlate-guest-"
_YOUNG_S = 10.0
"""A folder is made before it is locked; one this young is left alone."""


@contextlib.contextmanager
def scratch(needed: int, otherwise: Path, memory: Path = MEMORY) -> Iterator[Path]:
    """A folder that can take `needed` bytes: in memory if twice as much is free there, else below `otherwise`."""
    place = memory if _fits(needed, memory) else otherwise
    place.mkdir(parents=True, exist_ok=True)
    remove_stale(place)
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=place, ignore_cleanup_errors=True) as name,
        _locked(Path(name)),
    ):
        yield Path(name)


def remove_stale(place: Path) -> None:
    """Removes what a killed howlate left: nobody holds its lock."""
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), _locked(folder):
            status = folder.stat()
            if status.st_uid == os.geteuid() and time.time() - status.st_mtime > _YOUNG_S:
                shutil.rmtree(folder)


def _fits(needed: int, memory: Path) -> bool:
    try:
        status = os.statvfs(memory)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize >= 2 * needed and os.access(memory, os.W_OK)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)
