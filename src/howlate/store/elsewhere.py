"""Recognises on disk measurements that were made elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from howlate.errors import UsageError
from howlate.model.decode import UNREADABLE
from howlate.system.opening import open_file
from howlate.words.printable import printable
from howlate.words.statement import message

TOO_MANY_FILES = message(
    "store.too-many-files",
    "{folder} and its neighbours hold more than {most:count} files",
    remedy="name the files, or the folder that holds only these",
)

JOB = "cells.job"
"""The file that identifies a job's folder (store/job_folder.py)."""
MOST_ENTRIES = 10_000
"""A folder with more files than this is not a folder of measurements."""
_OF_LINES = frozenset({"facts.json", "status", "stdout", "stderr", "kernel.log"})
"""Files that may be among streams."""
_NAMED = 3
_ARCHIVES = (
    (0, b"\x1f\x8b"),
    (0, b"BZh"),
    (0, b"\xfd7zXZ\0"),
    (0, b"\x28\xb5\x2f\xfd"),
    (0, b"PK\3\4"),
    (0, b"7z\xbc\xaf\x27\x1c"),
    (257, b"ustar"),
)
"""The positions and bytes that identify an archive or a compressed file."""


class Streams(Struct, frozen=True):
    files: tuple[Path, ...]
    ignored: tuple[str, ...]
    """What was ignored in it, a sentence each."""


def is_stream(path: Path) -> bool:
    """Whether a file begins like the probe's streams of any version."""
    from howlate.store.frames import MAGIC

    return _head(path, len(MAGIC))[:-1] == MAGIC[:-1]


def is_archive(path: Path) -> bool:
    """Whether a file is an archive, or compressed."""
    head = _head(path, 512)
    return any(head[at : at + len(magic)] == magic for at, magic in _ARCHIVES)


def _head(path: Path, size: int) -> bytes:
    """The first bytes of a regular file; a pipe is not opened, since it may have no writer."""
    try:
        if (
            not path.is_file() or not path.stat().st_size
        ):  # files of /proc have size 0, and reading some of them blocks
            return b""
        with open_file(path, links=True) as file:
            return file.read(size)
    except OSError:
        return b""


def listed(folder: Path) -> list[Path]:
    """The content of a folder, by name, with numbers in numerical order. UsageError if it is too large for a
    folder of measurements, or cannot be read."""
    try:
        entries = list(itertools.islice(folder.iterdir(), MOST_ENTRIES + 1))
    except OSError as problem:
        raise UsageError(UNREADABLE(path=folder, reason=problem.strerror)) from None
    if len(entries) > MOST_ENTRIES:
        raise UsageError(TOO_MANY_FILES(folder=folder, most=MOST_ENTRIES))
    return sorted(entries, key=lambda p: (int(p.name) if p.name.isdecimal() else -1, p.name))


def job_folder(path: Path) -> Path | None:
    """The folder with the plan, if `path` is that folder or the results in it."""
    if not path.is_dir():
        return None
    above = [path.absolute().parent] if (path / "0" / "status").is_file() else []
    return next((p for p in (path, *above) if (p / JOB).is_file()), None)


def streams_in(path: Path) -> Streams:
    """The streams in a folder, and those below it that a job left: in the folders of its lines, or of its
    results. Other folders are ignored, and symbolic links are not followed, since they may lead out of the
    folder."""
    files: list[Path] = []
    left: dict[str, list[Path]] = {}
    _look(path, files, left, lines=True, results=True)
    return Streams(tuple(files), tuple(_said(what, paths) for what, paths in left.items()))


def _look(
    folder: Path,
    files: list[Path],
    left: dict[str, list[Path]],
    *,
    lines: bool = False,
    results: bool = False,
) -> None:
    """`lines`, `results`: whether to search the folders of a job's lines, or of its results."""
    for entry in listed(folder):
        if len(files) > MOST_ENTRIES:
            raise UsageError(TOO_MANY_FILES(folder=folder, most=MOST_ENTRIES))
        if entry.is_symlink():
            left.setdefault(LINK, []).append(entry)
        elif entry.is_dir():
            if lines and _is_line(entry):
                _look(entry, files, left)
            elif results and _holds_lines(entry):
                _look(entry, files, left, lines=True)
            else:
                left.setdefault(FOLDER, []).append(entry)
        elif is_stream(entry):
            files.append(entry)
        elif entry.name not in _OF_LINES:
            left.setdefault(FILE, []).append(entry)


LINK, FOLDER, FILE = "link", "folder", "file"
_ONE = {
    LINK: "{names} is a symbolic link, which is not followed",
    FOLDER: "{names} is not looked into: it is no folder of a job's results",
    FILE: "{names} is not a stream of the probe and is left out",
}
_MANY = {
    LINK: "{count} symbolic links are not followed: {names}",
    FOLDER: "{count} folders are not looked into, for they hold no results of a job: {names}",
    FILE: "{count} files are not streams of the probe and are left out: {names}",
}


def _said(what: str, paths: Sequence[Path]) -> str:
    names = ", ".join(printable(str(path)) for path in paths[:_NAMED]) + (
        " and others" if len(paths) > _NAMED else ""
    )
    return (_ONE if len(paths) == 1 else _MANY)[what].format(names=names, count=len(paths))


def _holds_lines(folder: Path) -> bool:
    """Whether a folder has the layout of `howlate-probe job`: a folder for each line. False if it cannot be
    read."""
    try:
        return any(_is_line(path) for path in folder.iterdir())
    except OSError:
        return False


def _is_line(folder: Path) -> bool:
    """Whether a folder is that of a job's line; its status is missing if the power failed during its
    measurement."""
    try:
        return folder.name.isdecimal() and (folder / "stdout").is_file()
    except OSError:
        return False


def results_alone(path: Path) -> bool:
    """Whether a folder is the results of a job, copied without the job."""
    return path.is_dir() and job_folder(path) is None and _holds_lines(path)


def measured_elsewhere(path: Path) -> str:
    """What `howlate import` would turn into a run, in words; "" for anything else."""
    if path.is_file():
        return "a stream of the probe" if is_stream(path) else ""
    if (path / JOB).is_file():
        return "the folder of a job"
    lines = path.is_dir() and any(p.name.isdecimal() and (p / "status").is_file() for p in path.iterdir())
    return "the results of a job" if lines else ""
