"""SQL over many runs: tables in memory of what the catalogue knows, and the samples as they stand in their Parquet
files (docs/query.md has the columns). A query reads; it cannot write."""

from __future__ import annotations

import re
import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError, UsageError
from howlate.history.catalogue import SAMPLES_ALTERED, LeftOut
from howlate.history.known_runs import KnownCell, KnownRun
from howlate.statistics.statistics import STATISTICS
from howlate.store.checksums import changed, read_checksums
from howlate.store.duck import as_named, connection, scan
from howlate.store.run_folder import SAMPLES
from howlate.system.interrupts import ended_in_time
from howlate.words.printable import is_text
from howlate.words.statement import message

WRONG_SQL = message(
    "query.wrong-sql", "the query is wrong: {problem}", remedy="see docs/query.md for the tables"
)
UNREADABLE_SAMPLES = message(
    "query.unreadable-samples",
    "the samples cannot be read: {problem}",
    remedy="`howlate show --verify RUN` names the files that are damaged",
)
NO_SAMPLES = message(
    "query.no-samples", "none of these runs has samples", remedy="name other runs after the query"
)

MOST_ROWS = 1_000_000
"""The most rows of an answer: they are held as Python's values, at some hundred bytes each."""

_ZONED = "TIMESTAMP WITH TIME ZONE"
"""DuckDB needs the package pytz to hand such a value to Python, alone or within another."""

Columns = Mapping[str, str]
"""The SQL type of each column."""


def column_of(statistic: str) -> str:
    """A statistic's column: "max_ns", "p99_9_ns" of the quantile "0.999"."""
    if not statistic[0].isdigit():
        return f"{statistic}_ns"
    percent = f"{float(statistic) * 100:.6f}".rstrip("0").rstrip(".")
    return f"p{percent.replace('.', '_')}_ns"


_STATISTICS = {column_of(entry.name): entry.name for entry in STATISTICS}
_RATIONAL = ("mean_ns", "stddev_ns")
TABLES: Mapping[str, Columns] = {
    "runs": {
        **dict.fromkeys(("run", "folder", "id"), "VARCHAR"),
        "started": "TIMESTAMP",
        **dict.fromkeys(("study", "target", "clock", "howlate", "probe"), "VARCHAR"),
        "scale": "DOUBLE",
        "cells": "BIGINT",
    },
    "cells": {
        **dict.fromkeys(
            ("run", "cell", "test", "kernel", "load", "period", "policy", "timer", "cpu"), "VARCHAR"
        ),
        "labels": "MAP(VARCHAR, VARCHAR)",
        "repetition": "BIGINT",
        "valid": "BOOLEAN",
        "stop_reason": "VARCHAR",
        **dict.fromkeys(("releases", "recorded", "overruns", "dropped", "deadline_ns", "misses"), "BIGINT"),
    },
    "statistics": {
        **dict.fromkeys(("run", "cell", "measured"), "VARCHAR"),
        "count": "BIGINT",
        **{name: "DOUBLE" if name in _RATIONAL else "BIGINT" for name in _STATISTICS},
    },
    "facts": dict.fromkeys(("run", "machine", "fact", "value"), "VARCHAR"),
}
MEMORY_BYTES = 2 << 30
"""Memory for a query, besides what howlate takes."""
_NO_MEMORY = "ailed to allocate"
SAMPLES_TABLE = "samples"
"""The view over the Parquet files. It has the columns `run` and `cell`, and those of the tests."""
_LABELS = ("kernel", "load", "period", "policy", "timer", "cpu")


class SqlAnswer(Struct, frozen=True):
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def ask(sql: str, runs: Sequence[KnownRun]) -> SqlAnswer:
    """The answer to one SELECT over these runs; UsageError where it is anything else, or wrong."""
    with (
        tempfile.TemporaryDirectory(prefix="howlate-query-") as spill,
        ended_in_time(lambda: shutil.rmtree(spill, ignore_errors=True)),
        connection(Path(spill), kept=False) as database,
    ):
        _must_be_a_query(database, sql)
        names = names_of(runs)
        for table, columns in TABLES.items():
            filled = list(_ROWS[table](runs, names)) if _names(sql, table) else []
            _fill(database, table, columns, filled)
        if _names(sql, SAMPLES_TABLE):
            _view_samples(database, runs, names)
        headings, rows = _answered(database, sql)
    if len(rows) > MOST_ROWS:
        raise UsageError(
            "the query gives more than {most:count} rows",
            remedy="add a LIMIT, or aggregate the rows; `howlate export --format csv` writes all samples of a run",
            most=MOST_ROWS,
        )
    return SqlAnswer(headings, rows)


