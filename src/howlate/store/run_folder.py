"""Run folders (docs/run-folder.md): create, open, whole cells, cells in the making.

A crash at any moment leaves whole cells whole: a cell is made in `cells/.<id>.part/` and renamed when its
summary is written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from howlate.errors import DamagedError, UsageError
from howlate.model.decode import NO_FILE, Table, decoded, parse_json, read_text
from howlate.model.run import Run
from howlate.model.seal import CHECKSUM
from howlate.store.checksums import (
    CHECKSUMS,
    Checksum,
    changed,
    differences,
    read_checksums,
    run_of,
    write_checksums,
)
from howlate.store.elsewhere import JOB, measured_elsewhere
from howlate.store.files import (
    THERE,
    check_text,
    looking,
    make_folder,
    measure_again,
    not_the_cell,
    read_json,
    remedied,
    remove_folder,
    rename_folder,
    storing,
    write_json,
    write_text,
)
from howlate.store.lock import LOCK
from howlate.system.opening import is_in_run
from howlate.words.say import english
from howlate.words.statement import Statement, message

if TYPE_CHECKING:  # what reads results is imported where it is called: the first cell need not wait for it
    from howlate.model.bins import CellBins
    from howlate.model.summary import CellSummary

RUNS_OWN = message(
    "store.runs-own",
    "{path} is a file of the run in {run}, and would be lost",
    remedy="choose another place with {option}",
)
MEASURED_ELSEWHERE = message(
    "store.measured-elsewhere",
    "{path} is {content}, not a run folder",
    remedy="make a run of it: howlate import {path:shell}",
)
NO_SUMMARY = message("store.no-summary", "{cell} has no summary.json", remedy="{hint}")
CONTRADICTS = message("store.contradicts", "{path} contradicts itself: {contradiction}")
NO_CELL_ID = message(
    "store.no-cell-id",
    '"{cell}" is not the id of a cell',
    remedy="`howlate show --cells RUN` lists the cells",
)
NO_RUN_JSON = message(
    "store.no-run-json", "{path} has no run.json", remedy="name the folder that holds run.json"
)

RUN, SUMMARY, BINS, CELL, ERROR = "run.json", "summary.json", "bins.json", "cell.json", "error.json"
SAMPLES, CPUS, LOADS, COUNTERS = "samples.parquet", "cpus.parquet", "loads.parquet", "counters.parquet"
MEASURED = (SAMPLES, CPUS, LOADS, COUNTERS)
"""What the statistics of a cell are made from."""
TRACE_CASES, TRACE_EVENTS = "trace_cases.parquet", "trace_events.parquet"
INJECTIONS = "injections.parquet"
STREAM = "stream"
CONSOLE = "console"
"""What the guest of a failed cell wrote to its console."""
FINISHED = "finished.txt"
"""Ids of the finished cells, one a line, so that a missing folder is noticed."""
KERNELS = "kernels"
"""The folder of the kernels' configurations, for runs in the lab."""
OWN = (RUN, FINISHED, LOCK, "cells", KERNELS)
"""What howlate itself keeps in a run folder, apart from pages and pictures."""
RESTORE = "restore it from a copy, or measure again into another folder"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:,=@%+-]{0,199}")


def spare(out: Path, option: str) -> None:
    """UsageError where an output, chosen with this option, would be one of howlate's own files in a run folder."""
    with storing(out, option):
        real = Path(os.path.realpath(out))
        for run in real.parents:
            if real.relative_to(run).parts[0] in OWN and (run / RUN).is_file() and (run / "cells").is_dir():
                raise UsageError(RUNS_OWN(path=out, run=run, option=option))


