"""Writing files so that a crash leaves the old one or the new one, and saying in a sentence what went
wrong."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from howlate.errors import DamagedError, StorageError
from howlate.model.decode import parse_json, read_text

OUT, OUTPUT = "--out", "-o"
"""The options that choose where a run, and where one file, is written."""


def measure_again(cell: Path) -> str:
    """The remedy for a cell's folder that is damaged: one that counts as whole would be skipped where it
    stands."""
    go_on = "go on with `howlate run` and the same --out"
    return f"{go_on}: it is measured again" if cell.name.startswith(".") else f"remove {cell} and {go_on}"


@contextmanager
def written_beside(path: Path, option: str = OUT) -> Iterator[Path]:
    """Gives a name beside `path` to write to; at the end it is synced and renamed to `path`, on an error
    removed. `option`: see `storage_error`."""
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
    """Turns an OSError inside into a StorageError about `path`."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error.errno, error.strerror or str(error), option) from None


@contextmanager
def looking(path: Path) -> Iterator[None]:
    """Turns an OSError inside into a DamagedError about `path`: whether something is there is not known where
    the folder above it may not be searched."""
    try:
        yield
    except OSError as error:
        text = f"{path} cannot be read: {error.strerror or error}"
        raise DamagedError(text, "make it readable for yourself, or restore it from a copy") from None


def storage_error(path: Path, number: int | None, text: str, option: str = OUT) -> StorageError:
    """What is told of a file that could not be written. `option`: the command's, to choose another place."""
    remedy = {
        errno.ENOSPC: f"make room there, or choose another place with {option}",
        errno.EDQUOT: f"make room in your quota, or choose another place with {option}",
        errno.EACCES: f"choose a place that you may write to with {option}",
        errno.EPERM: f"choose a place that you may write to with {option}",
        errno.EROFS: f"choose a place that can be written to with {option}",
    }.get(number or 0, f"choose another place with {option}")
    return StorageError(f"{path} could not be written: {text}", remedy)


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
def remedied(remedy: str) -> Iterator[None]:
    """Gives a DamagedError inside that has no remedy this one."""
    try:
        yield
    except DamagedError as error:
        raise DamagedError(error.message, error.remedy or remedy) from None


def read_json(path: Path, remedy: str | None = None) -> dict[str, Any]:
    """A JSON object of a cell's folder; DamagedError if it is not there or not that."""
    with remedied(measure_again(path.parent) if remedy is None else remedy):
        return dict(parse_json(read_text(path, DamagedError), str(path)).values)