def _answered(database: duckdb.DuckDBPyConnection, sql: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The headings, and one row more than an answer may have."""
    try:
        with _bounded_memory():
            answered = database.execute(sql)
            described = answered.description or ()
            zoned = [str(column[0]) for column in described if _ZONED in str(column[1])]
            if zoned:
                raise UsageError(
                    "{columns:all} would be a time with a zone (TIMESTAMPTZ), which howlate does not show",
                    remedy="write it as text, (...)::VARCHAR, or as the time in UTC, (...) AT TIME ZONE "
                    "'UTC'",
                    columns=zoned,
                )
            return tuple(str(column[0]) for column in described), answered.fetchmany(MOST_ROWS + 1)
    except duckdb.OutOfMemoryException as problem:
        raise MemoryError from problem
    except duckdb.IOException as problem:
        raise DamagedError(UNREADABLE_SAMPLES(problem=_first_lines(problem))) from None
    except duckdb.Error as problem:
        raise UsageError(WRONG_SQL(problem=_first_lines(problem))) from None
    except (OverflowError, ValueError) as problem:  # a time that Python's do not reach
        raise UsageError(WRONG_SQL(problem=problem)) from None


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """DuckDB counts what it keeps, but not every text and list that it computes. UsageError where the query takes
    more than it may, unless the caller's own limit is the smaller one."""
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES
    if 0 <= before < most:
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    except (MemoryError, duckdb.Error) as problem:
        if isinstance(problem, MemoryError | duckdb.OutOfMemoryException) or _NO_MEMORY in str(problem):
            raise UsageError(
                "the query needs more than its limit of {most_mib:count} MiB of memory",
                remedy="select fewer rows, shorter texts or lists",
                most_mib=MEMORY_BYTES >> 20,
            ) from None
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def with_whole_samples(sql: str, runs: Sequence[KnownRun]) -> tuple[list[KnownRun], list[LeftOut]]:
    """The runs as a query about the samples may see them, and the cells that it leaves out: every byte of the others'
    files is what was measured."""
    if not _names(sql, SAMPLES_TABLE):
        return list(runs), []
    checked = [replace(run, cells=tuple(map(partial(_checked, run), run.cells))) for run in runs]
    cells = [_samples_of(run, cell).parent for run in checked for cell in run.cells if not cell.samples]
    return checked, [LeftOut(cell, SAMPLES_ALTERED()) for cell in cells]


def _checked(run: KnownRun, cell: KnownCell) -> KnownCell:
    folder = _samples_of(run, cell).parent
    if not cell.samples or changed(folder, SAMPLES, read_checksums(folder), whole=True) is None:
        return cell
    return replace(cell, samples=False)


def _names(sql: str, table: str) -> bool:
    """Whether a query may be about a table: what it does not name need not be filled."""
    return re.search(rf"\b{table}\b", sql, re.IGNORECASE) is not None


def names_of(runs: Sequence[KnownRun]) -> dict[str, str]:
    """What the column `run` calls each folder: by its name, by its path where two have the same."""
    short = [Path(run.folder).name for run in runs]
    times = Counter(short)
    return {
        run.folder: name if times[name] == 1 else run.folder for run, name in zip(runs, short, strict=True)
    }


def _must_be_a_query(database: duckdb.DuckDBPyConnection, sql: str) -> None:
    if not is_text(sql):
        raise UsageError(WRONG_SQL(problem="it holds bytes that are not UTF-8"))
    try:
        statements = database.extract_statements(sql)
    except duckdb.Error as problem:
        raise UsageError(WRONG_SQL(problem=_first_lines(problem))) from None
    kinds = [str(statement.type).rpartition(".")[2] for statement in statements]
    if kinds != ["SELECT"]:
        raise UsageError(
            "the query must be one SELECT, not: {kinds:all}",
            remedy='write one, such as "SELECT * FROM runs"; `howlate query` changes nothing',
            kinds=kinds or ["nothing"],
        )


def _first_lines(problem: duckdb.Error) -> str:
    """What is wrong, with the names that may have been meant, without the query again."""
    kind, _, text = str(problem).partition("\n\nLINE ")[0].partition(": ")
    lines = [line.strip() for line in (text or kind).splitlines() if line.strip()]
    return " ".join(lines[:2]).rstrip(".!")


def _fill(
    database: duckdb.DuckDBPyConnection, table: str, columns: Columns, rows: Sequence[tuple[Any, ...]]
) -> None:
    """A table with these rows; each column is handed over as one list."""
    declared = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
    database.execute(f"CREATE TABLE {table} ({declared})")
    if rows:
        lists = [list(column) for column in zip(*rows, strict=True)]
        each = ", ".join(f"unnest(${i}::{kind}[])" for i, kind in enumerate(columns.values(), 1))
        database.execute(f"INSERT INTO {table} SELECT {each}", lists)


Names = Mapping[str, str]
Rows = Iterator[tuple[Any, ...]]


def _runs(runs: Sequence[KnownRun], names: Names) -> Rows:
    for run in runs:
        versions = [run.versions.get(name) for name in ("howlate", "probe")]
        stated = (run.id, _time(run.started), run.study, run.target, run.clock)
        yield (names[run.folder], run.folder, *stated, *versions, run.scale, len(run.cells))


def _cells(runs: Sequence[KnownRun], names: Names) -> Rows:
    for run in runs:
        for cell in run.cells:
            labels = (cell.labels.get(name) for name in _LABELS)
            counts = (cell.releases, cell.recorded, cell.overruns, cell.dropped)
            state = (cell.repetition, cell.valid, cell.stop_reason)
            deadline = (cell.deadline_ns, cell.misses)
            yield (names[run.folder], cell.id, cell.test, *labels, cell.labels, *state, *counts, *deadline)


def _statistics(runs: Sequence[KnownRun], names: Names) -> Rows:
    for run in runs:
        for cell in run.cells:
            for name, column in cell.columns.items():
                figures = (column.figures.get(statistic) for statistic in _STATISTICS.values())
                yield (names[run.folder], cell.id, name, column.count, *figures)


def _facts(runs: Sequence[KnownRun], names: Names) -> Rows:
    for run in runs:
        for machine, facts in run.machines.items():
            for fact, value in facts.items():
                text = str(value).lower() if isinstance(value, bool) else str(value)
                yield (names[run.folder], machine, fact, text)


_ROWS = {"runs": _runs, "cells": _cells, "statistics": _statistics, "facts": _facts}


def _time(started: str) -> str | None:
    """None if it is not a time: an imported run's may be unknown."""
    return started.removesuffix("Z") if re.match(r"\d{4}-\d\d-\d\dT", started, re.ASCII) else None


def _view_samples(database: duckdb.DuckDBPyConnection, runs: Sequence[KnownRun], names: Names) -> None:
    """Nothing is read but what the query needs: DuckDB skips columns, and the row groups that cannot match."""
    cells = [(run, cell) for run in runs for cell in run.cells if cell.samples]
    if not cells:
        raise UsageError(NO_SAMPLES())
    paths = [_samples_of(run, cell) for run, cell in cells]
    rows = [
        (as_named(path), names[run.folder], cell.id) for path, (run, cell) in zip(paths, cells, strict=True)
    ]
    _fill(database, "sample_files", {"path": "VARCHAR", "run": "VARCHAR", "cell": "VARCHAR"}, rows)
    files = scan(database, *paths).removesuffix(")")
    try:
        database.execute(
            f"CREATE VIEW {SAMPLES_TABLE} AS SELECT run, cell, * EXCLUDE (path, run, cell, filename) "
            f"FROM {files}, union_by_name = true, filename = true) JOIN sample_files ON path = filename"
        )
    except duckdb.Error as problem:
        raise DamagedError(UNREADABLE_SAMPLES(problem=_first_lines(problem))) from None


def _samples_of(run: KnownRun, cell: KnownCell) -> Path:
    return Path(run.folder) / "cells" / cell.id / SAMPLES
