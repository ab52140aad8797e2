"""Many runs at once: which there are below a folder, and what is known of each (docs/query.md, "How it stays quick").

Of a run only the small files are read: run.json, and of each cell summary.json, checksums.json and the end of
samples.parquet. What was read is kept in an index next to the runs, `.howlate-index`. An entry counts only while each
of these files has the size, times and inode that it had before it was read. The index can be removed at any time; a
folder that cannot be written to lacks it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import HowlateError, StorageError, UsageError
from howlate.history.known_runs import KnownCell, KnownRun
from howlate.statistics.valid import FILE_MISSING, UNCHECKED
from howlate.store.checksums import CHECKSUMS, changed
from howlate.store.files import looking, not_the_cell, written_beside
from howlate.store.run_folder import FINISHED, RUN, SAMPLES, SUMMARY, CellFiles, RunFolder
from howlate.system.opening import TEXT_BYTES_MAX, open_file
from howlate.system.version import __version__
from howlate.words.statement import Statement, message

NO_RUNS = message(
    "store.no-runs",
    "there is no run in {places:all}",
    remedy="name run folders, or a folder that holds some; `howlate check` makes a run",
)
FOUND_GONE = message("store.found-gone", "it was measured, and is gone", remedy="restore it from a copy")
SAMPLES_ALTERED = message("store.samples-altered", "its samples.parquet is gone, or not what was measured")
INDEX = ".howlate-index"
SETTLED_NS = 2_000_000_000
"""A file that was changed so recently could be changed again without another time: it is not kept in the index."""
_FORM = f"2 howlate {__version__}"
"""The index of another howlate is made anew."""
_DIGEST_BYTES = 16


class LeftOut(Struct, frozen=True):
    """A run, or one of its cells, that could not be read."""

    place: Path
    reason: Statement


class Catalogue(Struct, frozen=True):
    """All runs that could be read, the oldest first, and what was left out."""

    runs: tuple[KnownRun, ...]
    left_out: tuple[LeftOut, ...] = ()


class _IndexedRun(msgspec.Struct, frozen=True):
    stamp: bytes
    run: KnownRun


class _RunIndex(msgspec.Struct, frozen=True):
    """The file. Entries are called by the names of their folders, so that the index moves with them."""

    form: str
    entries: dict[str, _IndexedRun]


class _RunFiles(Struct, frozen=True):
    """A run's files as they stood before any of them was read."""

    stamp: bytes
    cells: tuple[str, ...]
    newest_ns: int


class _RunsRead(Struct):
    runs: list[KnownRun] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def read(self, folders: Sequence[Path], known: Mapping[str, _IndexedRun]) -> dict[str, _IndexedRun]:
        """Each run, from the index where its files are as they were; returns what the next index holds."""
        kept = {}
        for folder in folders:
            already = len(self.left_out)
            try:
                look = _look(folder)
                entry = known.get(folder.name)
                if entry is None or entry.stamp != look.stamp:
                    entry = _IndexedRun(look.stamp, self._read_run(folder, look.cells))
            except HowlateError as problem:
                self.left_out.append(LeftOut(folder, problem.statement))
                continue
            is_settled = time.time_ns() - look.newest_ns > SETTLED_NS
            if is_settled and len(self.left_out) == already:
                kept[folder.name] = entry
            self.runs.append(replace(entry.run, folder=str(folder)))
        return kept

    def _read_run(self, path: Path, names: Sequence[str]) -> KnownRun:
        """A run and those of its cells that can be read, in the order of its plan."""
        folder = RunFolder(path)
        run = folder.read_run()
        order = {cell.id: place for place, cell in enumerate(run.plan.cells)}
        cells = []
        for name in sorted(names, key=lambda name: (order.get(name, len(order)), name)):
            try:
                if name not in order:
                    raise not_the_cell(folder.cells_path / name)
                cells.append(_cell(folder.files(name, run)))
            except HowlateError as problem:
                self.left_out.append(LeftOut(folder.cells_path / name, problem.statement))
        finished = folder.finished_cells()
        for gone in sorted(finished - set(names)):
            self.left_out.append(LeftOut(folder.cells_path / gone, FOUND_GONE()))
        return KnownRun.of(path.name, run, tuple(cells), run.plan.unmeasured({*finished, *names}))


