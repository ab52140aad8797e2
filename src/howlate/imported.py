"""What was measured elsewhere becomes a run folder, by the same steps as what is measured here."""

from __future__ import annotations

import contextlib
from pathlib import Path

from howlate.execute import NotTakenError, Tally, locked, take
from howlate.importers import Measured
from howlate.session import Session, begin_run, reopen


def as_run(measured: Measured, out: Path | None) -> tuple[Session, Tally]:
    """Fills a new run folder, or goes on with the one at `out` if it holds the same plan; whole cells stay as they
    are."""
    session = begin_run(measured.run, out)
    folder = session.folder
    with locked(folder.path):
        for cell in session.cells:
            if cell.id in measured.streams and not folder.is_whole(cell.id):
                with contextlib.suppress(NotTakenError):  # the folder has it as failed
                    take(folder, cell, measured.streams[cell.id], stopped=measured.by_hand)
        for failure in measured.failures:
            if not folder.is_whole(failure.cell.id):
                folder.fail_cell(failure.cell.id, failure.to_json())
    return reopen(folder)
