"""The probe's stream, decoded and encoded (docs/stream.md).

Strict: every frame's checksum, sizes and totals are checked. Tolerant: a stream that was cut or altered gives
its whole frames up to that place, and `StreamReader.end` says where and why it stopped. Bounded: one frame is
in memory at a time. Nothing but DamagedError is raised for what a file may hold.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from howlate.errors import DamagedError
from howlate.store.frames import (
    BATCH,
    HEADER,
    MAGIC,
    NO_TRAILER,
    TRAILER,
    End,
    Frame,
    Kind,
    encode_frame,
    read_frames,
)

__all__ = ["Batch", "Column", "End", "Header", "Kind", "StreamReader", "StreamWriter", "Table", "Totals"]

VERSION = 1
TYPES: Mapping[str, np.dtype[Any]] = {"i64": np.dtype("<i8"), "i32": np.dtype("<i4"), "u8": np.dtype("u1")}
_BATCH_HEAD = struct.Struct("<IIqqqq")
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True)
class Column:
    """One column of a table; its name carries its unit."""

    name: str
    type: str
    """i64, i32 or u8."""
    help: str = ""


@dataclass(frozen=True)
class Table:
    """One table of the stream: `samples` of one measuring thread, `cpus`, `loads`."""

    id: int
    name: str
    columns: tuple[Column, ...]
    cpu: int | None = None
    """The CPU that the thread was pinned to; None (or -1 in the stream) where it is not pinned or the table
    is no thread's."""
    thread: int | None = None

    def row_bytes(self) -> int:
        """Bytes of one row without padding."""
        return sum(TYPES[column.type].itemsize for column in self.columns)


@dataclass(frozen=True)
class Header:
    """The stream's first frame."""

    raw: Mapping[str, Any]
    """As it stands there: parameters, in_force, facts and whatever later probes add."""
    test: str
    t0_ns: int
    tables: tuple[Table, ...]

    def table(self, table_id: int) -> Table | None:
        """The table of that number, or None."""
        return next((table for table in self.tables if table.id == table_id), None)


@dataclass(frozen=True)
class Totals:
    """The account of one table up to and including a batch's last row."""

    rows_total: int
    releases: int
    overruns: int
    dropped: int


@dataclass(frozen=True)
class Batch:
    """Rows of one table, a read-only array a column."""

    table: Table
    rows: int
    totals: Totals
    columns: Mapping[str, npt.NDArray[Any]]


