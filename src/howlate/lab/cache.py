"""The cache folder: what is there is whole; what is made stands beside its place until it is.

apt/        the private state of apt (lists of packages)
mirror/     the lists of mirrors given by hand
kernels/    unpacked kernels        headers/    unpacked headers
gone.json   packages that the archive lists and does not have
roots/      minimal roots to build in           modules/    modules that were built
initramfs/  the guests' file systems, by content            snapshots/  guests that are booted
results/    what was measured in guests         tmp/        running guests' files where memory is short
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from howlate.errors import StorageError
from howlate.store.files import sync


def cache_folder() -> Path:
    """$HOWLATE_CACHE, else howlate/ below $XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("HOWLATE_CACHE")
    if own:
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(shared) if shared.startswith("/") else Path.home() / ".cache") / "howlate"


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Turns an OSError inside into a StorageError about `path`, which is in the cache."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise StorageError(
            f"{path} could not be written: {error.strerror or error}",
            ("make room there, or " if full else "")
            + "set HOWLATE_CACHE to a folder that can hold the lab's files",
        ) from None


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """One process at a time makes `place`; the others wait. The lock stands beside it and goes with its holder."""
    lock = place.with_name(f".{place.name}.lock")
    with storing(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
    while (handle := _taken(lock)) is None:
        pass
    try:
        yield
    finally:
        os.close(handle)


def _taken(lock: Path) -> int | None:
    """The lock, held; None if it was removed (`tidy`) while this waited for it."""
    with storing(lock):
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            mine = os.fstat(handle)
            with suppress(FileNotFoundError):
                there = lock.stat()
                if (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino):
                    return handle
        except BaseException:
            os.close(handle)
            raise
    os.close(handle)
    return None


def made(folder: Path, make: Callable[[Path], None], is_sound: Callable[[Path], bool] = Path.is_dir) -> Path:
    """The folder, made by `make` in a folder beside it if it is not there yet, or not sound. What is renamed is
    whole: a crash leaves nothing in its place, and of two who want it one makes it."""
    if folder.is_dir() and is_sound is Path.is_dir:
        return folder
    with locked(folder):  # what is not sound goes under the lock: what another has made since stays
        if folder.is_dir():
            if is_sound(folder):
                return folder
            remove(folder)
        for left_over in folder.parent.glob(
            f".{folder.name}.new-*"
        ):  # of one that was killed: we hold the lock
            remove(left_over)
        with storing(folder):
            beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new-", dir=folder.parent))
        try:
            make(beside)
            with storing(folder):
                beside.chmod(0o755)
                _sync_all(beside)
                beside.rename(folder)
                sync(folder.parent)
        except BaseException:
            remove(beside)
            raise
    return folder


def remove(folder: Path) -> None:
    """Removes a tree if it is there."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _sync_all(folder: Path) -> None:
    """One syncfs in place of thousands of fsyncs would need ctypes; sync the few files of a small folder, and leave a
    large tree (headers) to the file system: it can be made again."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in files if len(files) <= 200 else []:
        sync(path)
