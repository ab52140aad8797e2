"""The probe's stream (`howlate-probe TEST --stream FILE`): several files, or folders with such files, become one
run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from howlate.imports.formats._by_hand import breaks_off, planned, recorded
from howlate.imports.formats._importer import NO_MAP, Measured, RunImporter, not_imported
from howlate.store.elsewhere import Streams, is_stream, job_folder, results_alone, streams_in
from howlate.store.files import looking
from howlate.store.frames import EndKind

ALONE = (
    "{path} holds the results of a job without its plan (cells.job, run.json): the streams become a run of their "
    "own, as single measurements"
)


def recognises(path: Path) -> bool:
    """A stream, or a folder in which there is one, unless howlate wrote its job."""
    if not path.is_dir():
        return is_stream(path)
    return job_folder(path) is None and bool(streams_in(path).files)


def read(paths: Sequence[Path], labels: Mapping[str, str], mapping: Mapping[str, str] = NO_MAP) -> Measured:
    """One run of all of them."""
    files: list[Path] = []
    notes: list[str] = []
    for path in paths:
        with looking(path):
            streams_here = streams_in(path) if path.is_dir() else Streams((path,), ())
        if not streams_here.files:
            raise not_imported(path, "it holds no stream of the probe", "name the folder with the streams")
        files += streams_here.files
        notes += streams_here.ignored
        if results_alone(path):
            notes.append(ALONE.format(path=path))
    streams = [recorded(file) for file in dict.fromkeys(files)]
    run, cells = planned(streams, labels)
    broken = [stream for stream in streams if stream.end.kind is not EndKind.WHOLE]
    damaged = any(stream.end.kind is EndKind.DAMAGED for stream in broken)
    return Measured(
        run,
        cells,
        notes=(*notes, *(breaks_off(stream.path, stream.end) for stream in broken)),
        damaged=damaged,
        by_hand=True,
    )


IMPORTER = RunImporter("stream", "streams of the probe, as a run", recognises, read)
