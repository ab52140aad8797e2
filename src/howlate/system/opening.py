"""Opens files in folders that others may have made: a run folder may come from anybody. No link in it is followed, no
pipe or device is waited for, and what is read has a limit."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

FOLDERS = {"cells": 2, "kernels": 0, "pictures": 0}
"""The folders of a run, and how many levels of folders each of them holds."""
TEXT_BYTES_MAX = 256 << 20
"""More than any of howlate's own texts."""
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def opened_folder(folder: Path) -> Iterator[int]:
    """A folder as a descriptor. The run's own folder may be reached through links, what is in it may not."""
    root, names = _in_run(folder)
    opened = [os.open(root, _FOLDER)]
    try:
        for name in names:
            root = f"{root}/{name}"
            opened.append(_without_link(root, name, _FOLDER, opened[-1]))
        yield opened[-1]
    finally:
        # taken out first: after an interrupt none is closed twice, which may be another's by then
        while opened:
            os.close(opened.pop())


def open_file(path: Path, *, links: bool = False) -> BufferedReader:
    """A regular file to read. `links`: it was named by the user, so links are followed."""
    if links:
        descriptor = os.open(path, _FILE)
    else:
        sys.audit("howlate.open", str(path))  # the event of the system's call knows the last name alone
        with opened_folder(path.parent) as folder:
            descriptor = _without_link(path, path.name, _FILE, folder)
    try:
        file = os.fdopen(descriptor, "rb")  # owns it from here on: an interrupt must not close it once more
    except IsADirectoryError:
        os.close(descriptor)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path)) from None
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotRegularError(errno.EINVAL, "it is not a regular file", str(path))
        return file
    except BaseException:
        file.close()
        raise


class NotRegularError(OSError):
    """A pipe, a socket or a device where a file was expected."""


class TooLargeError(OSError):
    """More than a file of its kind can hold."""


def read_bytes(
    path: Path,
    *,
    links: bool = False,
    check: Callable[[os.stat_result], None] | None = None,
) -> bytes:
    """A whole regular file of at most TEXT_BYTES_MAX bytes. `check` refuses what was opened by its status."""
    with open_file(path, links=links) as file:
        if check is not None:
            check(os.fstat(file.fileno()))
        large = os.fstat(file.fileno()).st_size > TEXT_BYTES_MAX
        content = b"" if large else file.read(TEXT_BYTES_MAX + 1)
    if large or len(content) > TEXT_BYTES_MAX:
        raise TooLargeError(errno.EFBIG, f"it has more than {TEXT_BYTES_MAX >> 20} MiB", str(path))
    return content


def _without_link(path: str | Path, name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, folder):
            raise OSError(errno.ELOOP, "it is a symbolic link", str(path)) from None
        if error.errno in (errno.ENXIO, errno.ENODEV):  # a socket, or a device without a driver
            raise NotRegularError(errno.EINVAL, "it is not a regular file", str(path)) from None
        raise


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def is_in_run(path: Path) -> bool:
    return bool(_in_run(path.parent)[1])


def _in_run(folder: Path) -> tuple[str, tuple[str, ...]]:
    """The run that a folder belongs to, by the names that a run's folders have, and the names from there on."""
    parts = folder.parts
    for depth, name in enumerate(parts[: -max(FOLDERS.values()) - 2 : -1]):
        if depth <= FOLDERS.get(name, -1):
            at = len(parts) - 1 - depth
            return str(Path(*parts[:at])), parts[at:]
    return str(folder), ()
