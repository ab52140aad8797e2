"""Whole runs in other formats. Rows go from file to file through DuckDB: memory does not grow with them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from howlate.errors import DamagedError, StorageError, UsageError
from howlate.store.audit import WARM_UP
from howlate.store.duck import PARQUET, connection, quoted, reading, scan, writing
from howlate.store.files import OUTPUT, measure_again, storing, written_beside
from howlate.store.run_folder import SAMPLES, RunFolder

HANDLER = "irq_latency_ns"
"""The latency of an interrupt's handler, where a test has it."""


def export_csv(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """All samples of the cells (default: all whole ones), one row an activation: the cell's id, its labels,
    then the columns of samples.parquet; a column that a test does not have is `nan`. Returns the rows
    written."""
    return _one_file(run, out, cells, "(FORMAT csv, HEADER true, NULLSTR 'nan')")


def export_parquet(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """The same as one Parquet file; a column that a test does not have is null."""
    return _one_file(run, out, cells, PARQUET)


def export_text(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """The three columns of `sh7780-2008`: time of the release in s, wake-up latency in us, latency of the
    interrupt's handler in us (`nan` where the test has none), six digits each: `0.010000 13.679999 nan`.
    Warm-up is left out.

    Several cells or threads become blocks with a line `# <cell> thread <n>` before and two empty lines
    between, which gnuplot calls an index. Returns the rows written.
    """
    chosen = _chosen(run, cells)
    rows = 0
    with connection(run.path) as database, _target(out) as target, _scratch(out, target) as scratch:
        blocks = [
            (cell, int(str(row[0])))
            for cell in chosen
            for row in _fetch(database, run, cell, "SELECT DISTINCT thread FROM {} ORDER BY thread")
        ]
        with storing(out, OUTPUT), target.open("wb") as file:
            for number, (cell, thread) in enumerate(blocks):
                if len(blocks) > 1:
                    between = "\n\n" if number else ""
                    file.write(f"{between}# {cell} thread {thread}\n".encode())
                rows += _text_block(database, run, cell, thread, scratch)
                with scratch.open("rb") as block:
                    shutil.copyfileobj(block, file, 1 << 20)
    return rows


@contextmanager
def _scratch(out: Path, target: Path) -> Iterator[Path]:
    """A file for one block: beside the target, or in the folder for temporary files if that is no file."""
    with (
        storing(out, OUTPUT),
        TemporaryDirectory(prefix=".export-", dir=None if target == out else out.parent) as folder,
    ):
        yield Path(folder) / "block"


def _text_block(
    database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str, thread: int, out: Path
) -> int:
    source = run.cell_path(cell) / SAMPLES
    handler = f"printf('%.6f', {HANDLER} / 1000.0)" if HANDLER in _columns(database, run, cell) else "'nan'"
    columns = f"printf('%.6f %.6f ', release_ns / 1e9, latency_ns / 1000.0) || {handler}"
    query = f"SELECT {columns} FROM {scan(source)} WHERE thread = {thread} AND flags & {WARM_UP} = 0"
    form = "(FORMAT csv, HEADER false, DELIMITER '\\t', QUOTE '', ESCAPE '')"
    return _copy(database, query, [source], out, form)


def _one_file(run: RunFolder, out: Path, cells: Sequence[str], form: str) -> int:
    chosen = _chosen(run, cells)
    with connection(run.path) as database:
        labels = {cell: run.summary(cell).labels for cell in chosen}
        columns = {cell: _columns(database, run, cell) for cell in chosen}
        measured = list(dict.fromkeys(name for names in columns.values() for name in names))
        named = sorted({name for own in labels.values() for name in own})
        parts = [_select(run, cell, labels[cell], named, columns[cell], measured) for cell in chosen]
        sources = [run.cell_path(cell) / SAMPLES for cell in chosen]
        with _target(out) as target:
            return _copy(database, " UNION ALL ".join(parts), sources, target, form)


def _select(
    run: RunFolder,
    cell: str,
    labels: Mapping[str, str],
    named: list[str],
    own: list[str],
    measured: list[str],
) -> str:
    """A cell's rows with the columns of all cells."""
    parts = [f"{_text(cell)} AS cell"]
    for name in named:
        value = _text(labels[name]) if name in labels else "NULL::VARCHAR"
        title = f"label_{name}" if name in measured or name == "cell" else name
        parts.append(f"{value} AS {_name(title)}")
    parts += [
        f"{_name(column) if column in own else 'NULL::BIGINT'} AS {_name(column)}" for column in measured
    ]
    return f"SELECT {', '.join(parts)} FROM {scan(run.cell_path(cell) / SAMPLES)}"


def _chosen(run: RunFolder, cells: Sequence[str]) -> list[str]:
    """The cells asked for, in order; UsageError for one that is not whole or for none at all."""
    whole = run.whole_cells()
    for cell in cells:
        if cell not in whole:
            raise UsageError(
                f'{run.path} has no whole cell "{cell:.80}"', "it has: " + (", ".join(whole) or "none")
            )
    if not whole:
        raise UsageError(f"{run.path} has no whole cell", "go on with `howlate run` and the same --out")
    return list(dict.fromkeys(cells)) or whole


def _columns(database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str) -> list[str]:
    found = [str(row[0]) for row in _fetch(database, run, cell, "DESCRIBE SELECT * FROM {}")]
    if missing := [name for name in ("thread", "release_ns", "flags") if name not in found]:
        path = run.cell_path(cell) / SAMPLES
        raise DamagedError(f"{path} has no column {', '.join(missing)}", measure_again(path.parent))
    return found


def _fetch(
    database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str, query: str
) -> list[tuple[object, ...]]:
    path = run.cell_path(cell) / SAMPLES
    with reading(path):
        return list(database.execute(query.format(scan(path))).fetchall())


def _copy(
    database: duckdb.DuckDBPyConnection, query: str, sources: Sequence[Path], out: Path, form: str
) -> int:
    """Rows written. DuckDB does not say which end of a copy failed: a source that cannot be read is named."""
    try:
        with writing(out, OUTPUT):
            found = database.execute(f"COPY ({query}) TO {quoted(out)} {form}").fetchone()
    except StorageError:
        for source in sources:
            with reading(source):
                database.execute(f"SELECT count(COLUMNS(*)) FROM {scan(source)}").fetchone()
        raise
    return int(found[0]) if found is not None else 0


@contextmanager
def _target(out: Path) -> Iterator[Path]:
    """Where to write: beside `out`, to be renamed; a pipe or a device (`/dev/stdout`) as it is."""
    with storing(out, OUTPUT):
        special = out.exists() and not out.is_file()
    if special:
        yield out
        return
    with written_beside(out, OUTPUT) as beside:
        yield beside


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'
