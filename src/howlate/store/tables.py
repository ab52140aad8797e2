"""The limits of a table's file. Whoever wrote it may have forged it: before anything is read of a Parquet file, its
footer must be such as howlate writes, and before figures are made of activations, their rows too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import numpy as np

from howlate.model.columns import FLAGS, INDICES, RELEASE, SAMPLES, TIMES
from howlate.system.opening import open_file

COLUMNS_MAX = 256
FOOTER_BYTES_MAX = 32 << 20
"""A file of a billion rows has a third of it."""
GROUP_ROWS_MAX = 1 << 18
"""In a row group, twice as many as DuckDB writes: it holds some of them in memory at once."""
ROWS_FREE, ROWS_PER_BYTE = 2_000_000, 16
"""Measured times do not compress to nothing: a file with more rows than the first number has at most the
second for each byte."""
CHUNK_BYTES_MAX = 16 * GROUP_ROWS_MAX
"""Of one column in a row group, unpacked: twice its values, as if each were a number of 64 bits."""
THREADS_MAX, CPUS_MAX, RELEASES_MAX, TIME_NS_MAX = 1 << 31, 1 << 20, 1 << 53, 1 << 62

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
_WHOLE = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"))
_TAIL = 8
"""The footer's length, and the mark at the file's end."""
_CHUNKS = (
    "SELECT row_group_id, row_group_num_rows, num_values, total_uncompressed_size, "
    "least(data_page_offset, coalesce(nullif(dictionary_page_offset, 0), data_page_offset)) AS begin, "
    "total_compressed_size FROM parquet_metadata(?) ORDER BY begin"
)


def footer_problem(database: duckdb.DuckDBPyConnection, path: Path) -> str:
    """What howlate's writer never makes, as the end of a sentence; "" if the footer is in order. DuckDB's errors
    where it is not a Parquet file, OSError where it is not a regular one."""
    with open_file(path) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        length = int.from_bytes(file.read(4), "little")
    if length > FOOTER_BYTES_MAX:
        return f"its footer has {length:,} bytes"
    name = re.sub(r"[*?\[]", lambda found: f"[{found[0]}]", str(path.absolute()))
    return _schema_problem(database, name) or _chunks_problem(database, name, size)


def _schema_problem(database: duckdb.DuckDBPyConnection, name: str) -> str:
    query = "SELECT name, num_children, repetition_type, duckdb_type FROM parquet_schema(?)"
    _root, *columns = database.execute(query, [name]).fetchall()
    if not 1 <= len(columns) <= COLUMNS_MAX:
        return f"it has {len(columns):,} columns"
    for number, (column, children, repetition, kind) in enumerate(columns, 1):
        if not _NAME.fullmatch(str(column)):
            return f"its column {number} has no name of howlate's"
        if children or repetition == "REPEATED" or kind not in _WHOLE:
            return f'its column "{column}" is not a whole number in every row'
    return ""


def _chunks_problem(database: duckdb.DuckDBPyConnection, name: str, size: int) -> str:
    query = "SELECT num_rows FROM parquet_file_metadata(?)"
    rows = int((database.execute(query, [name]).fetchone() or (0,))[0])
    if not 0 <= rows <= ROWS_FREE + ROWS_PER_BYTE * size:
        return f"its footer says {rows:,} rows, and the file has {size:,} bytes"
    chunks = database.execute(_CHUNKS, [name]).fetchnumpy().values()
    group, group_rows, values, unpacked, begin, packed = (np.ma.filled(chunk, -1) for chunk in chunks)
    counted = sum(group_rows[np.unique(group, return_index=True)[1]].tolist())
    if counted != rows:
        return f"its footer says {rows:,} rows, and its row groups have {counted:,}"
    wrong = (group_rows < 0) | (group_rows > GROUP_ROWS_MAX) | (values != group_rows)
    wrong |= (unpacked < 0) | (unpacked > CHUNK_BYTES_MAX) | (packed < 0) | (packed > size)
    wrong |= (begin < 0) | (begin > size - packed)
    if not wrong.any():
        wrong[1:] = begin[1:] < (begin + packed)[:-1]
    return f"its row group {int(group[wrong][0]) + 1:,} is not one of howlate's" if wrong.any() else ""


Extremes = tuple[int | None, int | None]
"""The smallest and the largest value of a column; None where it has none."""

LIMITS = {
    "thread": (0, THREADS_MAX),
    "cpu": (-1, CPUS_MAX),
    SAMPLES: (0, RELEASES_MAX),
    FLAGS: (0, 255),
    **dict.fromkeys(INDICES, (0, RELEASES_MAX)),
    **dict.fromkeys(TIMES, (-TIME_NS_MAX, TIME_NS_MAX)),
}
"""The values that a probe records."""


def extremes_in(
    database: duckdb.DuckDBPyConnection, source: str, columns: Sequence[str]
) -> tuple[dict[str, Extremes], list[str]]:
    """The extremes of these columns, in one pass over the rows, and the columns that lack a value in some row."""
    if not columns:
        return {}, []
    asked = ", ".join(f"count({column}), min({column}), max({column})" for column in columns)
    rows, *found = database.execute(f"SELECT count(*), {asked} FROM {source}").fetchone() or (0,)
    each = list(zip(columns, found[::3], found[1::3], found[2::3], strict=True))
    return {name: (low, high) for name, _, low, high in each}, [name for name, n, _, _ in each if n != rows]


def rows_problem(
    database: duckdb.DuckDBPyConnection, source: str, columns: Sequence[str], extremes: Mapping[str, Extremes]
) -> str:
    """What no probe records, as the end of a sentence; "" if the rows of this table are in order. `database` must not
    believe the footer's statistics."""
    for column, (least, most) in ((name, LIMITS[name]) for name in columns if name in LIMITS):
        for value in extremes[column]:
            if value is not None and not least <= value <= most:
                return f'its column "{column}" holds {value}'
    if not {"thread", RELEASE} <= set(columns):
        return ""
    behind = f"SELECT thread, {RELEASE}, lag(thread) OVER () AS other, lag({RELEASE}) OVER () AS last FROM {source}"
    breaks = f"other = thread AND last >= {RELEASE}"
    found = database.execute(f"SELECT thread FROM ({behind}) WHERE {breaks} LIMIT 1").fetchone()
    return "" if found is None else f"the releases of thread {found[0]} do not follow one another"
