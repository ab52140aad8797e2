"""Run folders (docs/run-folder.md): create, open, cells that are whole, cells in the making.

A crash at any moment leaves whole cells whole: a cell is made in `cells/.<id>.part/` and renamed when its
summary stands.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from howlate.errors import DamagedError, UsageError
from howlate.model.bins import CellBins
from howlate.model.decode import parse_json, read_text
from howlate.model.run import Run
from howlate.model.seal import CHECKSUM
from howlate.model.summary import SCHEMA, CellSummary
from howlate.stats.own import contradiction
from howlate.store.checksums import changed, differences, read_checksums, write_checksums
from howlate.store.elsewhere import JOB, measured_elsewhere
from howlate.store.files import (
    looking,
    measure_again,
    read_json,
    remedied,
    storing,
    sync,
    write_json,
    write_text,
)

RUN, SUMMARY, BINS, CELL, ERROR = "run.json", "summary.json", "bins.json", "cell.json", "error.json"
SAMPLES, CPUS, LOADS = "samples.parquet", "cpus.parquet", "loads.parquet"
STREAM = "stream"
CONSOLE = "console"
"""What the guest of a cell that failed wrote on its console."""
FINISHED = "finished.txt"
"""Ids of the cells that were finished, a line each, so that one whose folder is gone is known."""
KERNELS = "kernels"
"""The folder of the kernels' configurations, where a run is of the lab's."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:,=@%+-]{0,199}")


def file_name(label: str) -> str:
    """A kernel's label as the name of a file."""
    return re.sub(r"[^a-z0-9.]+", "-", label.lower()).strip("-.") or "kernel"


