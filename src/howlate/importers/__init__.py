"""Files of other programs, and measurements that were made elsewhere. ONE FILE = ONE FORMAT with `IMPORTER`; files
that begin with an underscore are shared. A format is found by its name or by its content."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from howlate.errors import UsageError
from howlate.importers._importer import Imported, Importer, Measured, RunImporter
from howlate.model.decode import suggestion
from howlate.store.elsewhere import JOB, is_archive, streams_in
from howlate.store.job_folder import JobFolder
from howlate.store.run_folder import RUN

__all__ = ["Imported", "Importer", "Measured", "RunImporter", "all_importers", "find_importer"]


@cache
def all_importers() -> tuple[Importer | RunImporter, ...]:
    """Every format of this folder; a file that cannot be imported is an error, never skipped."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return tuple(importlib.import_module(f"{__name__}.{name}").IMPORTER for name in names)


def find_importer(path: Path, name: str | None = None) -> Importer | RunImporter:
    """The format of that name, else the one that knows its own in the file or folder."""
    known = {importer.name: importer for importer in all_importers()}
    if name is not None:
        if name not in known:
            raise UsageError(f'the format "{name}" is not known', suggestion(name, known))
        return known[name]
    try:
        there = path.exists()
    except OSError as problem:
        raise UsageError(
            f"{path} cannot be read ({problem.strerror})", "name a file that you may read"
        ) from None
    if not there:
        raise UsageError(f"{path} is not there", "see its name for a slip")
    if (path / RUN).is_file() and not (path / JOB).is_file():
        raise _has_no_job(path)
    found = [importer for importer in known.values() if importer.recognises(path)]
    if len(found) != 1:
        which = "none" if not found else "several (" + ", ".join(importer.name for importer in found) + ")"
        formats = "; ".join(f"{importer.name}: {importer.summary}" for importer in known.values())
        raise (None if found else _nothing_in(path)) or UsageError(
            f"{path} looks like {which} of the formats that can be imported",
            f"name a file or folder of one of them ({formats})",
        )
    return found[0]


def _has_no_job(path: Path) -> UsageError:
    """A folder with run.json and without cells.job."""
    if JobFolder.is_planned(path):
        return UsageError(
            f"{path} has the plan of a job ({RUN}) and no {JOB}, so it is not the whole folder of the job",
            f"copy the whole folder from the machine again, {JOB} and results included",
        )
    return UsageError(f"{path} is a run already", f"look at it: howlate show {path}")


def _nothing_in(path: Path) -> UsageError | None:
    """Of what looks like no format why not, where that is known."""
    if is_archive(path):
        return UsageError(
            f"{path} is an archive or compressed",
            "unpack it with the times of its files (tar -xf, unzip, unzstd), and import what was in it",
        )
    if not path.is_dir():
        return UsageError(f"{path} is empty", "copy it again, or measure again") if _is_empty(path) else None
    ignored = "".join(f"; {sentence}" for sentence in streams_in(path).ignored)
    return UsageError(
        f"{path} is neither the folder of a job (it has no {JOB}) nor one with streams of the probe{ignored}",
        f"name the folder that holds {JOB}, or the streams themselves",
    )


def _is_empty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == 0
