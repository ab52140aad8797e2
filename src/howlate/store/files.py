"""Writes files so that a crash leaves the old one or the new one, and turns failures into sentences."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from howlate.errors import REMEDIED, DamagedError, StorageError, UsageError
from howlate.model.decode import UNREADABLE, json_text, parse_json, read_text
from howlate.system.interrupts import interrupts_held
from howlate.system.opening import opened_folder
from howlate.words.statement import Statement, message

REMOVE_AND_GO_ON = message(
    "store.remove-and-go-on", "remove {cell} and continue with `howlate run` and the same --out"
)
NOT_THE_CELL = message("store.not-the-cell", "{folder} is not a cell of this run", remedy="{hint}")
THERE = message("store.there", "{path} exists already", remedy="choose another {option}")
NOT_WRITTEN = message(
    "store.not-written", "{path} could not be written: {reason}", remedy="{way_out} with {option}"
)
NOT_UTF8 = message(
    "store.not-utf8",
    "the path {path} is not UTF-8, in which files of samples are opened",
    remedy="choose a name in UTF-8, or change into the folder and name it `.`",
)
WAYS_OUT = {
    errno.ENOSPC: "make room there, or choose another place",
    errno.EDQUOT: "make room in your quota, or choose another place",
    errno.EACCES: "choose a place that you may write to",
    errno.EPERM: "choose a place that you may write to",
    errno.EROFS: "choose a place that can be written to",
}
"""The remedies by the system's error."""

OUT, OUTPUT = "--out", "-o"
"""The options that choose where a run, and where one file, is written."""
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LINKS_MAX = 40
"""As many as the kernel follows."""


def measure_again(cell: Path) -> Statement:
    """The remedy for a cell's folder that is damaged. A cell that counts as whole would be skipped as long as
    it is there."""
    return REMOVE_AND_GO_ON(cell=cell)


def not_the_cell(folder: Path) -> DamagedError:
    """The error about what was copied into a run."""
    return DamagedError(NOT_THE_CELL(folder=folder, hint=measure_again(folder)))


def unreadable(path: Path, reason: object, remedy: Statement | str = "") -> DamagedError:
    """The error about a file of a cell, or with another remedy about another of howlate's files."""
    problem = UNREADABLE(path=path, reason=reason)
    return DamagedError(REMEDIED(problem=problem, remedy=remedy or measure_again(path.parent)))


@contextmanager
def written_beside(path: Path, option: str = OUT, *, synced: bool = True) -> Iterator[Path]:
    """Give a file to write to, which replaces `path` at the end, or is removed after an error. It has a random name
    in the same folder and is reached by its descriptor, so that nobody can put a link in its place. `option`: see
    `storage_error`."""
    name = f".{path.name[:100]}.{secrets.token_hex(8)}.new"
    with storing(path, option), opened_folder(path.parent) as folder:
        _refuse_other_than_file(path, folder)
        made = os.open(name, _NEW, 0o666, dir_fd=folder)
        try:
            yield _by_descriptor(made)
            if synced:
                os.fsync(made)
            os.rename(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            if synced:
                os.fsync(folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise
        finally:
            os.close(made)


def _refuse_other_than_file(path: Path, folder: int) -> None:
    """What stands in the place of one of howlate's own files is that file or nothing."""
    with suppress(FileNotFoundError):
        mode = os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, "it is a symbolic link", str(path))
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # the system's own error names a folder
            raise OSError(errno.EEXIST, "it is not a regular file", str(path))


def _by_descriptor(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}")


@contextmanager
def written_output(path: Path, option: str = OUTPUT) -> Iterator[Path]:
    """Give a file to write to, for an output that the user named: links are followed, and a pipe, a
    device or /dev/stdout is written to at the end."""
    with storing(path, option):
        descriptor = _own_descriptor(path)
        special = descriptor is not None or (path.exists() and not path.is_file())
        if special and path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not special:
        with written_beside(Path(os.path.realpath(path)), option) as beside:
            yield beside
        return
    with storing(path, option), tempfile.TemporaryFile(prefix="howlate-output-") as made:
        yield _by_descriptor(made.fileno())
        sys.stdout.flush()
        with suppress(BrokenPipeError):  # the reader has what it wanted
            opened = (
                os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC) if descriptor is None else descriptor
            )
            with os.fdopen(opened, "wb", closefd=descriptor is None) as out:
                shutil.copyfileobj(made, out, 1 << 20)


