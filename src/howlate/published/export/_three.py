"""Three columns as text, as `sh7780-2008` prints them: time in s, wake-up latency in us, latency of the interrupt's
handler in us, six digits each: `0.010000 13.679999 1.760000`. Warm-up is left out, and time begins at 0.000000 with
the first line of the cell that is written, as in the study's file.

Several cells or threads become blocks with a line `# <cell> thread <n>` before and two empty lines between, which
gnuplot calls an index. The line says which cells are not valid or not loaded; one of these has it also alone."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb

from howlate.errors import UsageError
from howlate.model.columns import LATENCY
from howlate.model.study import PART
from howlate.store.duck import connection, scan
from howlate.store.export._rows import chosen, columns_of, copy, mark, scratch, shape_of, threads_of
from howlate.store.files import OUTPUT, storing, written_output
from howlate.store.run_folder import SAMPLES, RunFolder

HANDLER = "irq_latency_ns"
"""The latency of an interrupt's handler, if a test has it."""
WAKE_UPS = (LATENCY, "wake_latency_ns")
"""The wake-up latency: of a periodic task, of the process that an interrupt wakes."""


def lacks(what: object, missing: str) -> UsageError:
    """The error about a run or cell without what a format needs."""
    return UsageError(
        "{what} has no {missing}, which this format needs",
        remedy="use --format csv, which writes every column of any test",
        what=what,
        missing=missing,
    )


def write_three(run: RunFolder, out: Path, cells: Sequence[str], *, handler: bool) -> int:
    """`handler`: refuse a cell without the handler's latency; otherwise its place is `nan`. If a run has
    several parts and no cell is named, the cells that have the columns are written. Returns the number of
    rows."""
    with connection(run.path) as database:
        written_cells = chosen(run, cells)
        missing = {cell: _missing(database, run, cell, handler=handler) for cell in written_cells}
        if (
            not cells and len({run.summary(cell).labels.get(PART, "") for cell in written_cells}) > 1
        ):  # of a study's parts those that have these columns
            written_cells = [cell for cell in written_cells if not missing[cell]] or written_cells
        for cell in written_cells:
            if missing[cell]:
                raise lacks(f"the cell {cell}", missing[cell])
        blocks = [(cell, thread) for cell in written_cells for thread in threads_of(database, run, cell)]
        rows = 0
        with (
            written_output(out) as place,
            scratch(out) as block,
            storing(out, OUTPUT),
            place.open("wb") as file,
        ):
            for number, (cell, thread) in enumerate(blocks):
                note = mark(run.summary(cell))
                if len(blocks) > 1 or note:
                    between = "\n\n" if number else ""
                    file.write(f"{between}# {cell} thread {thread}{note}\n".encode())
                rows += _block(database, run, cell, thread, block)
                with block.open("rb") as made:
                    shutil.copyfileobj(made, file, 1 << 20)
    return rows


def _missing(database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str, *, handler: bool) -> str:
    """The columns of the three that a cell lacks; "" if it has them all."""
    there = columns_of(database, run, cell)
    missing = [HANDLER] if handler and HANDLER not in there else []
    missing += [] if any(name in there for name in WAKE_UPS) else [LATENCY]
    if missing or shape_of(database, run, cell).time is None:
        return ", ".join(missing) or "time"
    return ""


def _block(database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str, thread: int, out: Path) -> int:
    source, shape = run.cell_path(cell) / SAMPLES, shape_of(database, run, cell)
    handler = f"printf('%.6f', {HANDLER} / 1000.0)" if HANDLER in shape.columns else "'nan'"
    wake_up = next(name for name in WAKE_UPS if name in shape.columns)
    # over all threads, which share a clock
    first = f"(SELECT min({shape.time}) FROM {scan(database, source)} WHERE {shape.counted})"
    columns = f"printf('%.6f %.6f ', ({shape.time} - {first}) / 1e9, {wake_up} / 1000.0) || {handler}"
    query = f"SELECT {columns} FROM {scan(database, source)} WHERE thread = {thread} AND {shape.counted}"
    return copy(
        database, query, [source], out, "(FORMAT csv, HEADER false, DELIMITER '\\t', QUOTE '', ESCAPE '')"
    )
