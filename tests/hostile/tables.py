"""Forges a cell's samples.parquet: each kind is a file that howlate's own writer would never make."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import duckdb

Change = Callable[[Path], None]
PARQUET = "FORMAT parquet, COMPRESSION zstd"
COLUMNS = ("thread", "cpu", "release", "release_ns", "latency_ns", "response_ns", "flags")
"""Those of activations; `release` numbers the rows."""
OTHER_TYPES = {
    "text": "'x'",
    "digits": "'1'",
    "nan": "'nan'::DOUBLE",
    "real": "1.5::DOUBLE",
    "null": "NULL::BIGINT",
    "decimal": "1.5::DECIMAL(9, 1)",
    "huge": "1::HUGEINT",
    "unsigned": "18446744073709551615::UBIGINT",
    "truth": "true",
    "time": "TIMESTAMP '2026-01-01'",
    "list": "[1, 2]",
    "struct": "{'a': 1}",
    "map": "MAP {'a': 1}",
    "bytes": "'x'::BLOB",
}
OUT_OF_RANGE = {
    "lowest": "(-9223372036854775808)::BIGINT",
    "highest": "9223372036854775807::BIGINT",
    "minus one": "(-1)::BIGINT",
}


def _rewritten(path: Path, query: str, options: str = "") -> None:
    """`{}` in the query is the table as it is. In place: the folder is sealed anew by the caller."""
    beside = path.with_suffix(".forged")
    with duckdb.connect() as database:
        rows = query.replace("{}", f"read_parquet('{path}')")
        database.execute(f"COPY ({rows}) TO '{beside}' ({PARQUET}{options})")
    beside.replace(path)


def _rows(many: int, **others: str) -> str:
    """A table of so many rows, nearly all of which compress to nothing."""
    values = {
        "thread": "0::INTEGER",
        "cpu": "0::INTEGER",
        "release": "range",
        "release_ns": "range * 1000000",
        "latency_ns": "1000::BIGINT",
        "response_ns": "0::BIGINT",
        "flags": "0::UTINYINT",
    } | others
    columns = ", ".join(f"{value} AS {name}" for name, value in values.items())
    return f"SELECT {columns} FROM range({many})"


def _varint(value: int) -> bytes:
    """A whole number as the footer has it."""
    rest, found = value << 1 if value >= 0 else (-value << 1) - 1, bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*found, rest])


def _footer(path: Path, change: Callable[[bytes], bytes]) -> None:
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = change(data[-8 - length : -8])
    path.write_bytes(data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def _counted(path: Path, rows: int, every: bool) -> None:
    """The footer says another number of rows: all of the file, or of the file, its row groups and columns."""
    with duckdb.connect() as database:
        own = database.execute(f"SELECT count(*) FROM read_parquet('{path}')").fetchone()
    assert own
    _footer(path, lambda footer: footer.replace(_varint(own[0]), _varint(rows), -1 if every else 1))


def _stated(path: Path, column: str, lowest: int, highest: int) -> None:
    """The footer says that the column's values lie between these."""
    with duckdb.connect() as database:
        query = f"SELECT min({column}), max({column}) FROM read_parquet('{path}')"
        own = database.execute(query).fetchone()
    assert own

    def change(footer: bytes) -> bytes:
        for was, now in zip(own, (lowest, highest), strict=True):
            for width in (4, 8):
                if -(2 ** (8 * width - 1)) <= now < 2 ** (8 * width - 1):
                    old, new = (number.to_bytes(width, "little", signed=True) for number in (was, now))
                    footer = footer.replace(old, new)
        return footer

    _footer(path, change)


def _value_end(data: bytes, at: int, kind: int) -> int:
    """Where a value of the footer ends."""
    if kind in (1, 2):
        return at
    if kind == 3:
        return at + 1
    if kind in (4, 5, 6):
        while data[at] & 0x80:
            at += 1
        return at + 1
    if kind == 7:
        return at + 8
    if kind == 8:
        length, at = _size(data, at)
        return at + length
    if kind in (9, 10):
        count, inner, at = _list(data, at)
        for _ in range(count):
            at = at + 1 if inner in (1, 2) else _value_end(data, at, inner)
        return at
    assert kind == 12
    return [end for *_, end in _fields(data, at)][-1] + 1 if data[at] else at + 1


