"""A plan as a folder that is carried to a machine, measured there by the probe alone, and brought back.

run.json          the run as it is planned, and as `job` which line measures which cell
cells.job         the lines (docs/job.md): the machine's facts first, then a cell each
howlate-probe     the machine's probe, where it is built
README.txt        what to do with it
results/N/        what line N left: stream, stdout, stderr, status
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from howlate.errors import DamagedError, UsageError
from howlate.model.decode import parse_json, read_text
from howlate.model.facts import unpacked
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.model.seal import sealed
from howlate.store.elsewhere import JOB, listed
from howlate.store.files import THERE, looking, remedied, storing, write_text
from howlate.store.job_text import job_text
from howlate.store.run_folder import RUN, STREAM
from howlate.system.opening import NotRegularError, open_file
from howlate.words.statement import message

REMEDY = "copy it from the machine again, or write the job anew (howlate run --emit-job)"
JOB_WITHOUT_CELL = message(
    "store.job-without-cell", "{file} has no cell {cell}, which its job measures", remedy=REMEDY
)

PROBE, README, RESULTS = "howlate-probe", "README.txt", "results"
_FILES = ("status", "stdout", "stderr", STREAM)
_MOST_BYTES = 16 << 20
"""Output of a line beyond this size is not read."""


class StoredLine(Struct, frozen=True):
    """What a line of a job left."""

    status: str
    """The exit code, "signal 9", "not run"; "" if the job did not reach the line."""
    stream: Path
    output: bytes
    errors: bytes
    linked: Path | None = None
    """A symbolic link in its folder, which may lead out of the folder: such a line is rejected."""


class JobFolder(Struct, frozen=True):
    path: Path
    run: Run
    cells: tuple[str, ...]
    """What each line measures: a cell's id, or "" for the line that asks for the machine's facts."""
    defaults: Mapping[str, str]
    """The probe's defaults for the options of the first part's test that the plan does not set."""
    defaults_by_test: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The same for every test of the plan; in a job that an older howlate wrote, only for the first part's.
    """

    @classmethod
    def write(
        cls,
        path: Path,
        run: Run,
        lines: Sequence[tuple[Cell, Sequence[str]]],
        defaults: Mapping[str, str],
        probe: Path | None,
        readme: str,
        defaults_by_test: Mapping[str, Mapping[str, str]],
    ) -> JobFolder:
        """Make a new folder; UsageError if something is already there. `lines`: each cell, and its command
        line."""
        with storing(path, "--emit-job"):
            if path.exists() and (not path.is_dir() or any(path.iterdir())):
                raise UsageError(THERE(path=path, option="--emit-job"))
            path.mkdir(parents=True, exist_ok=True)
        cells = ("", *(cell.id for cell, _ in lines))
        if probe is not None:
            with storing(path / PROBE, "--emit-job"):
                shutil.copyfile(probe, path / PROBE)
                (path / PROBE).chmod(0o755)
        text = job_text([[PROBE, "facts", "--json"], *(argv for _, argv in lines)]).decode()
        write_text(path / JOB, text, "--emit-job")
        write_text(path / README, readme, "--emit-job")
        by_test = {test: dict(its) for test, its in defaults_by_test.items()}
        job = {"cells": list(cells), "defaults": dict(defaults), "defaults_by_test": by_test}
        value = {**run.to_json(), "job": job}
        text = json.dumps(sealed(value), indent=1, ensure_ascii=False)
        write_text(path / RUN, text + "\n", "--emit-job")
        return cls(path, run, cells, defaults, defaults_by_test)

    @classmethod
    def open(cls, path: Path) -> JobFolder:
        """Open the folder that `write` made; DamagedError if it no longer is one."""
        file = path / RUN
        table = parse_json(_text(file), str(file))
        job = table.table("job", required=True)
        cells = tuple(str(cell) for cell in job.items("cells", required=True))
        with remedied(REMEDY):
            run = Run.from_table(table)
        if unknown := set(cells) - {"", *(cell.id for cell in run.plan.cells)}:
            raise DamagedError(JOB_WITHOUT_CELL(file=file, cell=sorted(unknown)[0][:80]))
        defaults = _texts(job.mapping("defaults"))
        by_test = {
            test: _texts(job.table("defaults_by_test").mapping(test))
            for test in job.mapping("defaults_by_test")
        }
        return cls(path, run, cells, defaults, by_test or {run.study.pieces()[0].test: defaults})

    @staticmethod
    def is_planned(path: Path) -> bool:
        """Whether a folder contains the plan of a job, whatever else is in it."""
        try:
            return "job" in parse_json(_text(path / RUN), str(path)).values
        except DamagedError:
            return False

    def attempts(self) -> tuple[Path, ...]:
        """The folders of results, the newest last: a job that ended early is run again with another --out."""
        found = [p for p in self._folders() if not p.is_symlink() and (p / "0" / "status").is_file()]
        with looking(self.path):
            return tuple(sorted(found, key=lambda p: ((p / "0" / "status").stat().st_mtime_ns, p.name)))

    def ignored(self) -> tuple[str, ...]:
        """Folders that look like results and are ignored, a sentence each."""
        attempts, notes = self.attempts(), []
        for path in self._folders():
            if path.is_symlink():
                notes.append(f"{path} is a symbolic link, which is not followed")
            elif path not in attempts:
                notes.append(f"{path} holds no results of the job")
        for attempt in attempts:
            with looking(attempt):
                lines = [int(path.name) for path in attempt.iterdir() if path.name.isdecimal()]
            if beyond := sorted(number for number in lines if number >= len(self.cells)):
                notes.append(
                    f"{attempt / str(beyond[0])} is of no line of this job, which has {len(self.cells)}"
                )
        return tuple(notes)

    def _folders(self) -> list[Path]:
        with looking(self.path):
            return [path for path in listed(self.path) if path.is_dir()]

    def line(self, attempt: Path, number: int) -> StoredLine:
        """What a line left in one folder of results."""
        folder = attempt / str(number)
        with looking(folder):
            left = {name: _bytes(folder / name) for name in ("status", "stdout", "stderr")}
            linked = next((p for p in (folder, *(folder / name for name in _FILES)) if p.is_symlink()), None)
        status = left["status"].decode("utf-8", "replace").strip()
        return StoredLine(status, folder / STREAM, left["stdout"], left["stderr"], linked)

    def facts(self, attempt: Path) -> dict[str, Any]:
        """The machine's facts, from the first line; empty if it has none."""
        try:
            text = self.line(attempt, 0).output.decode("utf-8", "replace")
            found = dict(parse_json(text, str(attempt), DamagedError).values)
        except DamagedError:
            return {}
        return unpacked(found) if found.get("facts") == 1 else {}


def _text(file: Path) -> str:
    with remedied(REMEDY):
        return read_text(file, DamagedError)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def _bytes(file: Path) -> bytes:
    if file.is_symlink():
        return b""
    try:
        with open_file(file) as opened:
            return opened.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, NotRegularError):
        return b""
