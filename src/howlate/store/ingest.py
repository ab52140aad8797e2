"""Converts the probe's stream to a cell's Parquet files and cell.json, in bounded memory whatever the
stream's length.

Rows are gathered into pieces of 16 MiB, written as one Parquet file for each table, and joined at the end:
threads one after the other, each in the order of its releases, so that delta encoding finds the regular
differences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from howlate.model.columns import RELEASE
from howlate.store.audit import TableAudit
from howlate.store.duck import PARQUET, connection, copy_to, made_here, scan, writing
from howlate.store.files import make_folder, remove_folder, storing, unreadable, write_json, written_beside
from howlate.store.frames import End
from howlate.store.run_folder import CELL
from howlate.store.shape import SQL_TYPE
from howlate.store.stream import Batch, Recording, StreamReader, StreamTable
from howlate.words.printable import printable

ACTIVATIONS = "samples"
KNOWN, CONTRADICTIONS = "known", "contradictions"
"""In the header of another tool's recording: what is known of its samples (model/knowledge.py), and how its file
contradicts itself, a sentence each."""
PIECE_BYTES = 16 * 1024 * 1024
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_OF_ACTIVATIONS = {
    "release": "i64",
    "release_ns": "i64",
    "latency_ns": "i64",
    "response_ns": "i64",
    "flags": "u8",
}
"""Columns that samples of activations always have, and samples of a stream that lacks them."""


def ingest(stream: Path | Recording, folder: Path) -> End:
    """Decode `stream`, the probe's or another tool's recording, into samples.parquet, cpus.parquet, loads.parquet
    and cell.json of `folder` (a `.part` folder).

    Return how the stream ended: a cut or altered stream gives its whole batches, and summarise() calls the
    cell invalid. DamagedError if there is not even a header; StorageError if the folder cannot be written.
    """
    pieces = folder / ".pieces"
    with storing(folder):
        remove_folder(pieces)
        make_folder(pieces)
    try:
        with _opened(stream) as reader, connection(pieces) as database, writing(folder):
            _check_names(reader.header.tables, str(stream))
            audits = {
                table.id: TableAudit(table) for table in reader.header.tables if table.name == ACTIVATIONS
            }
            written = _write_pieces(reader, database, pieces, audits)
            assert reader.end is not None
            for name in sorted({table.name for table in reader.header.tables} | {ACTIVATIONS}):
                tables = [table for table in reader.header.tables if table.name == name]
                _join(database, folder / f"{name}.parquet", name, tables, written)
            write_json(folder / CELL, _cell(reader, audits))
            return reader.end
    finally:
        with suppress(OSError):
            remove_folder(pieces)


@contextmanager
def _opened(stream: Path | Recording) -> Iterator[Recording]:
    if not isinstance(stream, Path):
        yield stream
        return
    with StreamReader.open(stream) as reader:
        yield reader


def _check_names(tables: tuple[StreamTable, ...], stream: str) -> None:
    for table in tables:
        for name in (table.name, *(column.name for column in table.columns)):
            if not _NAME.fullmatch(name):
                reason = f'it has a table or column "{printable(name[:40])}"'
                raise unreadable(Path(stream), reason, "measure this cell again")


def _write_pieces(
    reader: Recording, database: duckdb.DuckDBPyConnection, pieces: Path, audits: Mapping[int, TableAudit]
) -> dict[int, list[Path]]:
    """Write every batch into pieces; return the pieces of each table, in order."""
    waiting: dict[int, list[Batch]] = {}
    size = 0
    written: dict[int, list[Path]] = {table.id: [] for table in reader.header.tables}

    def flush() -> None:
        for number, batches in waiting.items():
            path = pieces / f"{number}-{len(written[number])}.parquet"
            _write_piece(database, path, batches)
            made_here(path)
            written[number].append(path)
        waiting.clear()

    for batch in reader.batches():
        number = batch.table.id
        if number in audits:
            audits[number].add(batch)
        if batch.rows == 0:
            continue
        waiting.setdefault(number, []).append(batch)
        size += batch.rows * batch.table.row_bytes()
        if size >= PIECE_BYTES:
            flush()
            size = 0
    flush()
    return written


def _write_piece(database: duckdb.DuckDBPyConnection, path: Path, batches: list[Batch]) -> None:
    names = [column.name for column in batches[0].table.columns]
    piece = {name: np.concatenate([batch.columns[name] for batch in batches]) for name in names}
    database.register("piece", piece)
    try:
        database.execute(copy_to(path, "SELECT * FROM piece", "(FORMAT parquet, COMPRESSION snappy)"))
    finally:
        database.unregister("piece")


def _join(
    database: duckdb.DuckDBPyConnection,
    target: Path,
    name: str,
    tables: list[StreamTable],
    written: Mapping[int, list[Path]],
) -> None:
    """One Parquet file of all tables of this name, thread by thread."""
    own = {column.name: column.type for table in tables for column in table.columns}
    activations = name == ACTIVATIONS and (not tables or RELEASE in own)
    columns = {**_OF_ACTIVATIONS, **own} if activations else own
    parts = []
    for table in sorted(tables, key=lambda table: (table.thread or 0, table.id)):
        if written[table.id]:
            has = {column.name for column in table.columns}
            absent = "0" if activations else "NULL"
            chosen = [
                _chosen(column, kind, there=column in has, absent=absent) for column, kind in columns.items()
            ]
            parts.append(
                f"SELECT {_owner(name, table)}{', '.join(chosen)} FROM {scan(database, *written[table.id])}"
            )
    if not parts:
        chosen = [_chosen(column, kind, there=False) for column, kind in columns.items()]
        parts.append(f"SELECT {_owner(name, None)}{', '.join(chosen)} LIMIT 0")
    with written_beside(target) as beside:
        database.execute(copy_to(beside, " UNION ALL ".join(parts), PARQUET))
    made_here(target)


def _chosen(column: str, kind: str, *, there: bool, absent: str = "0") -> str:
    return f'{f"{chr(34)}{column}{chr(34)}" if there else absent}::{SQL_TYPE[kind]} AS "{column}"'


def _owner(name: str, table: StreamTable | None) -> str:
    """The thread and CPU of the rows, for tables of activations."""
    if name != ACTIVATIONS:
        return ""
    thread = table.thread if table is not None and table.thread is not None else 0
    cpu = table.cpu if table is not None and table.cpu is not None else -1
    return f"{thread}::INTEGER AS thread, {cpu}::INTEGER AS cpu, "


def _cell(reader: Recording, audits: Mapping[int, TableAudit]) -> dict[str, Any]:
    """cell.json: everything in the stream besides rows, and the result of the check of its rows."""
    assert reader.end is not None
    claims = _claims(reader.trailer)
    accounts, problems = [], []
    for number, audit in audits.items():
        claimed = claims.get(number)
        if reader.trailer is not None and claimed is None:
            problems.append(f"the trailer has no account of table {number}")
        accounts.append(
            {
                "table": number,
                "thread": audit.table.thread or 0,
                "cpu": -1 if audit.table.cpu is None else audit.table.cpu,
                **audit.account(claimed),
            }
        )
        problems += audit.problems(claimed)
    end = reader.end
    return {
        "schema": 1,
        "header": dict(reader.header.raw),
        "trailer": None if reader.trailer is None else dict(reader.trailer),
        "end": {"kind": end.kind.value, "at": end.at, "reason": end.reason},
        "accounting": accounts,
        "problems": [*reader.header.raw.get(CONTRADICTIONS, ()), *problems],
        **{name: reader.header.raw[name] for name in (KNOWN,) if name in reader.header.raw},
    }


def _claims(trailer: Mapping[str, Any] | None) -> dict[int, Mapping[str, Any]]:
    entries = trailer.get("accounting") if trailer is not None else None
    if not isinstance(entries, list):
        return {}
    return {
        entry["table"]: entry
        for entry in entries
        if isinstance(entry, dict) and isinstance(entry.get("table"), int)
    }