class StreamReader:
    """Reads a stream once, from its beginning to where it ends.

    >>> with StreamReader.open(path) as stream:
    ...     for batch in stream.batches():
    ...         use(batch.columns["latency_ns"])
    ...     stream.trailer, stream.end          # known once the batches are through
    """

    def __init__(self, file: BinaryIO, name: str = "the stream") -> None:
        """Reads magic and header; DamagedError if there is no whole header (then there is nothing to be
        had)."""
        self._file = file
        self._name = name
        self.trailer: Mapping[str, Any] | None = None
        self.end: End | None = None
        self.header = self._read_header()

    @classmethod
    def open(cls, path: Path) -> StreamReader:
        """The stream in a file; DamagedError if it cannot be opened."""
        try:
            file = path.open("rb")
        except OSError as error:
            raise DamagedError(
                f"{path} cannot be read: {error.strerror or error}", "measure this cell again"
            ) from None
        try:
            return cls(file, str(path))
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> StreamReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def batches(self) -> Iterator[Batch]:
        """Every whole batch up to the trailer, the cut or the damage; afterwards `end` (and `trailer`) are
        set."""
        rows: dict[int, int] = {}
        try:
            for item in self._frames:
                if isinstance(item, End):
                    self.end = item
                    return
                if item.kind == TRAILER:
                    self._take_trailer(item)
                    return
                batch = self._batch(item, rows.get(item.table, 0))
                if isinstance(batch, str):
                    self.end = End(Kind.DAMAGED, item.at, batch)
                    return
                rows[item.table] = batch.totals.rows_total
                yield batch
        except OSError as error:
            at = self.end.at if self.end else len(MAGIC)
            self.end = End(Kind.DAMAGED, at, f"the file cannot be read on: {error.strerror or error}")

    def _read_header(self) -> Header:
        try:
            magic = self._file.read(len(MAGIC))
            if magic != MAGIC:
                raise self._damaged(_magic_fault(magic))
            self._frames = read_frames(self._file)
            first = next(self._frames)
        except OSError as error:
            raise self._damaged(f"cannot be read: {error.strerror or error}") from None
        if isinstance(first, End):
            raise self._damaged(f"has no whole header: {first.reason}")
        if first.kind != HEADER:
            raise self._damaged("does not begin with a header")
        value = _json_object(first.payload)
        if isinstance(value, str):
            raise self._damaged(f"has a header that is {value}")
        header = _decode_header(value)
        if isinstance(header, str):
            raise self._damaged(f"has a header that cannot be used: {header}")
        return header

    def _damaged(self, what: str) -> DamagedError:
        return DamagedError(f"{self._name} {what}", "measure this cell again: nothing of it can be read")

    def _take_trailer(self, frame: Frame) -> None:
        value = _json_object(frame.payload)
        if isinstance(value, str):
            self.end = End(Kind.DAMAGED, frame.at, f"the trailer is {value}")
            return
        self.trailer = value
        behind = next(self._frames)
        if isinstance(behind, End) and behind.reason == NO_TRAILER:
            self.end = End(Kind.WHOLE, behind.at, "whole")
        else:
            self.end = End(Kind.DAMAGED, behind.at, "something stands behind the trailer")

    def _batch(self, frame: Frame, rows_before: int) -> Batch | str:
        """The batch, or the sentence that says why it is none."""
        if frame.kind == HEADER:
            return "a second header"
        if frame.kind != BATCH:
            return f"a frame of the unknown kind {frame.kind}"
        table = self.header.table(frame.table)
        if table is None:
            return f"a batch of table {frame.table}, which the header does not have"
        if len(frame.payload) < _BATCH_HEAD.size:
            return "a batch too short for its totals"
        rows, zero, *totals = _BATCH_HEAD.unpack_from(frame.payload)
        if zero != 0:
            return "a batch whose reserved word is not zero"
        if len(frame.payload) != _batch_bytes(table, rows):
            return f"a batch of {rows} rows of {table.name} that is {len(frame.payload)} bytes long"
        account = Totals(*totals)
        if account.rows_total != rows_before + rows:
            return f"rows are missing in table {table.id}: {rows_before} + {rows} is not {account.rows_total}"
        return Batch(table, rows, account, _columns(table, rows, frame.payload))


