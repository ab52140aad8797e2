"""Run folders made for tests, through the same functions as real ones."""

from collections.abc import Mapping
from pathlib import Path

from howlate.model.plan import Cell, Plan
from howlate.model.run import Run
from howlate.model.study import Study, Value
from howlate.store.ingest import ingest
from howlate.store.run_folder import STREAM, RunFolder
from howlate.store.summarise import summarise
from made_once import once

NO_LOAD: Mapping[str, Value] = {"load": ()}


def a_run(*cells: str, parameters: Mapping[str, Value] = NO_LOAD) -> Run:
    """A run whose plan has these cells."""
    planned = tuple(Cell(name, "cyclic", parameters, {"load": name}, 1, 1.0) for name in cells)
    study = Study("test", "Test", "How late?", "cyclic")
    return Run("20260102T030405-test", "2026-01-02T03:04:05Z", study, Plan(planned), "local")


def a_folder(
    path: Path,
    streams: Mapping[str, bytes],
    labels: Mapping[str, Mapping[str, str]] | None = None,
    run: Run | None = None,
) -> RunFolder:
    """A run folder with one whole cell a stream."""
    run = run or a_run(*streams)

    def make(place: Path) -> None:
        folder = RunFolder.create(place, run)
        for cell, data in streams.items():
            part = folder.start_cell(cell)
            (part / STREAM).write_bytes(data)
            ingest(part / STREAM, part)
            (part / STREAM).unlink()
            summarise(part, cell, (labels or {}).get(cell, {"load": cell}))
            folder.finish_cell(cell)

    once(path, make, repr((run, labels, tuple(streams))), *streams.values())
    return RunFolder(path)
