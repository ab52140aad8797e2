"""The cache folder: what is there is whole; what is made stands beside its place until it is.

apt/        the private state of apt (lists of packages)
mirror/     the lists of mirrors given by hand
costs.json  what cells took on this host
kernels/    kernels from packages   headers/    headers from packages
unpacked/   kernels that guests need not unpack
emulators/  a newer QEMU than the installed one
gone.json   packages that the archive lists and does not have
roots/      minimal roots to build in           modules/    modules that were built
initramfs/  the guests' file systems, by content            snapshots/  guests that are booted
results/    what was measured in guests         landscapes/ probes of single releases
clocks/     guests' clocks against their machines'
tmp/        running guests' files where memory is short
"""

from __future__ import annotations

import errno
import fcntl
import grp
import hashlib
import json
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from howlate.errors import NotPossibleError, StorageError
from howlate.model.decode import json_value
from howlate.store.files import sync
from howlate.system.interrupts import interrupts_held
from howlate.words.statement import message

CACHE_NOT_WRITTEN = message(
    "lab.cache-not-written",
    "{path} could not be written: {reason}",
    remedy="make room there, or set HOWLATE_CACHE to another folder",
)
CACHE_UNSAFE = message(
    "lab.cache-unsafe",
    "{who} may change {path}, and the lab runs programs from {cache}",
    remedy="set HOWLATE_CACHE to a folder that only you may change, or call `chmod go-w {path:shell}`",
)

_Say = Callable[[str], None]
SEALED = 1
"""Counted up with what a seal covers."""
MOST_ENTRY = 4 << 30
"""Bytes of an entry that is read as a whole: more than any result."""