class StreamWriter:
    """Encodes a stream, for tests, the fake target and benchmarks; the real ones are the probe's.

    `write` is given whole frames' bytes, in order.
    """

    def __init__(self, file: BinaryIO, header: Mapping[str, Any]) -> None:
        """Writes magic and header; ValueError if the header is not one."""
        decoded = _decode_header(header)
        if isinstance(decoded, str):
            raise ValueError(decoded)
        self.header = decoded
        self._file = file
        self._rows: dict[int, int] = {}
        file.write(MAGIC + encode_frame(HEADER, 0, _json_bytes(header)))

    def batch(
        self,
        table_id: int,
        columns: Mapping[str, npt.ArrayLike],
        *,
        releases: int = 0,
        overruns: int = 0,
        dropped: int = 0,
    ) -> None:
        """One batch: every column of the table, equally long; the totals are those up to its last row."""
        table = self.header.table(table_id)
        if table is None:
            raise ValueError(f"the header has no table {table_id}")
        arrays = [np.asarray(columns[column.name]) for column in table.columns]
        rows = len(arrays[0])
        total = self._rows.get(table_id, 0) + rows
        parts = [_BATCH_HEAD.pack(rows, 0, total, releases, overruns, dropped)]
        for column, array in zip(table.columns, arrays, strict=True):
            if array.shape != (rows,):
                raise ValueError(f"column {column.name} has not the {rows} rows of the others")
            data = array.astype(TYPES[column.type]).tobytes()
            parts += [data, bytes(-len(data) % 8)]
        self._rows[table_id] = total
        self._file.write(encode_frame(BATCH, table_id, b"".join(parts)))

    def trailer(self, value: Mapping[str, Any]) -> None:
        """The last frame."""
        self._file.write(encode_frame(TRAILER, 0, _json_bytes(value)))


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def _magic_fault(magic: bytes) -> str:
    if len(magic) == len(MAGIC) and magic[:-1] == MAGIC[:-1]:
        return f"has format version {magic[-1]}, this howlate reads version {MAGIC[-1]}"
    if MAGIC.startswith(magic):
        return f"is cut after {len(magic)} bytes"
    return "is no stream of howlate-probe"


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _json_object(payload: bytes) -> dict[str, Any] | str:
    """The JSON object, or what it is instead."""
    try:
        value = json.loads(payload.decode("utf-8"), parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # 1e999 and lone surrogates fail here
    except (ValueError, RecursionError):
        return "no JSON"
    return value if isinstance(value, dict) else "no JSON object"


def is_int(value: Any) -> bool:
    """A JSON integer that fits 64 bits (True is none)."""
    return isinstance(value, int) and not isinstance(value, bool) and value in _INT64


def _decode_header(value: Mapping[str, Any]) -> Header | str:
    """The header, or the sentence that says what is wrong with it."""
    if value.get("stream") != VERSION or isinstance(value.get("stream"), bool):
        return f"it is of stream version {value.get('stream')!r:.40}, this howlate reads {VERSION}"
    test, t0_ns, tables = value.get("test"), value.get("t0_ns"), value.get("tables")
    if not isinstance(test, str) or not test:
        return "it names no test"
    if not is_int(t0_ns):
        return "its t0_ns is no integer"
    if not isinstance(tables, list):
        return "it lists no tables"
    for name in ("parameters", "in_force", "facts"):
        if not isinstance(value.get(name, {}), dict):
            return f"its {name} is no object"
    decoded: list[Table] = []
    for entry in tables:
        table = _decode_table(entry)
        if isinstance(table, str):
            return table
        decoded.append(table)
    if len({table.id for table in decoded}) != len(decoded):
        return "two tables have one number"
    return Header(value, test, int(t0_ns), tuple(decoded))  # type: ignore[arg-type]  # is_int has looked


def _decode_table(entry: Any) -> Table | str:
    if not isinstance(entry, dict):
        return "a table is no object"
    number, name, columns = entry.get("id"), entry.get("name"), entry.get("columns")
    if not is_int(number) or not 0 <= number < 2**16:  # type: ignore[operator]
        return "a table has no number below 65536"
    if not isinstance(name, str) or not name:
        return "a table has no name"
    if not isinstance(columns, list) or not columns:
        return f"table {name:.40} has no columns"
    decoded: list[Column] = []
    for column in columns:
        if not isinstance(column, dict) or not isinstance(column.get("name"), str):
            return f"a column of table {name:.40} has no name"
        if not isinstance(column.get("type"), str) or column["type"] not in TYPES:
            return f"a column of table {name:.40} is of no known type"
        decoded.append(Column(column["name"], column["type"], str(column.get("help", ""))))
    if len({column.name for column in decoded}) != len(decoded):
        return f"two columns of table {name:.40} have one name"
    for key in ("cpu", "thread"):
        if entry.get(key) is not None and not (is_int(entry[key]) and -1 <= entry[key] < 2**31):
            return f"the {key} of table {name:.40} is no number"
    return Table(number, name, tuple(decoded), _number(entry.get("cpu")), _number(entry.get("thread")))  # type: ignore[arg-type]


def _number(value: int | None) -> int | None:
    return None if value is None or value < 0 else value


def _batch_bytes(table: Table, rows: int) -> int:
    return _BATCH_HEAD.size + sum(
        rows * width + -(rows * width) % 8
        for width in (TYPES[column.type].itemsize for column in table.columns)
    )


def _columns(table: Table, rows: int, payload: bytes) -> dict[str, npt.NDArray[Any]]:
    columns: dict[str, npt.NDArray[Any]] = {}
    at = _BATCH_HEAD.size
    for column in table.columns:
        kind = TYPES[column.type]
        columns[column.name] = np.frombuffer(payload, kind, rows, at)
        at += rows * kind.itemsize + -(rows * kind.itemsize) % 8
    return columns
