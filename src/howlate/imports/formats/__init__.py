"""Files of other programs, and measurements that were made elsewhere. ONE FILE = ONE FORMAT with `IMPORTER`; files
that begin with an underscore are shared. A format is found by its name or by its content."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from howlate.errors import UsageError
from howlate.imports.formats._importer import Imported, Importer, Measured, RunImporter
from howlate.imports.formats._unread import unread
from howlate.imports.formats.csv import names_a_column
from howlate.model.decode import NO_FILE, UNREADABLE, suggestion
from howlate.rooms import every_plugin
from howlate.store.elsewhere import JOB, is_archive, streams_in
from howlate.store.job_folder import JobFolder
from howlate.store.run_folder import RUN
from howlate.words.statement import rule

NOT_READ = rule(
    "import.not-read",
    "{path} is from {tool}, which howlate does not read",
    remedy="import a result of another tool: `howlate import --help` lists the formats",
)

__all__ = ["Imported", "Importer", "Measured", "RunImporter", "all_importers", "find_importer"]


@cache
def all_importers() -> tuple[Importer | RunImporter, ...]:
    """Every format of this folder and the rooms'; a file that cannot be imported is an error, never skipped."""
    kinds: tuple[type[Importer | RunImporter], ...] = (Importer, RunImporter)
    return tuple(every_plugin(__name__, "IMPORTER", kinds))


def find_importer(
    path: Path, name: str | None = None, mapping: Collection[str] = ()
) -> Importer | RunImporter:
    """The format of that name, else the one that knows its own in the file or folder. `mapping`: the names that
    `--map` gives; those of columns are CSV's alone."""
    known = {importer.name: importer for importer in all_importers()}
    if name is not None and name not in known:
        raise UsageError(
            'the format "{name}" is not known', remedy="{hint}", name=name, hint=suggestion(name, known)
        )
    try:
        there = path.exists()
    except OSError as problem:
        raise UsageError(UNREADABLE(path=path, reason=problem.strerror)) from None
    if not there:
        raise UsageError(NO_FILE(path=path))
    if not (path.is_file() or path.is_dir()):  # a pipe would be waited for
        raise UsageError(
            "{path} is neither a file nor a folder, and what it holds could be read only once",
            remedy="write it to a file first",
            path=path,
        )
    if name is not None:
        return known[name]
    if (path / RUN).is_file() and not (path / JOB).is_file():
        raise _has_no_job(path)
    if (tool := unread(path)) is not None:
        raise UsageError(NOT_READ(path=path, tool=tool))
    if path.is_file() and any(map(names_a_column, mapping)):
        return known["csv"]
    found = [importer for importer in known.values() if importer.recognises(path)]
    if len(found) > 1:
        raise UsageError(
            "{path} looks like several formats: {formats:all}",
            remedy="say which it is with --format",
            path=path,
            formats=[importer.name for importer in found],
        )
    if not found:
        raise _nothing_in(path) or UsageError(
            "{path} looks like none of the formats that can be imported",
            remedy="`howlate import --help` lists them; name a file or folder of one of them, or the format "
            "with --format",
            path=path,
        )
    return found[0]


def _has_no_job(path: Path) -> UsageError:
    """A folder with run.json and without cells.job."""
    if JobFolder.is_planned(path):
        return UsageError(
            "{path} has the plan of a job (run.json) and no cells.job, so it is not the whole folder of the "
            "job",
            remedy="copy the whole folder from the machine again, cells.job and results included",
            path=path,
        )
    return UsageError("{path} is a run already", remedy="look at it: howlate show {path:shell}", path=path)


def _nothing_in(path: Path) -> UsageError | None:
    """Of what looks like no format why not, where that is known."""
    if is_archive(path):
        return UsageError(
            "{path} is an archive or compressed",
            remedy="unpack it with the times of its files (tar -xf, unzip, unzstd), and import its content",
            path=path,
        )
    if not path.is_dir():
        return (
            UsageError("{path} is empty", remedy="copy it again, or measure again", path=path)
            if _is_empty(path)
            else None
        )
    ignored = "".join(f"; {sentence}" for sentence in streams_in(path).ignored)
    return UsageError(
        "{path} is neither the folder of a job (it has no cells.job) nor one with streams of the "
        "probe{ignored}",
        remedy="name the folder that holds cells.job, or the streams themselves",
        path=path,
        ignored=ignored,
    )


def _is_empty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == 0
