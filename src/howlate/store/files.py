"""Writes files so that a crash leaves the old one or the new one, and turns failures into sentences."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from howlate.errors import REMEDIED, DamagedError, StorageError
from howlate.model.decode import parse_json, read_text
from howlate.words.statement import Statement, rule

GO_ON = rule("store.go-on", "go on with `howlate run` and the same --out: the cell is measured again")
REMOVE_AND_GO_ON = rule(
    "store.remove-and-go-on", "remove {cell} and go on with `howlate run` and the same --out"
)
UNREADABLE = rule(
    "store.unreadable",
    "{path} cannot be read: {reason}",
    remedy="make it readable for yourself, or restore it from a copy",
)
NOT_WRITTEN = rule(
    "store.not-written", "{path} could not be written: {reason}", remedy="{way_out} with {option}"
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


def measure_again(cell: Path) -> Statement:
    """The remedy for a cell's folder that is damaged. A cell that counts as whole would be skipped as long as
    it is there."""
    return GO_ON() if cell.name.startswith(".") else REMOVE_AND_GO_ON(cell=cell)


@contextmanager
def written_beside(path: Path, option: str = OUT) -> Iterator[Path]:
    """Give a name beside `path` to write to; at the end the file is synced and renamed to `path`, or removed
    after an error. `option`: see `storage_error`."""
    beside = path.with_name(f".{path.name}.new")
    with storing(path, option):
        try:
            yield beside
            sync(beside)
            beside.rename(path)
            sync(path.parent)
        except BaseException:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise


@contextmanager
def storing(path: Path, option: str = OUT) -> Iterator[None]:
    """Turn an OSError inside into a StorageError about `path`."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error.errno, error.strerror or str(error), option) from None


@contextmanager
def looking(path: Path) -> Iterator[None]:
    """Turn an OSError inside into a DamagedError about `path`: if the folder above may not be searched, it is
    unknown whether the file exists."""
    try:
        yield
    except OSError as error:
        raise DamagedError(UNREADABLE(path=path, reason=error.strerror or error)) from None


def storage_error(path: Path, number: int | None, text: str, option: str = OUT) -> StorageError:
    """The error about a file that could not be written. `option`: the command's option for another place."""
    way_out = WAYS_OUT.get(number or 0, "choose another place")
    return StorageError(NOT_WRITTEN(path=path, reason=text, way_out=way_out, option=option))


def check_place(path: Path | None, option: str = OUT) -> None:
    """Refuse a place where no file can be written, before what is to be written there is computed."""
    if path is None:
        return
    number = errno.EISDIR if path.is_dir() else 0
    if not path.parent.is_dir():
        number = errno.ENOENT
    elif not os.access(path.parent, os.W_OK | os.X_OK):
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
    """A whole text file."""
    with written_beside(path, option) as beside:
        beside.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Mapping[str, Any], indent: int | None = 1) -> None:
    """A whole JSON file; the values must be JSON's (no NaN)."""
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent) + "\n")


@contextmanager
def remedied(remedy: Statement | str) -> Iterator[None]:
    """Give this remedy to a DamagedError inside that has none."""
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