def _size(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def _list(data: bytes, at: int) -> tuple[int, int, int]:
    count, inner = data[at] >> 4, data[at] & 15
    if count == 15:
        count, end = _size(data, at + 1)
        return count, inner, end
    return count, inner, at + 1


def _fields(data: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """Number, first byte of the value and the byte behind it, of each member of a structure."""
    number = 0
    while data[at]:
        kind, step = data[at] & 15, data[at] >> 4
        at += 1
        if step:
            number += step
        else:
            number, at = _size(data, at)
            number = number >> 1
        end = _value_end(data, at, kind)
        yield number, at, end
        at = end


def _repeated(path: Path, times: int) -> None:
    """The footer lists the same row groups again and again."""

    def change(footer: bytes) -> bytes:
        at, end = next((at, end) for number, at, end in _fields(footer, 0) if number == 4)
        count, inner, first = _list(footer, at)
        many, size = count * times, bytearray()
        while many > 0x7F:
            size.append(many & 0x7F | 0x80)
            many >>= 7
        head = bytes([0xF0 | inner, *size, many])
        return footer[:at] + head + footer[first:end] * times + footer[end:]

    _footer(path, change)


def _grown(path: Path, rows: int, times: int) -> None:
    _rewritten(path, _rows(rows), f", ROW_GROUP_SIZE {rows}")
    _repeated(path, times)


def _kinds() -> Iterator[tuple[str, Change]]:
    for column in ("latency_ns", "thread", "release", "flags"):
        for name, value in OTHER_TYPES.items():
            yield (
                f"{column}: {name}",
                partial(_rewritten, query=f"SELECT * REPLACE ({value} AS {column}) FROM {{}}"),
            )
        yield f"{column}: gone", partial(_rewritten, query=f"SELECT * EXCLUDE ({column}) FROM {{}}")
        yield (
            f"{column}: one row is empty",
            partial(
                _rewritten,
                query=f"SELECT * REPLACE (CASE WHEN release = 7 THEN NULL ELSE {column} END AS {column}) FROM {{}}",
            ),
        )
    for column in ("latency_ns", "thread", "release", "release_ns", "flags", "cpu"):
        for name, value in OUT_OF_RANGE.items():
            query = f"SELECT * REPLACE ({value} AS {column}) FROM {{}}"
            yield f"{column}: {name}", partial(_rewritten, query=query)
            query = f"SELECT * REPLACE (CASE WHEN release = 7 THEN {value} ELSE {column} END AS {column}) FROM {{}}"
            yield f"{column}: one {name}", partial(_rewritten, query=query)
    yield "no row", partial(_rewritten, query="SELECT * FROM {} LIMIT 0")
    yield "a column more", partial(_rewritten, query="SELECT *, 5::BIGINT AS more_ns FROM {}")
    yield "a column of texts more", partial(_rewritten, query="SELECT *, 'x' AS more FROM {}")
    yield (
        "a name that a terminal obeys",
        partial(_rewritten, query='SELECT *, 5::BIGINT AS "a\x1b[2J\nb_ns" FROM {}'),
    )
    yield "a name of SQL", partial(_rewritten, query='SELECT *, 5::BIGINT AS "1); SELECT (_ns" FROM {}')
    yield "a long name", partial(_rewritten, query=f'SELECT *, 5::BIGINT AS "{"x" * 100_000}_ns" FROM {{}}')
    many = ", ".join(f"{number}::BIGINT AS c{number}_ns" for number in range(2_000))
    yield "many columns", partial(_rewritten, query=f"SELECT *, {many} FROM {{}}")
    text = "repeat('x', 1000000) AS more"
    yield "texts of 2 GB", partial(_rewritten, query=f"SELECT *, {text} FROM {{}}")
    yield (
        "texts of 2 GB in place",
        partial(_rewritten, query="SELECT * REPLACE (repeat('x', 1000000) AS latency_ns) FROM {}"),
    )
    yield (
        "many rows of little",
        partial(_rewritten, query=_rows(30_000_000), options=", ROW_GROUP_SIZE 1000000"),
    )
    yield (
        "one row group of many rows",
        partial(_rewritten, query=_rows(10_000_000), options=", ROW_GROUP_SIZE 10000000"),
    )
    yield "row groups that are listed often", partial(_grown, rows=1_000_000, times=3_000)
    for rows in (0, 1, 1_999, 10**6, 10**12, -5):
        yield f"the footer says {rows} rows", partial(_counted, rows=rows, every=False)
        yield f"the whole footer says {rows} rows", partial(_counted, rows=rows, every=True)
    for column in ("latency_ns", "thread", "flags", "release", "cpu"):
        for low, high in ((0, 0), (-(2**31), 2**31 - 1), (5, 6), (9, 3)):
            yield (
                f"the footer says {column} is {low} to {high}",
                partial(_stated, column=column, lowest=low, highest=high),
            )


FORGED_TABLES: dict[str, Change] = dict(_kinds())