def file_name(label: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.") or "kernel"


class RunFolder(Struct, frozen=True, dict=True):
    """One run's folder. All paths of its files come from here."""

    path: Path

    def __post_init__(self) -> None:
        check_text(self.path)
        if is_in_run(self.path / RUN):  # by its name: links up to here were named by the user
            force_setattr(self, "path", Path(os.path.realpath(self.path)))

    @classmethod
    def create(cls, path: Path, run: Run) -> RunFolder:
        """A new run folder (the folder itself may exist if nothing was written there); UsageError if something is
        already there."""
        folder = cls(path)
        with storing(path):
            if path.exists() and not folder.is_unwritten():
                raise UsageError(THERE(path=path, option="--out"))
            path.mkdir(parents=True, exist_ok=True)
            make_folder(folder.cells_path)
        folder.write_run(run)
        return folder

    def is_unwritten(self) -> bool:
        """Whether it is empty but for the lock, and for what a full disk or a kill leaves of `create`: a folder for
        cells without any, and a run.json that has not got its name yet."""
        if not self.path.is_dir():
            return False
        return all(
            entry.name == LOCK
            or entry.name.startswith(f".{RUN}.")
            or (entry == self.cells_path and entry.is_dir() and not any(entry.iterdir()))
            for entry in self.path.iterdir()
        )

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """An existing run folder whose run.json can be read; otherwise DamagedError."""
        folder = cls.at(path)
        folder.read_run()
        return folder

    @classmethod
    def at(cls, path: Path) -> RunFolder:
        """An existing run folder, run.json unread. UsageError if nothing or something else is there,
        DamagedError if files cannot be found in it."""
        with looking(path):
            if not path.exists():
                raise UsageError(NO_FILE(path=path))
            of_job = (path / JOB).is_file()
            if (of_job or not (path / RUN).is_file()) and (what := measured_elsewhere(path)):
                raise UsageError(MEASURED_ELSEWHERE(path=path, content=what))
            if not os.path.lexists(path / RUN):
                error = DamagedError if (path / "cells").is_dir() else UsageError
                raise error(NO_RUN_JSON(path=path))
        folder = cls(path)
        folder._with(SUMMARY)
        return folder

    def _with(self, file: str) -> list[str]:
        """The folders below `cells` that contain this file. A glob would silently skip unreadable folders,
        and a run would look empty."""
        with looking(self.cells_path):
            return sorted(p.name for p in self.cells_path.iterdir() if (p / file).is_file())

    @property
    def cells_path(self) -> Path:
        return self.path / "cells"

    def cell_path(self, cell_id: str) -> Path:
        """The path of a whole cell; UsageError for an id that cannot name a folder."""
        return self.cells_path / _checked(cell_id)

    def part_path(self, cell_id: str) -> Path:
        """The path where a cell is made."""
        return self.cells_path / f".{_checked(cell_id)}.part"

    def read_run(self) -> Run:
        file = self.path / RUN
        with remedied(RESTORE):
            return Run.from_text(read_text(file, DamagedError), str(file))

    def run_has_checksum(self) -> bool:
        """False for a run.json that an older howlate wrote."""
        file = self.path / RUN
        return CHECKSUM in parse_json(read_text(file, DamagedError), str(file)).values

    def write_run(self, run: Run) -> None:
        """Replace run.json, with its checksum."""
        write_text(self.path / RUN, run.to_text())

    def write_config(self, file: str, text: str) -> None:
        """Write a kernel's whole configuration to the file that run.json names."""
        with storing(self.path):
            make_folder(self.path / KERNELS)
        write_text(self.path / file, text)

    def write_console(self, file: str, text: str) -> None:
        with storing(self.path):
            make_folder((self.path / file).parent)
        write_text(self.path / file, text)

    def config(self, file: str) -> str:
        """The text that `write_config` wrote; DamagedError if it is missing."""
        path = self.path / KERNELS / Path(file).name
        with remedied("restore it from a copy; `howlate lab fetch` gets the kernel again"):
            return read_text(path, DamagedError)

    def start_cell(self, cell_id: str) -> Path:
        """An empty `.part` folder for this cell; the remains of an earlier attempt are removed."""
        part, whole = self.part_path(cell_id), self.cell_path(cell_id)
        with storing(part):
            if whole.exists():  # a measurement is never removed silently
                raise DamagedError(NO_SUMMARY(cell=whole, hint=measure_again(whole)))
            make_folder(self.cells_path)
            remove_folder(part)
            make_folder(part)
        return part

    def finish_cell(self, cell_id: str) -> Path:
        """Rename a `.part` folder that has its summary: from now on the cell is whole."""
        part, whole = self.part_path(cell_id), self.cell_path(cell_id)
        with storing(whole):
            if not (part / SUMMARY).is_file():
                raise DamagedError(NO_SUMMARY(cell=part, hint=measure_again(part)))
            write_checksums(part, self._token)
            rename_folder(part, whole)
        write_text(self.path / FINISHED, "".join(f"{line}\n" for line in [*self._noted(), cell_id]))
        return whole

    def _noted(self) -> list[str]:
        path = self.path / FINISHED
        with looking(path):
            there = os.path.lexists(path)
        with remedied(RESTORE):
            return read_text(path, DamagedError).split() if there else []

    def finished_cells(self) -> frozenset[str]:
        """Ids of all cells that were ever whole, including those whose folder or summary is missing now."""
        left = [name for name in self._with(CELL) if _ID.fullmatch(name)]
        return frozenset([*self._noted(), *left])

    def fail_cell(self, cell_id: str, error: Mapping[str, Any]) -> None:
        """Write error.json to the remains of a failed cell (above all its stream); the next run repeats
        the cell."""
        part = self.part_path(cell_id)
        with storing(part):
            make_folder(self.cells_path)
            make_folder(part)
        write_json(part / ERROR, error)

    def is_measured(self, cell_id: str) -> bool:
        """Whether an earlier call measured this cell to its end and has not made it whole."""
        part = self.part_path(cell_id)
        with storing(part):
            if (part / ERROR).is_file():
                with suppress(DamagedError):
                    return read_json(part / ERROR).get("measured") is True
                return False
            return (part / CELL).is_file()  # written last: the process was killed during the statistics

    def forget_failure(self, cell_id: str) -> None:
        """Keep in a `.part` folder only what belongs to a whole cell."""
        part = self.part_path(cell_id)
        with storing(part):
            for name in (ERROR, STREAM):
                (part / name).unlink(missing_ok=True)
            for folder in (path for path in part.iterdir() if path.is_dir()):
                remove_folder(folder)

    def is_whole(self, cell_id: str) -> bool:
        """A cell is whole if its summary is in the folder of its final name."""
        with looking(self.cell_path(cell_id)):
            return (self.cell_path(cell_id) / SUMMARY).is_file()

    def whole_cells(self, run: Run | None = None) -> list[str]:
        """Ids of whole cells, in the order of the plan. DamagedError for one that the plan does not have.
        `run`: run.json, if it was read already."""
        found = {name for name in self._with(SUMMARY) if not name.startswith(".")}
        plan = (self.read_run() if run is None else run).plan
        planned = [cell.id for cell in plan.cells if cell.id in found]
        for name in sorted(found - set(planned)):
            raise not_the_cell(self.cells_path / name)
        return planned

    def failed_cells(self) -> dict[str, dict[str, Any]]:
        """The error.json of each failed cell that has not become whole since."""
        whole = set(self._with(SUMMARY))
        names = [n for n in self._with(ERROR) if n.startswith(".") and n.endswith(".part")]
        ids = {n: n[1 : -len(".part")] for n in names}
        return {ids[n]: read_json(self.cells_path / n / ERROR) for n in names if ids[n] not in whole}

    def files(self, cell_id: str, run: Run | None = None) -> CellFiles:
        """The files of a whole cell; DamagedError for one of another run. `run`: run.json, if it was read already."""
        folder = self.cell_path(cell_id)
        return CellFiles(folder, read_checksums(folder, self._token if run is None else run.token))

    @cached_property
    def _token(self) -> str:
        """The run's, which never changes: read once."""
        return self.read_run().token

    def summary(self, cell_id: str, run: Run | None = None) -> CellSummary:
        """The summary of a whole cell. DamagedError if it, or the record behind it, was changed since; a cell
        with changed samples is not valid."""
        files = self.files(cell_id, run)
        files.must_be_unchanged(CELL)
        return files.summary()

    def check_samples(self, cell_id: str) -> None:
        """DamagedError if samples, or the tables of the machine, read whole, differ from what was
        measured, or are another cell's."""
        files = self.files(cell_id)
        files.stored_summary()
        files.must_be_unchanged(*MEASURED)

    def differences(self, cell_id: str) -> list[str]:
        """The differences in a whole cell's folder; every byte is compared."""
        from howlate.model.summary import CellSummary
        from howlate.statistics.summary_contradictions import contradiction

        folder = self.files(cell_id).folder
        changes = [english(change) for change in differences(folder)]
        if self.has_checksums(cell_id) and run_of(folder) != self._token:
            changes.append(f"{CHECKSUMS} does not say that the cell is of this run")
        if changes:
            return changes
        with remedied(measure_again(folder)):
            what = contradiction(CellSummary.from_json(read_json(folder / SUMMARY), str(folder / SUMMARY)))
        return [f"{SUMMARY} contradicts itself: {what}"] if what else []

    def has_checksums(self, cell_id: str) -> bool:
        """False for a cell that an older howlate finished."""
        return bool(read_checksums(self.cell_path(cell_id)))

    def summaries(self) -> list[CellSummary]:
        run = self.read_run()
        return [self.summary(cell_id, run) for cell_id in self.whole_cells(run)]

    def cell(self, cell_id: str) -> dict[str, Any]:
        """cell.json: the stream's header and trailer, and how the stream ended."""
        file = self.cell_path(cell_id) / CELL
        value = read_json(file)
        _check_record(value, file)
        return value


class CellFiles(Struct, frozen=True):
    """The files of a whole cell, compared with their checksums as they are read."""

    folder: Path
    known: Mapping[str, Checksum]
    """checksums.json; empty if an older howlate finished the cell."""

    def _read(self, name: str) -> Table:
        with remedied(measure_again(self.folder)):
            text = read_text(self.folder / name, DamagedError)
            self._must_be_unchanged(name, text)
            return parse_json(text, str(self.folder / name))

    def must_be_unchanged(self, *names: str) -> None:
        """DamagedError if one of these files, read whole, has changed."""
        with remedied(measure_again(self.folder)):
            for name in names:
                self._must_be_unchanged(name)

    def _must_be_unchanged(self, name: str, text: str | None = None) -> None:
        path = self.folder / name
        if change := changed(self.folder, name, self.known, whole=True, text=text, called=path):
            raise DamagedError(change)

    def record(self) -> dict[str, Any]:
        value = self._read(CELL).values
        with remedied(measure_again(self.folder)):
            _check_record(value, self.folder / CELL)
        return dict(value)

    def summary(self) -> CellSummary:
        """summary.json; not valid if the samples were changed since."""
        from howlate.statistics.summary_contradictions import contradiction

        summary = self.stored_summary()
        with remedied(measure_again(self.folder)):
            if what := contradiction(summary):
                raise DamagedError(CONTRADICTS(path=self.folder / SUMMARY, contradiction=what))
        return self.beside_samples(summary, changed(self.folder, SAMPLES, self.known, whole=False))

    def stored_summary(self) -> CellSummary:
        """summary.json as it was when the cell was finished, without a look at its figures and at the samples.
        DamagedError if it is another cell's."""
        from howlate.model.summary import CellSummary

        table = self._read(SUMMARY)
        with remedied(measure_again(self.folder)):
            summary = CellSummary.from_json(table.values, str(self.folder / SUMMARY))
        if summary.id != self.folder.name:
            raise not_the_cell(self.folder)
        return summary

    def beside_samples(self, summary: CellSummary, change: Statement | None) -> CellSummary:
        """The summary, with the state of the samples behind it. Samples that are missing contradict nothing."""
        from howlate.statistics.valid import FILE_MISSING, UNCHECKED

        if change is None and (self.folder / SAMPLES).is_file():
            return summary
        missing = FILE_MISSING(file=SAMPLES)
        unchecked = UNCHECKED(change=change or missing)
        valid = summary.valid and change in (None, missing)
        return replace(
            summary,
            valid=valid,
            warnings=(unchecked, *summary.warnings),
            failed_checks=None if valid else 1 + len(summary.failed),
        )

    def bins(self) -> CellBins:
        """bins.json as stored; `summarise.bins_of` makes a missing one again."""
        from howlate.model.bins import CellBins

        table = self._read(BINS)
        with remedied(measure_again(self.folder)):
            return CellBins.from_json(table.values, str(self.folder / BINS))


def write_summary(folder: Path, summary: CellSummary) -> None:
    """Write summary.json of a cell's folder, in the form of the entries of `show --json`."""
    from howlate.model.summary import SCHEMA

    write_json(folder / SUMMARY, {"schema": SCHEMA, **summary.to_json()})


def _check_record(value: Mapping[str, Any], file: Path) -> None:
    from howlate.store.recorded import RecordTypes

    decoded(RecordTypes, value, str(file))


def _checked(cell_id: str) -> str:
    if not _ID.fullmatch(cell_id):
        raise UsageError(NO_CELL_ID(cell=cell_id[:80]))
    return cell_id
