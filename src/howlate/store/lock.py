"""Only one howlate at a time measures into a run folder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from howlate.errors import UsageError
from howlate.store.files import storing
from howlate.system.opening import opened_folder

LOCK = ".lock"
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which ends with the process. It is a file that others cannot open: who may only read a
    run cannot hold it up. Nothing is measured into a folder that cannot be written, so it needs no lock."""
    with contextlib.ExitStack() as held:
        with storing(folder):
            opened = held.enter_context(opened_folder(folder))
            try:
                handle = os.open(LOCK, _OPEN, 0o600, dir_fd=opened)
            except OSError as error:
                handle = None
                if error.errno not in (errno.EACCES, errno.EROFS) or os.access(folder, os.W_OK):
                    raise
        if handle is not None:
            held.callback(os.close, handle)
            if not _taken(handle, opened):
                raise UsageError(
                    "another howlate is measuring into {folder}",
                    remedy="wait for it, or choose another --out",
                    folder=folder,
                )
            held.callback(_remove, opened)
        yield


def _taken(handle: int, folder: int) -> bool:
    """False where another howlate holds it, or has just removed it."""
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        now = os.stat(LOCK, dir_fd=folder, follow_symlinks=False)
        return os.path.samestat(os.fstat(handle), now)
    return False


def _remove(folder: int) -> None:
    with contextlib.suppress(OSError):
        os.unlink(LOCK, dir_fd=folder)
