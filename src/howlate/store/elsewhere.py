"""What a measurement that howlate did not make itself looks like on disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

JOB = "cells.job"
"""The file by which a job's folder is known (store/job_folder.py)."""


def is_stream(path: Path) -> bool:
    """Whether a file begins as the probe's streams of any version do."""
    from howlate.store.frames import MAGIC

    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(len(MAGIC))[:-1] == MAGIC[:-1]
    except OSError:
        return False


def job_folder(path: Path) -> Path | None:
    """The folder with the plan, where `path` is that or the results in it."""
    if not path.is_dir():
        return None
    above = [path.absolute().parent] if (path / "0" / "status").is_file() else []
    return next((p for p in (path, *above) if (p / JOB).is_file()), None)


def streams_in(path: Path) -> Iterator[Path]:
    """The streams in a folder and below it, in the order of their names, lines of jobs by their numbers."""
    for entry in sorted(path.iterdir(), key=lambda p: (int(p.name) if p.name.isdecimal() else -1, p.name)):
        if entry.is_dir() and not entry.is_symlink():
            yield from streams_in(entry)
        elif entry.is_file() and is_stream(entry):
            yield entry


def measured_elsewhere(path: Path) -> str:
    """What it is that `howlate import` makes a run of, in words; "" for anything else."""
    if path.is_file():
        return "a stream of the probe" if is_stream(path) else ""
    if (path / JOB).is_file():
        return "the folder of a job"
    lines = path.is_dir() and any(p.name.isdecimal() and (p / "status").is_file() for p in path.iterdir())
    return "the results of a job" if lines else ""
