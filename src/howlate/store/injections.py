"""The delays that a cell made on purpose: injections.parquet, beside the samples that they met."""

from __future__ import annotations

from pathlib import Path

from howlate.errors import DamagedError
from howlate.model.decode import Table
from howlate.model.injected import InjectedCell, MadeDelay, Window
from howlate.model.summary import CellSummary
from howlate.store.duck import arrays, connection, reading, scan
from howlate.store.files import measure_again, remedied
from howlate.store.run_folder import CELL, INJECTIONS, SAMPLES, CellFiles

_DELAYS = ("begin_ns", "end_ns", "wanted_ns", "cpu", "pid", "state")
_WINDOWS = ("thread", "cpu", "release", "release_ns", "latency_ns")
UNWANTED = 1
"""The bit of a delay's state: it could not be made as wanted."""
WARM_UP = 1
"""The bit of a sample's flags."""


def injected_cell(files: CellFiles, summary: CellSummary) -> InjectedCell:
    """The cell's samples, and the delays if there were any."""
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
            tuple(Window(*row) for row in _rows(folder / SAMPLES, _WINDOWS, f"WHERE flags & {WARM_UP} = 0")),
            tuple(
                MadeDelay(begin_ns, end_ns, wanted_ns, cpu, pid, state & UNWANTED == 0)
                for begin_ns, end_ns, wanted_ns, cpu, pid, state in _rows(folder / INJECTIONS, _DELAYS)
            )
            if kind
            else (),
        )


def _rows(path: Path, columns: tuple[str, ...], where: str = "") -> list[tuple[int, ...]]:
    """In the order in which they happened."""
    order = "thread, release" if "release" in columns else columns[0]
    with connection(path.parent) as database, reading(path):
        rows = arrays(database, f"SELECT {', '.join(columns)} FROM {scan(path)} {where} ORDER BY {order}")
    return list(zip(*(rows[name].tolist() for name in columns), strict=True))
