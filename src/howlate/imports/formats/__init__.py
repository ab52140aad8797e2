"""Files of other programs, and measurements that were made elsewhere. ONE FILE = ONE FORMAT with `IMPORTER`; files
that begin with an underscore are shared. A format is found by its name or by its content. Results of tools that
howlate does not read are known by theirs (`unread`), because another importer would take their layout for its own."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NoReturn

from howlate.errors import UsageError
from howlate.imports.formats._importer import (
    Imported,
    Importer,
    Measured,
    RunImporter,
    not_imported,
    not_together,
    same_measurement,
)
from howlate.imports.formats._text import log_head
from howlate.imports.formats.csv import names_a_column
from howlate.model.decode import NO_FILE, NOT_REGULAR, UNREADABLE, unknown
from howlate.rooms import every_plugin
from howlate.store.elsewhere import JOB, is_archive, streams_in
from howlate.store.job_folder import JobFolder
from howlate.store.run_folder import RUN

_JSON = re.compile(r'"cmdline:?": "(?:[^" ]{0,200}/)?(\w+)[ "]')
_READ = ("cyclictest", "oslat")
"""The programs of rt-tests whose JSON howlate reads."""
_BEGINNINGS = {
    "latmus of EVL": re.compile(r"^# (?:libevl version: |clock gravity: )", re.M),
    "latency of Xenomai": re.compile(r"^(?:RTH[|]--|== Sampling period: )", re.M),
    "signaltest": re.compile(r"^T: *[0-9]{1,6} \( *[0-9]{1,10}\) P: *[0-9]{1,3} C:", re.M),
    "pmqtest, ptsematest, sigwaittest or svsematest": re.compile(r"^#[0-9]{1,6} -> #[0-9]{1,6}, Min", re.M),
    "stress-ng": re.compile(r"^stress-ng: (?:info|metrc): ", re.M),
    "runqlat of BCC": re.compile(r"^ *(?:usecs|nsecs|msecs) +: count +distribution", re.M),
}


def unread(path: Path) -> str | None:
    """The tool, if the file is from one of these."""
    text = log_head(path)
    if '"file_version"' in text and (match := _JSON.search(text)) and match[1] not in _READ:
        return f"{match[1]} of rt-tests"
    return next((tool for tool, begins in _BEGINNINGS.items() if begins.search(text)), None)


__all__ = [
    "Imported",
    "Importer",
    "Measured",
    "RunImporter",
    "all_importers",
    "find_importer",
    "not_together",
    "same_measurement",
]
FORMATS = "`howlate import --help` lists the formats"


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
        raise UsageError(unknown("format", name, known))
    try:
        there = path.exists()
    except OSError as problem:
        raise UsageError(UNREADABLE(path=path, reason=problem.strerror)) from None
    if not there:
        raise UsageError(NO_FILE(path=path))
    if not (path.is_file() or path.is_dir()):  # a pipe would be waited for
        raise UsageError(UNREADABLE(path=path, reason=NOT_REGULAR))
    if name is not None:
        return known[name]
    if (path / RUN).is_file() and not (path / JOB).is_file():
        raise _has_no_job(path)
    if (tool := unread(path)) is not None:
        raise not_imported(path, f"it is from {tool}", FORMATS)
    if path.is_file() and any(map(names_a_column, mapping)):
        return known["csv"]
    matches = [importer for importer in known.values() if importer.recognises(path)]
    if len(matches) > 1:
        names = ", ".join(importer.name for importer in matches)
        raise not_imported(path, f"it may be of several formats ({names})", "choose one with --format")
    return matches[0] if matches else _refuse(path)


def _has_no_job(path: Path) -> UsageError:
    if JobFolder.is_planned(path):
        return not_imported(path, "cells.job is missing", "copy the whole folder from the machine again")
    return not_imported(path, "it is a run", f"show it with `howlate show {shlex.quote(str(path))}`")


def _refuse(path: Path) -> NoReturn:
    if is_archive(path):
        raise not_imported(
            path, "it is compressed", "unpack it with the times of its files (tar -xf, unzip, unzstd)"
        )
    if path.is_dir():
        ignored = "".join(f"; {sentence}" for sentence in streams_in(path).ignored)
        raise not_imported(
            path, f"it holds neither cells.job nor streams of the probe{ignored}", "name the files themselves"
        )
    if path.stat().st_size == 0:
        raise not_imported(path, "it is empty", "copy it again")
    raise not_imported(path, "its format is unknown", FORMATS)