@dataclass(frozen=True)
class RunFolder:
    """One run's folder. All paths of its files come from here."""

    path: Path

    @classmethod
    def create(cls, path: Path, run: Run) -> RunFolder:
        """A new run folder (the folder itself may be there, empty); UsageError if something stands there
        already."""
        folder = cls(path)
        with storing(path):
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                if not (path / RUN).is_file():
                    raise UsageError(f"{path} is there already, and is no run folder", "choose another --out")
                raise UsageError(f"{path} is there already", "choose another --out, or go on with that run")
            folder.cells_path.mkdir(parents=True, exist_ok=True)
        folder.write_run(run)
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """An existing run folder; UsageError if nothing or something else stands there, DamagedError if it is not
        readable as one."""
        with looking(path):
            if not path.exists():
                raise UsageError(f"{path} is not there", "name a run folder; `howlate check` makes one")
            of_job = (path / JOB).is_file()
            if (of_job or not (path / RUN).is_file()) and (what := measured_elsewhere(path)):
                raise UsageError(
                    f"{path} is {what}, not a run folder", f"make one of it: howlate import {path}"
                )
            if not path.is_dir():
                raise UsageError(f"{path} is not a run folder", "name the folder that holds run.json")
            if not (path / RUN).is_file():
                error = DamagedError if (path / "cells").is_dir() else UsageError
                raise error(f"{path} has no {RUN}", "name the folder that holds run.json")
        folder = cls(path)
        folder.read_run()
        folder._with(SUMMARY)
        return folder

    def _with(self, file: str) -> list[str]:
        """The folders below `cells` that hold this file. A glob would leave out what cannot be read, and a run
        would look empty."""
        with looking(self.cells_path):
            return sorted(p.name for p in self.cells_path.iterdir() if (p / file).is_file())

    @property
    def cells_path(self) -> Path:
        return self.path / "cells"

    def cell_path(self, cell_id: str) -> Path:
        """Where a whole cell stands; UsageError for an id that is no name of a folder."""
        return self.cells_path / _checked(cell_id)

    def part_path(self, cell_id: str) -> Path:
        """Where a cell is made."""
        return self.cells_path / f".{_checked(cell_id)}.part"

    def read_run(self) -> Run:
        """run.json."""
        file = self.path / RUN
        with remedied("restore it from a copy, or measure again into another folder"):
            return Run.from_text(read_text(file, DamagedError), str(file))

    def run_has_checksum(self) -> bool:
        """False for a run.json that an older howlate wrote."""
        file = self.path / RUN
        return CHECKSUM in parse_json(read_text(file, DamagedError), str(file)).values

    def write_run(self, run: Run) -> None:
        """Replaces run.json, with its checksum."""
        write_text(self.path / RUN, run.to_text())

    def write_config(self, file: str, text: str) -> None:
        """A kernel's whole configuration, at the place that run.json names."""
        with storing(self.path):
            (self.path / KERNELS).mkdir(exist_ok=True)
        write_text(self.path / file, text)

    def write_console(self, file: str, text: str) -> None:
        """What a guest wrote on its console."""
        with storing(self.path):
            (self.path / file).parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path / file, text)

    def config(self, file: str) -> str:
        """The text that `write_config` wrote; DamagedError where it is not there."""
        path = self.path / KERNELS / Path(file).name
        with remedied("restore it from a copy; `howlate lab fetch` gets the kernel again"):
            return read_text(path, DamagedError)

    def start_cell(self, cell_id: str) -> Path:
        """An empty `.part` folder for this cell; what an earlier attempt left there is removed."""
        part, whole = self.part_path(cell_id), self.cell_path(cell_id)
        with storing(part):
            if whole.exists():  # nobody's measurement is removed without a word
                raise DamagedError(f"{whole} stands there without its {SUMMARY}", measure_again(whole))
            if part.exists():
                shutil.rmtree(part)
            part.mkdir(parents=True)
        return part

    def finish_cell(self, cell_id: str) -> Path:
        """Renames a `.part` folder that has its summary: from now on the cell is whole."""
        part, whole = self.part_path(cell_id), self.cell_path(cell_id)
        with storing(whole):
            if not (part / SUMMARY).is_file():
                raise DamagedError(f"cell {cell_id} has no {SUMMARY} yet", measure_again(part))
            write_checksums(part)
            sync(part)
            part.rename(whole)
            sync(self.cells_path)
        self._note_finished(cell_id)
        return whole

    def _note_finished(self, cell_id: str) -> None:
        with storing(self.path / FINISHED), (self.path / FINISHED).open("a", encoding="utf-8") as file:
            file.write(f"{cell_id}\n")

    def finished_cells(self) -> frozenset[str]:
        """Ids of all cells that were ever whole: also those whose folder or summary is gone since."""
        path = self.path / FINISHED
        with looking(path):
            noted = path.read_text(encoding="utf-8").split() if path.is_file() else []
        left = [name for name in self._with(CELL) if _ID.fullmatch(name)]
        return frozenset([*noted, *left])

    def fail_cell(self, cell_id: str, error: Mapping[str, Any]) -> None:
        """Leaves error.json beside what a failed cell has (its stream above all); it is repeated by the next
        run."""
        part = self.part_path(cell_id)
        with storing(part):
            part.mkdir(parents=True, exist_ok=True)
        write_json(part / ERROR, error)

    def is_measured(self, cell_id: str) -> bool:
        """Whether an earlier call measured this cell to its end and has not made it whole."""
        part = self.part_path(cell_id)
        with storing(part):
            if (part / ERROR).is_file():
                with suppress(DamagedError):
                    return read_json(part / ERROR).get("measured") is True
                return False
            return (part / CELL).is_file()  # written last: killed amid the statistics

    def forget_failure(self, cell_id: str) -> None:
        """Leaves of a `.part` folder what belongs to a whole cell."""
        part = self.part_path(cell_id)
        with storing(part):
            for name in (ERROR, STREAM):
                (part / name).unlink(missing_ok=True)
            for folder in (path for path in part.iterdir() if path.is_dir()):
                shutil.rmtree(folder)

    def is_whole(self, cell_id: str) -> bool:
        """A cell is whole when its summary stands in the folder of its final name."""
        with looking(self.cell_path(cell_id)):
            return (self.cell_path(cell_id) / SUMMARY).is_file()

    def whole_cells(self) -> list[str]:
        """Ids of whole cells, in the order of the plan; cells that the plan does not have come last,
        sorted."""
        found = {name for name in self._with(SUMMARY) if _ID.fullmatch(name)}
        planned = [cell.id for cell in self.read_run().plan.cells if cell.id in found]
        return planned + sorted(found - set(planned))

    def failed_cells(self) -> dict[str, dict[str, Any]]:
        """What error.json says of each cell that failed and is not whole since."""
        whole = set(self._with(SUMMARY))
        names = [n for n in self._with(ERROR) if n.startswith(".") and n.endswith(".part")]
        ids = {n: n[1 : -len(".part")] for n in names}
        return {ids[n]: read_json(self.cells_path / n / ERROR) for n in names if ids[n] not in whole}

    def summary(self, cell_id: str) -> CellSummary:
        """The summary of a whole cell. DamagedError where it, or the record that it was made of, was changed since; a
        cell whose samples were is not valid."""
        folder = self.cell_path(cell_id)
        file = folder / SUMMARY
        with remedied(measure_again(folder)):
            known = read_checksums(folder)
            for name in (SUMMARY, CELL):
                if what := changed(folder, name, known, whole=True):
                    raise DamagedError(f"{folder / name} {what}")
            summary = CellSummary.from_json(read_json(file), str(file))
            if what := contradiction(summary):
                raise DamagedError(f"{file} contradicts itself: {what}")
        return self._beside_samples(summary, changed(folder, SAMPLES, known, whole=False))

    def _beside_samples(self, summary: CellSummary, what: str) -> CellSummary:
        """The summary with what became of the samples that it is of."""
        if what in ("", "is missing") and (self.cell_path(summary.id) / SAMPLES).is_file():
            return summary
        said = f"{SAMPLES} {what or 'is missing'}: these figures can no longer be checked against it."
        return replace(
            summary, valid=summary.valid and what in ("", "is missing"), warnings=(said, *summary.warnings)
        )

    def check_samples(self, cell_id: str) -> None:
        """DamagedError where samples, or the tables of CPUs and loads, read whole, are not as they were measured."""
        folder = self.cell_path(cell_id)
        known = read_checksums(folder)
        for name in (SAMPLES, CPUS, LOADS):
            if what := changed(folder, name, known, whole=True):
                raise DamagedError(f"{folder / name} {what}", measure_again(folder))

    def differences(self, cell_id: str) -> list[str]:
        """What is not as it was in a whole cell's folder, every byte looked at."""
        folder = self.cell_path(cell_id)
        found = list(differences(folder))
        if found:
            return found
        with remedied(measure_again(folder)):
            what = contradiction(CellSummary.from_json(read_json(folder / SUMMARY), str(folder / SUMMARY)))
        return [f"{SUMMARY} contradicts itself: {what}"] if what else []

    def has_checksums(self, cell_id: str) -> bool:
        """False for a cell that an older howlate finished."""
        return bool(read_checksums(self.cell_path(cell_id)))

    def summaries(self) -> list[CellSummary]:
        """All whole cells' summaries, in the order of the plan."""
        return [self.summary(cell_id) for cell_id in self.whole_cells()]

    def bins(self, cell_id: str) -> CellBins:
        """The bins of a whole cell as they are stored; `summarise.bins_of` makes missing ones again."""
        file = self.cell_path(cell_id) / BINS
        with remedied(measure_again(file.parent)):
            if what := changed(file.parent, BINS, read_checksums(file.parent), whole=True):
                raise DamagedError(f"{file} {what}")
            return CellBins.from_json(read_json(file), str(file))

    def cell(self, cell_id: str) -> dict[str, Any]:
        """cell.json: the stream's header and trailer, and how the stream ended."""
        return read_json(self.cell_path(cell_id) / CELL)


def write_summary(folder: Path, summary: CellSummary) -> None:
    """summary.json of a cell's folder, in the form of `show --json`'s entries."""
    write_json(folder / SUMMARY, {"schema": SCHEMA, **summary.to_json()})


def _checked(cell_id: str) -> str:
    if not _ID.fullmatch(cell_id):
        raise UsageError(f'"{cell_id:.80}" is no id of a cell', "`howlate show RUN` lists the cells")
    return cell_id
