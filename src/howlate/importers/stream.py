"""The probe's stream (`howlate-probe TEST --stream FILE`): several files, or folders with such files, become one
run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from howlate.errors import UsageError
from howlate.importers._by_hand import Recorded, planned, recorded
from howlate.importers._importer import Measured, RunImporter
from howlate.store.elsewhere import is_stream, job_folder, streams_in
from howlate.store.files import looking
from howlate.store.frames import Kind


def recognises(path: Path) -> bool:
    """A stream, or a folder in which there is one, unless howlate wrote its job."""
    if not path.is_dir():
        return is_stream(path)
    return job_folder(path) is None and next(iter(streams_in(path)), None) is not None


def read(paths: Sequence[Path], labels: Mapping[str, str]) -> Measured:
    """One run of all of them."""
    files: list[Path] = []
    for path in paths:
        with looking(path):
            found = list(streams_in(path)) if path.is_dir() else [path]
        if not found:
            raise UsageError(f"there is no stream of the probe in {path}", "name the folder with the streams")
        files += found
    streams = [recorded(file) for file in dict.fromkeys(files)]
    run, cells = planned(streams, labels)
    broken = [one for one in streams if one.end.kind is not Kind.WHOLE]
    damaged = any(one.end.kind is Kind.DAMAGED for one in broken)
    return Measured(run, cells, notes=tuple(_said(one) for one in broken), damaged=damaged, by_hand=True)


def _said(one: Recorded) -> str:
    what = "is cut" if one.end.kind is Kind.CUT else "is damaged"
    return (
        f"{one.path} {what} at byte {one.end.at:,} ({one.end.reason}); it is imported up to its last whole batch, "
        "and its cell is not valid"
    )


IMPORTER = RunImporter("stream", "streams of the probe, as a run", recognises, read)
