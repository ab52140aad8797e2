"""Turns measurements made elsewhere into a run folder, by the same steps as measurements made here."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from howlate.errors import DamagedError, ExitCode
from howlate.imports.formats import Measured, same_measurement
from howlate.measure.execute import Failure, NotTakenError, Tally, take
from howlate.measure.session import Session, begin_run, reopen
from howlate.plan.asked_for import identity
from howlate.store.lock import locked
from howlate.store.run_folder import RunFolder
from howlate.store.stream import Recording, StreamReader


def as_run(measured: Measured, out: Path | None) -> tuple[Session, Tally]:
    """Fill a new run folder, or continue the one at `out` if it holds the same plan; whole cells stay as they
    are."""
    session = begin_run(measured.run, out)
    folder = session.folder
    with locked(folder.path):
        known = {identity(_head(folder, cell)): cell for cell in folder.whole_cells()}
        for cell in session.cells:
            if cell.id in measured.streams and not folder.is_whole(cell.id):
                stream = measured.streams[cell.id]
                with contextlib.suppress(NotTakenError):  # the folder records it as failed
                    owner = known.get(_identity(stream), cell.id)
                    if owner == cell.id:
                        take(folder, cell, stream, stopped=measured.by_hand)
                    else:
                        twice = same_measurement(stream, f"the cell {owner}")
                        folder.fail_cell(cell.id, Failure(cell, ExitCode.BROKEN, twice).to_json())
        for failure in measured.failures:
            if not folder.is_whole(failure.cell.id):
                folder.fail_cell(failure.cell.id, failure.to_json())
    return reopen(folder)


def _head(folder: RunFolder, cell: str) -> Mapping[str, Any]:
    header = folder.cell(cell).get("header")
    return header if isinstance(header, dict) else {}


def _identity(stream: Path | Recording) -> tuple[str, ...]:
    """The identity of a stream; () if its head cannot be read, since the reader of the stream then says why."""
    if not isinstance(stream, Path):
        return identity(stream.header.raw)
    try:
        with StreamReader.open(stream) as reader:
            return identity(reader.header.raw)
    except DamagedError:
        return ()