def read_catalogue(places: Sequence[Path], *, index: bool = True) -> Catalogue:
    """The runs that these folders are or hold; UsageError where there is none, or no such folder. `index`: what an
    earlier call read may be taken from the index."""
    reading = _RunsRead()
    if nowhere := [place for place in places if not os.path.lexists(place)]:
        raise UsageError(NO_RUNS(places=tuple(nowhere)))
    for place in places:
        folders = folders_of(place)
        indexed = index and folders != [place]
        known = _read_index(place / INDEX) if indexed else {}
        kept = reading.read(folders, known)
        if indexed and kept != known:
            _write_index(place / INDEX, kept)
    if not reading.runs and not reading.left_out:
        raise UsageError(NO_RUNS(places=tuple(places)))
    once = {os.path.realpath(run.folder): run for run in reading.runs}
    runs = sorted(once.values(), key=lambda run: (run.started, run.id))
    return Catalogue(tuple(runs), tuple(reading.left_out))


def folders_of(place: Path) -> list[Path]:
    """The run folder that this is, or all that stand directly in it; also one whose run.json is gone or not a file,
    so that it is named."""
    with looking(place):
        if _is_run(str(place)):
            return [place]
        found = sorted(entry.path for entry in os.scandir(place)) if place.is_dir() else []
        return [Path(path) for path in found if _is_run(path)]


def _is_run(path: str) -> bool:
    return os.path.lexists(f"{path}/{RUN}") or os.path.lexists(f"{path}/{FINISHED}")


def _cell(files: CellFiles) -> KnownCell:
    """A cell that has checksums is not compared with itself again, and its samples are known by
    their size and their end."""
    if SAMPLES not in files.known or SUMMARY not in files.known:
        summary = files.summary()
        return KnownCell.of(
            summary, samples=not any(warning.rule == UNCHECKED.id for warning in summary.warnings)
        )
    summary = files.stored_summary()
    change = changed(files.folder, SAMPLES, files.known, whole=False)
    altered = change not in (None, FILE_MISSING(file=SAMPLES))
    return KnownCell.of(
        replace(summary, valid=summary.valid and not altered), samples=change is None, altered=altered
    )


def _look(folder: Path) -> _RunFiles:
    """What the entry of a run is made of, without opening it. howlate replaces files by renaming, so that a new one
    has another inode."""
    cells = {}
    with looking(folder):
        files = [_status(f"{folder}/{file}") for file in (RUN, FINISHED)]
    with looking(folder / "cells"):
        for name in sorted(entry.name for entry in os.scandir(folder / "cells")):
            statuses = [_status(f"{folder}/cells/{name}/{file}") for file in (SUMMARY, CHECKSUMS, SAMPLES)]
            if not name.startswith(".") and statuses[0] != NOT_THERE:
                cells[name] = statuses
                files += statuses
    return _RunFiles(
        _digest(repr((files, list(cells))).encode()), tuple(cells), max(max(times) for _, _, *times in files)
    )


Status = tuple[int, int, int, int]
NOT_THERE: Status = (-1, 0, 0, 0)


def _status(path: str) -> Status:
    """Size, inode, and the times of its content and of its entry."""
    try:
        found = os.stat(path)  # noqa: PTH116 - of a thousand
    except (FileNotFoundError, NotADirectoryError):
        return NOT_THERE
    return (found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _read_index(path: Path) -> dict[str, _IndexedRun]:
    """Nothing where there is none that this howlate wrote for this user."""
    try:
        with open_file(path) as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or status.st_size > TEXT_BYTES_MAX:
                return {}
            stored = file.read(TEXT_BYTES_MAX)
        index = msgspec.msgpack.decode(stored[_DIGEST_BYTES:], type=_RunIndex)
    except (OSError, msgspec.DecodeError):
        return {}
    whole = index.form == _FORM and stored[:_DIGEST_BYTES] == _digest(stored[_DIGEST_BYTES:])
    return index.entries if whole else {}


def _write_index(path: Path, entries: Mapping[str, _IndexedRun]) -> None:
    """Not synced: what a crash leaves is read as nothing, and made anew."""
    with suppress(StorageError), written_beside(path, synced=False) as beside:
        content = msgspec.msgpack.encode(_RunIndex(_FORM, dict(entries)))
        beside.write_bytes(_digest(content) + content)