def cache_folder() -> Path:
    """$HOWLATE_CACHE, else howlate/ below $XDG_CACHE_HOME or ~/.cache. NotPossibleError if another user could put
    something there."""
    own = os.environ.get("HOWLATE_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if own:
        folder = Path(own).absolute()
    else:
        folder = (Path(shared) if shared.startswith("/") else Path.home() / ".cache") / "howlate"
    check_private(folder)
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.is_dir():
                check_private(entry)
    return folder


def check_private(place: Path) -> None:
    """Refuse a folder if a user other than root may change it or a folder above it.
    Folders above may be sticky, as /tmp is: there nobody renames what is another's."""
    real = Path(os.path.realpath(place))
    for folder in (real, *real.parents):
        try:
            status = folder.lstat()
        except OSError:  # not there yet, or not to be seen: the next one up decides
            continue
        if status.st_uid not in (0, os.geteuid()):
            who = f"the user {_name_of(status.st_uid)}"
            raise NotPossibleError(CACHE_UNSAFE(path=folder, who=who, cache=place))
        of_group = status.st_mode & stat.S_IWGRP and not (_is_alone(status) and not _has_acl(folder))
        is_open = status.st_mode & stat.S_IWOTH or of_group
        if is_open and not (status.st_mode & stat.S_ISVTX and folder != real):
            raise NotPossibleError(CACHE_UNSAFE(path=folder, who="other users", cache=place))


def _is_alone(status: os.stat_result) -> bool:
    """Whether the group has no other members: root's, or that which many systems make for each user."""
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    primary = {each.pw_name for each in pwd.getpwall() if each.pw_gid == group.gr_gid}
    return (
        group.gr_gid == user.pw_gid
        and group.gr_name == user.pw_name
        and not {*group.gr_mem, *primary} - {user.pw_name}
    )


def _has_acl(folder: Path) -> bool:
    """Whether the bits of the group are the most that some list of users and groups has (acl(5))."""
    try:
        return bool(os.getxattr(folder, "system.posix_acl_access"))
    except OSError:
        return False


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def make_folder(folder: Path) -> None:
    """The folder and those above it that are missing; whatever the umask, only this user may write to them."""
    missing = [folder, *(above for above in folder.parents)]
    for place in reversed(missing):
        if not place.is_dir():
            place.mkdir(mode=0o755, exist_ok=True)


@contextmanager
def opened_entry(path: Path) -> Iterator[BufferedReader]:
    """A file of the cache; OSError unless it is a regular one: a pipe or a device would never end."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    with os.fdopen(handle, "rb") as file:
        yield file


def entry_hash(path: Path) -> str:
    """Its SHA-256; OSError unless it is a regular file."""
    with opened_entry(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_entry(path: Path, most: int = MOST_ENTRY) -> bytes:
    """The content of a file of the cache; OSError unless it is a regular file of at most `most` bytes."""
    with opened_entry(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def write_entry(path: Path, data: bytes) -> None:
    """A whole file or nothing; of two that write the same, one stays. Its new file follows no link."""
    make_folder(path.parent)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", delete=False) as file:
        beside = Path(file.name)
        try:
            file.write(data)
            file.close()
            beside.chmod(0o644)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


@contextmanager
def storing(path: Path) -> Iterator[None]:
    """Turn an OSError inside into a StorageError about `path`, which is in the cache."""
    try:
        yield
    except OSError as error:
        raise StorageError(CACHE_NOT_WRITTEN(path=path, reason=error.strerror or error)) from None


def seal(name: str, digest: str) -> str:
    """A checksum of an entry: of what it is for, and of its content. Entries that were swapped do not have theirs."""
    return hashlib.sha256(f"{SEALED} {name} {digest}".encode()).hexdigest()


def read_sealed(path: Path, most: int = MOST_ENTRY) -> bytes:
    """What `write_sealed` wrote there; ValueError if it is something else, or was written for another place."""
    head, _, data = read_entry(path, most).partition(b"\n")
    if head.decode("ascii") != seal(path.name, hashlib.sha256(data).hexdigest()):
        raise ValueError("its seal does not match")
    return data


def write_sealed(path: Path, data: bytes) -> None:
    """A seal, a newline, the content."""
    digest = hashlib.sha256(data).hexdigest()
    write_entry(path, f"{seal(path.name, digest)}\n".encode() + data)


def read_sealed_json(path: Path, say: _Say, again: str, most: int = MOST_ENTRY) -> Any:
    """What `write_sealed_json` wrote there; None if it is missing, or, with a word that ends with `again`, if it is
    something else."""
    try:
        return json_value(read_sealed(path, most))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        say_changed(path, say, again)
        return None


def read_instants(path: Path, members: str, say: _Say, again: str) -> dict[str, float]:
    """Seconds since 1970 by name, of a member of such a file; none where it is missing or something else."""
    stored = read_sealed_json(path, say, again)
    try:
        return {str(name): float(at) for name, at in stored[members].items()} if stored else {}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def write_sealed_json(path: Path, value: object) -> None:
    """A seal, a newline, JSON."""
    write_sealed(path, json.dumps(value).encode("ascii"))


def say_changed(path: Path, say: _Say, again: str) -> None:
    say(f"the cache's {path.parent.name}/{path.name[:40]} has changed; {again}")


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """One process at a time makes `place`; the others wait. The lock file is in the same folder, and the lock
    ends with its holder. It is the same lock under every name (symbolic link) of the place."""
    place = Path(os.path.realpath(place))
    lock = place.with_name(f".{place.name}.lock")
    with storing(lock):
        make_folder(lock.parent)
    while (handle := _taken(lock)) is None:
        pass
    try:
        yield
    finally:
        os.close(handle)


def _taken(lock: Path) -> int | None:
    """The lock, held; None if `tidy` removed it while this process waited for it."""
    with storing(lock):
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            mine = os.fstat(handle)
            with suppress(FileNotFoundError):
                there = lock.lstat()
                if (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino):
                    return handle
        except BaseException:
            os.close(handle)
            raise
    os.close(handle)
    return None


def living(say: _Say) -> AbstractContextManager[None]:
    """While a step lasts that was or will be told: where `say` can, it shows that the step lives."""
    within: Callable[[], AbstractContextManager[None]] = getattr(say, "living", nullcontext)
    return within()


def passing(say: _Say, text: str) -> None:
    """A step that need not be told once it is over: where `say` can, it is only shown while it lasts."""
    tell: Callable[[str], None] = getattr(say, "passing", say)
    tell(text)


def is_done(say: _Say, share: Callable[[], float]) -> None:
    """How much of the step that was told is done: where `say` can, it shows that, and how long the rest takes."""
    tell: Callable[[Callable[[], float]], None] = getattr(say, "done", lambda _: None)
    tell(share)


def fills(say: _Say, folder: Path | str, size: int) -> None:
    """The same of a step that puts this many bytes into a folder."""

    def share() -> float:
        with suppress(OSError):  # the step ends, and its folder with it
            return sum(file.stat().st_size for file in Path(folder).iterdir()) / size
        return 0.0

    is_done(say, share)


def made(
    folder: Path,
    make: Callable[[Path], None],
    is_sound: Callable[[Path], bool] = Path.is_dir,
    say: _Say = lambda _: None,
) -> Path:
    """The folder. If it is missing or, which is said, not sound, `make` builds it in a new folder. Only whole
    folders are renamed: a crash leaves nothing in the place, and of two processes that need it one makes it."""
    check_private(folder)
    if folder.is_dir() and is_sound is Path.is_dir:
        return folder
    with locked(
        folder
    ):  # unsound folders are removed under the lock: what another process has made meanwhile stays
        if folder.is_dir():
            if is_sound(folder):
                return folder
            say_changed(folder, say, "it is made again")
        for left_over in folder.parent.glob(
            f".{folder.name}.new-*"
        ):  # left by a killed process: we hold the lock
            remove(left_over)
        with storing(folder):
            beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.new-", dir=folder.parent))
        try:
            with living(say):
                make(beside)
            with storing(folder):
                _close(beside)
                _sync_all(beside)
                remove(folder)  # one that was not sound, until now: what is made may fail
                beside.rename(folder)
                sync(folder.parent)
        except BaseException:
            remove(beside)
            raise
    return folder


def _close(folder: Path) -> None:
    """Take from others the right to write there, which a umask may have left them."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        mode = path.lstat().st_mode
        if mode & 0o022 and (stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and not mode & stat.S_ISVTX)):
            path.chmod(stat.S_IMODE(mode) & ~0o022)


def remove(folder: Path) -> None:
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
    else:
        with interrupts_held():  # rmtree may close a descriptor twice after one, and lose the interrupt
            shutil.rmtree(folder, ignore_errors=True)


def _sync_all(folder: Path) -> None:
    """A single syncfs instead of thousands of fsyncs would need ctypes. So sync the few files of a small
    folder, and leave a large tree (headers) to the file system: it can be made again."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in files if len(files) <= 200 else []:
        sync(path)