def _own_descriptor(path: Path) -> int | None:
    """The open file that /dev/stdout, /dev/fd/3 or /proc/self/fd/3 stands for: to open it anew by this name would
    write from its beginning."""
    for _ in range(_LINKS_MAX):
        if os.path.realpath(path.parent) == os.path.realpath("/proc/self/fd") and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None


def make_folder(path: Path) -> None:
    """A folder of a run, if it is not there; a link in its place is refused."""
    with opened_folder(path.parent) as above, suppress(FileExistsError):
        os.mkdir(path.name, dir_fd=above)
    with opened_folder(path):
        pass


def remove_folder(path: Path) -> None:
    """A folder of a run with all that is in it, if it is there; nothing is removed through a link."""
    with suppress(FileNotFoundError), interrupts_held(), opened_folder(path.parent) as above:
        shutil.rmtree(path.name, dir_fd=above)  # an interrupt amid it would have it close a descriptor twice


def rename_folder(path: Path, to: Path) -> None:
    """Rename a folder of a run, and write that to the disk."""
    with opened_folder(path) as folder:
        os.fsync(folder)
    with opened_folder(path.parent) as above:
        os.rename(path.name, to.name, src_dir_fd=above, dst_dir_fd=above)
        os.fsync(above)


@contextmanager
def storing(path: Path, option: str = OUT) -> Iterator[None]:
    """Turn an OSError inside into a StorageError about `path`."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error.errno, error.strerror or str(error), option) from None


@contextmanager
def looking(path: Path) -> Iterator[None]:
    """Turn an OSError inside into a DamagedError about `path`, or about the file below it that was
    looked for: if the folder above may not be searched, it is unknown whether the file exists."""
    try:
        yield
    except OSError as error:
        below = str(error.filename).startswith(f"{path}{os.sep}")
        named = error.filename if below else path
        remedy = "make it readable for yourself, or restore it from a copy"
        raise unreadable(Path(named), error.strerror or error, remedy) from None


def storage_error(path: Path, number: int | None, text: str, option: str = OUT) -> StorageError:
    """The error about a file that could not be written. `option`: the command's option for another place."""
    way_out = WAYS_OUT.get(number or 0, "choose another place")
    return StorageError(NOT_WRITTEN(path=path, reason=text, way_out=way_out, option=option))


def check_text(path: Path) -> None:
    """UsageError for a path that DuckDB and Arrow cannot be told: one is opened by its text alone."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError(NOT_UTF8(path=path)) from None


def check_place(path: Path | None, option: str = OUT) -> None:
    """Refuse a place where no file can be written, before what is to be written there is computed."""
    if path is None:
        return
    place = Path(os.path.realpath(path))
    number = errno.EISDIR if path.is_dir() else 0
    if path.exists() and not path.is_file():
        number = number or (0 if os.access(path, os.W_OK) else errno.EACCES)
    elif not place.parent.is_dir():
        number = errno.ENOENT
    elif not os.access(place.parent, os.W_OK | os.X_OK):
        number = errno.EACCES
    if number:
        raise storage_error(path, number, os.strerror(number), option)


def sync(path: Path) -> None:
    """fsync of a file or folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: Path, text: str, option: str = OUT) -> None:
    """A whole text file of howlate's own."""
    with written_beside(path, option) as beside:
        beside.write_text(text, encoding="utf-8")


def write_output(path: Path, text: str, option: str = OUTPUT) -> None:
    """A whole text to where the user named."""
    with written_output(path, option) as place:
        place.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Mapping[str, Any], indent: int | None = 1) -> None:
    """A whole JSON file; the values must be JSON's (no NaN)."""
    write_text(path, json_text(value, indent))


@contextmanager
def remedied(remedy: Statement | str) -> Iterator[None]:
    """Give this remedy to a DamagedError inside that lacks one."""
    try:
        yield
    except DamagedError as error:
        raise (
            error if error.remedy else DamagedError(REMEDIED(problem=error.statement, remedy=remedy))
        ) from None


def read_json(path: Path, remedy: Statement | str | None = None) -> dict[str, Any]:
    """A JSON object of a cell's folder; DamagedError if the file is missing or something else."""
    with remedied(measure_again(path.parent) if remedy is None else remedy):
        return dict(parse_json(read_text(path, DamagedError), str(path)).values)
