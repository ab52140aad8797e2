"""What the files of this folder share: the format that each of them gives, which cells and which of them are not to
be believed as they stand, their rows through DuckDB, and a file that is whole or not there.

Rows go from file to file: memory does not grow with them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import duckdb
from msgspec import Struct

from howlate.errors import UsageError
from howlate.model.decode import unknown
from howlate.model.study import spell
from howlate.model.summary import CellSummary
from howlate.plan.options import OURS
from howlate.statistics.load_reached import LOADED_SHARE, NOT_LOADED
from howlate.store.continued import no_whole_cell
from howlate.store.duck import connection, copy_to, failed_write, reading, scan
from howlate.store.files import OUTPUT, storing, unreadable, written_output
from howlate.store.run_folder import SAMPLES, RunFolder
from howlate.store.shape import Shape
from howlate.words.printable import no_formula

VALID, LOADED = "valid", "loaded"
"""Columns of each row, where a format has named columns."""


def loaded(summary: CellSummary) -> bool | None:
    """Whether every load of the cell was there, also where the study expects that one starves; None where
    the probe did not live to say it."""
    if summary.stop_reason == "killed" and not summary.loads:
        return None
    absent = summary.starved or any(warning.rule == NOT_LOADED.id for warning in summary.warnings)
    return not absent and (summary.load_share is None or summary.load_share >= LOADED_SHARE)


def mark(summary: CellSummary) -> str:
    """What is put behind a cell's name: " (not loaded)" or " (not valid)"; "" where nothing is wrong with it."""
    if loaded(summary) is False:
        return " (not loaded)"
    return "" if summary.valid else " (not valid)"


def shape_of(database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str) -> Shape:
    rows = fetch(database, run, cell, "DESCRIBE SELECT * FROM {}")
    return Shape.of((str(row[0]), str(row[1])) for row in rows)


def threads_of(database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str) -> list[int]:
    columns_of(database, run, cell)
    rows = fetch(database, run, cell, "SELECT DISTINCT thread FROM {} ORDER BY thread")
    return [int(str(row[0])) for row in rows]


@contextmanager
def scratch(out: Path) -> Iterator[Path]:
    """A file for one block, where the target will be."""
    place = Path(os.path.realpath(out)).parent if out.is_file() or not out.exists() else None
    with storing(out, OUTPUT), TemporaryFile(prefix=".export-", dir=place) as file:
        yield Path(f"/proc/self/fd/{file.fileno()}")


def one_file(run: RunFolder, out: Path, cells: Sequence[str], form: str, *, parameters: bool = False) -> int:
    """`parameters`: each row also says what its cell was measured under."""
    wanted = chosen(run, cells)
    with connection(run.path) as database:
        under = {cell: parameters_of(run, cell) if parameters else {} for cell in wanted}
        plain = no_formula if "csv" in form else str
        labels = {
            cell: {
                plain(name): plain(value)
                for name, value in {**under[cell], **run.summary(cell).labels}.items()
            }
            for cell in wanted
        }
        columns = {cell: columns_of(database, run, cell) for cell in wanted}
        measured = list(dict.fromkeys(name for names in columns.values() for name in names))
        named = sorted({name for own in labels.values() for name in own})
        parts = [
            select(database, run, run.summary(cell), labels[cell], named, columns[cell], measured)
            for cell in wanted
        ]
        sources = [run.cell_path(cell) / SAMPLES for cell in wanted]
        with written_output(out) as place:
            return copy(database, " UNION ALL ".join(parts), sources, place, form)


def parameters_of(run: RunFolder, cell: str) -> dict[str, str]:
    """The options in force in a cell, by their names on the command line, without those that say where the numbers
    go. A flag is on or off, several values are joined by a plus."""
    header = run.cell(cell).get("header")
    found = header.get("parameters") if isinstance(header, dict) else None
    its = found.items() if isinstance(found, dict) else ()
    values = {n: tuple(map(str, v)) if isinstance(v, list) else v for n, v in its if n not in OURS}
    return {name: spell(v if isinstance(v, bool | tuple) else str(v)) for name, v in values.items()}


def select(
    database: duckdb.DuckDBPyConnection,
    run: RunFolder,
    summary: CellSummary,
    labels: Mapping[str, str],
    named: list[str],
    own: list[str],
    measured: list[str],
) -> str:
    """A cell's rows with the columns of all cells, and whether the cell is valid and was loaded."""
    parts = [f"{sql_text(summary.id)} AS cell"]
    for name in named:
        value = sql_text(labels[name]) if name in labels else "NULL::VARCHAR"
        title = f"label_{name}" if name in (*measured, "cell", VALID, LOADED) else name
        parts.append(f"{value} AS {sql_name(title)}")
    parts += [
        f"{sql_name(column) if column in own else 'NULL::BIGINT'} AS {sql_name(column)}"
        for column in measured
    ]
    for name, state in ((VALID, summary.valid), (LOADED, loaded(summary))):
        parts.append(f"{'NULL' if state is None else str(state).lower()}::BOOLEAN AS {name}")
    return f"SELECT {', '.join(parts)} FROM {scan(database, run.cell_path(summary.id) / SAMPLES)}"


def chosen(run: RunFolder, cells: Sequence[str]) -> list[str]:
    """The requested cells, in order; UsageError for one that is not whole or for none at all, DamagedError where
    samples are not as they were measured."""
    whole = run.whole_cells()
    for cell in cells:
        if cell not in whole:
            raise UsageError(unknown("whole cell", cell[:80], whole))
    if not whole:
        raise no_whole_cell(run.read_run(), run.path)
    wanted = list(dict.fromkeys(cells)) or whole
    for cell in wanted:
        run.check_samples(cell)
    return wanted


def columns_of(database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str) -> list[str]:
    found = [str(row[0]) for row in fetch(database, run, cell, "DESCRIBE SELECT * FROM {}")]
    if missing := [name for name in ("thread",) if name not in found]:
        path = run.cell_path(cell) / SAMPLES
        raise unreadable(path, f"it has no column {' or '.join(missing)}")
    return found


def fetch(
    database: duckdb.DuckDBPyConnection, run: RunFolder, cell: str, query: str
) -> list[tuple[object, ...]]:
    path = run.cell_path(cell) / SAMPLES
    with reading(path):
        return list(database.execute(query.format(scan(database, path))).fetchall())


def copy(
    database: duckdb.DuckDBPyConnection, query: str, sources: Sequence[Path], out: Path, form: str
) -> int:
    """Rows written; an OSError about `out` has no name. DuckDB does not say which end of a copy failed: a source that
    cannot be read is named. Each value is decoded for that; a count alone comes from the file's end."""
    try:
        found = database.execute(copy_to(out, query, form)).fetchone()
    except duckdb.Error as error:
        problem = failed_write(error)
        for source in sources if isinstance(problem, OSError) else ():
            with reading(source):
                database.execute(f"SELECT bit_xor(hash(COLUMNS(*))) FROM {scan(database, source)}").fetchone()
        raise problem from None
    return int(found[0]) if found is not None else 0


def sql_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def sql_name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


class Format(Struct, frozen=True):
    """A way to write samples. `write(run, out, cells)` returns the rows written; no cells: all whole ones."""

    name: str
    suffix: str
    """The ending of the file that is written if none is named."""
    summary: str
    write: Callable[[RunFolder, Path, Sequence[str]], int]
    one_text: bool = True
    """It is one text file, which may also go to standard output."""
    write_with_parameters: Callable[[RunFolder, Path, Sequence[str]], int] | None = None
    """`write` with a column for each parameter that the cells were measured under; None where the format has no
    place for them."""
