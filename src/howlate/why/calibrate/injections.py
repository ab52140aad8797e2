"""The delays that a cell made on purpose: injections.parquet, with the samples that they met."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from howlate.errors import DamagedError
from howlate.model.decode import Table
from howlate.model.summary import CellSummary
from howlate.store.duck import arrays, connection, reading, scan
from howlate.store.files import measure_again, remedied
from howlate.store.run_folder import CELL, INJECTIONS, SAMPLES, CellFiles
from howlate.why.calibrate.injected import InjectedCell, MadeDelay, Window

_DELAYS = ("begin_ns", "end_ns", "wanted_ns", "cpu", "pid", "state")
_WINDOWS = ("thread", "cpu", "release", "release_ns", "latency_ns")
UNWANTED = 1
"""The bit of a delay's state: it could not be made as wanted."""
NO_UNCERTAINTY = 0
"""Of delays that an older probe made, which did not record it."""
WARM_UP = 1
"""The bit of a sample's flags."""


def injected_cell(files: CellFiles, summary: CellSummary) -> InjectedCell:
    folder = files.folder
    with remedied(measure_again(folder)):
        top = Table(files.record(), str(folder / CELL), "", DamagedError)
        kind = top.table("header").table("in_force").table("inject").text("kind", "")
    files.must_be_unchanged(*([SAMPLES, INJECTIONS] if kind else [SAMPLES]))
    with remedied(measure_again(folder)):
        return InjectedCell(
            summary.id,
            summary.labels.get("kernel", ""),
            kind,
            _windows(folder / SAMPLES),
            _delays(folder / INJECTIONS) if kind else (),
        )


def _delays(path: Path) -> tuple[MadeDelay, ...]:
    """In order of their beginnings."""
    with connection(path.parent) as database, reading(path):
        recorded = arrays(database, f"SELECT * FROM {scan(database, path)} ORDER BY begin_ns")
    uncertainty_ns = recorded.get("uncertainty_ns", np.full(len(recorded["begin_ns"]), NO_UNCERTAINTY))
    columns = (*(recorded[name] for name in _DELAYS), uncertainty_ns)
    return tuple(
        MadeDelay(begin_ns, end_ns, wanted_ns, cpu, pid, state & UNWANTED == 0, uncertainty)
        for begin_ns, end_ns, wanted_ns, cpu, pid, state, uncertainty in zip(
            *(column.tolist() for column in columns), strict=True
        )
    )


def _windows(path: Path) -> tuple[Window, ...]:
    """The samples after the warm-up, by thread and release."""
    columns = ", ".join(_WINDOWS)
    with connection(path.parent) as database, reading(path):
        rows = arrays(
            database,
            f"SELECT {columns} FROM {scan(database, path)} WHERE flags & {WARM_UP} = 0 ORDER BY thread, release",
        )
    return tuple(Window(*row) for row in zip(*(rows[name].tolist() for name in _WINDOWS), strict=True))
