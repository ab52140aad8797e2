"""The cache folder: what is there is whole; what is made stands beside its place until it is.

apt/        the private state of apt (lists of packages)
mirror/     the lists of mirrors given by hand
kernels/    kernels from packages   headers/    headers from packages
unpacked/   kernels that guests need not unpack
emulators/  a newer QEMU than the installed one
gone.json   packages that the archive lists and does not have
roots/      minimal roots to build in           modules/    modules that were built
initramfs/  the guests' file systems, by content            snapshots/  guests that are booted
results/    what was measured in guests         landscapes/ probes of single releases
clocks/     guests' clocks beside their machines'
tmp/        running guests' files where memory is short
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
from howlate.words.statement import rule

CACHE_NOT_WRITTEN = rule(
    "lab.cache-not-written",
    "{path} could not be written: {reason}",
    remedy="set HOWLATE_CACHE to a folder that can hold the lab's files",
)
CACHE_FULL = rule(
    "lab.cache-full",
    "{path} could not be written: {reason}",
    remedy="make room there, or set HOWLATE_CACHE to a folder that can hold the lab's files",
)


def cache_folder() -> Path:
    """$HOWLATE_CACHE, else howlate/ below $XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("HOWLATE_CACHE")
    if own:
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(shared) if shared.startswith("/") else Path.home() / ".cache") / "howlate"


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Turn an OSError inside into a StorageError about `path`, which is in the cache."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        not_written = CACHE_FULL if full else CACHE_NOT_WRITTEN
        raise StorageError(not_written(path=path, reason=error.strerror or error)) from None


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """One process at a time makes `place`; the others wait. The lock file is beside the place, and the lock
    ends with its holder. It is the same lock under every name (symbolic link) of the place."""
    place = place.resolve()
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
    """The lock, held; None if `tidy` removed it while this process waited for it."""
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
    """The folder. If it is missing or not sound, `make` builds it in a folder beside it. Only whole folders
    are renamed: a crash leaves nothing in the place, and of two processes that need it one makes it."""
    if folder.is_dir() and is_sound is Path.is_dir:
        return folder
    with locked(
        folder
    ):  # unsound folders are removed under the lock: what another process has made meanwhile stays
        if folder.is_dir():
            if is_sound(folder):
                return folder
            remove(folder)
        for left_over in folder.parent.glob(
            f".{folder.name}.new-*"
        ):  # left by a killed process: we hold the lock
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
    """Remove a tree if it exists."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _sync_all(folder: Path) -> None:
    """A single syncfs instead of thousands of fsyncs would need ctypes. So sync the few files of a small
    folder, and leave a large tree (headers) to the file system: it can be made again."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in files if len(files) <= 200 else []:
        sync(path)
