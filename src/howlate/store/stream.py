"""The probe's stream, decoded (docs/stream.md).

Strict: every frame's checksum, sizes and totals are checked. Tolerant: a stream that was cut or altered gives
its whole frames up to that place, and `StreamReader.end` says where and why it stopped. Bounded: one frame is
in memory at a time. Whatever a file contains, only DamagedError is raised.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.errors import REMEDIED, DamagedError
from howlate.model.decode import IN_FILE, UNREADABLE, Table, json_value, twice
from howlate.store.files import remedied
from howlate.store.frames import (
    BATCH,
    CUT,
    HEADER,
    MAGIC,
    NO_TRAILER,
    TRAILER,
    WHOLE,
    WRONG_FRAME,
    End,
    EndKind,
    Frame,
    read_frames,
)
from howlate.system.opening import is_in_run, open_file
from howlate.words.statement import Statement, message

NO_STREAM = message("stream.no-stream", "the file is not a stream of howlate-probe")
OTHER_FORMAT = message(
    "stream.other-format", "the stream has version {version}, and this howlate reads version {known}"
)

VERSION = 1
TYPES: Mapping[str, np.dtype[Any]] = {"i64": np.dtype("<i8"), "i32": np.dtype("<i4"), "u8": np.dtype("u1")}
BATCH_HEAD = struct.Struct("<IIqqqq")
_INT64 = range(-(2**63), 2**63)
_MEASURE_AGAIN = "measure this cell again: nothing of it can be read"


class StreamColumn(Struct, frozen=True):
    """One column of a table; its name carries its unit."""

    name: str
    type: str
    """i64, i32 or u8."""
    help: str = ""


class StreamTable(Struct, frozen=True):
    """One table of the stream: `samples` of one measuring thread, `cpus`, `loads`."""

    id: int
    name: str
    columns: tuple[StreamColumn, ...]
    cpu: int | None = None
    """The CPU to which the thread was pinned; None (or -1 in the stream) if it is not pinned or the table
    belongs to no thread."""
    thread: int | None = None

    def row_bytes(self) -> int:
        """Bytes of one row without padding."""
        return sum(TYPES[column.type].itemsize for column in self.columns)


class Header(Struct, frozen=True):
    """The stream's first frame."""

    raw: Mapping[str, Any]
    """As in the stream: parameters, in_force, facts and whatever later probes add."""
    test: str
    t0_ns: int
    tables: tuple[StreamTable, ...]

    def table(self, table_id: int) -> StreamTable | None:
        return next((table for table in self.tables if table.id == table_id), None)


class Totals(Struct, frozen=True):
    """The account of one table up to and including a batch's last row."""

    rows_total: int
    releases: int
    overruns: int
    dropped: int


class Batch(Struct, frozen=True):
    """Rows of one table, as one read-only array for each column."""

    table: StreamTable
    rows: int
    totals: Totals
    columns: Mapping[str, npt.NDArray[Any]]


class Recording(Protocol):
    """What a cell is made of: the probe's stream, or the file of another tool, read once from its beginning."""

    @property
    def header(self) -> Header: ...

    def batches(self) -> Iterator[Batch]:
        """Afterwards `trailer` and `end` are known."""
        ...

    @property
    def trailer(self) -> Mapping[str, Any] | None: ...

    @property
    def end(self) -> End | None: ...


class StreamReader:
    """Reads a stream once, from its beginning to where it ends.

    >>> with StreamReader.open(path) as stream:
    ...     for batch in stream.batches():
    ...         use(batch.columns["latency_ns"])
    ...     stream.trailer, stream.end          # known once the batches are through
    """

    def __init__(self, file: BinaryIO, name: str = "the stream") -> None:
        """Read magic and header; DamagedError if there is no whole header (then nothing can be read)."""
        self._file = file
        self._name = name
        self.trailer: Mapping[str, Any] | None = None
        self.end: End | None = None
        self.header = self._read_header()

    @classmethod
    def open(cls, path: Path) -> StreamReader:
        """Open the stream in a file; DamagedError if it cannot be opened."""
        with _reading(str(path)):
            file = open_file(path, links=not is_in_run(path))
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
                if isinstance(batch, Statement):
                    self.end = End(EndKind.DAMAGED, item.at, batch)
                    return
                rows[item.table] = batch.totals.rows_total
                yield batch
        except OSError as error:
            at = self.end.at if self.end else len(MAGIC)
            self.end = End(EndKind.DAMAGED, at, UNREADABLE(path=self._name, reason=error.strerror or error))

    def _read_header(self) -> Header:
        with remedied(_MEASURE_AGAIN):
            value = self._first_object()
            if isinstance(value, Statement):
                raise DamagedError(IN_FILE(file=self._name, problem=value))
            return decode_header(Table(value, self._name, "header", DamagedError))

    def _first_object(self) -> dict[str, Any] | Statement:
        """The JSON object of the first frame, or why there is none."""
        with _reading(self._name):
            magic = self._file.read(len(MAGIC))
            if magic != MAGIC:
                return _magic_fault(magic)
            self._frames = read_frames(self._file)
            first = next(self._frames)
        if isinstance(first, End):
            return first.statement
        return _json_object(first, HEADER)

    def _take_trailer(self, frame: Frame) -> None:
        value = _json_object(frame, TRAILER)
        if isinstance(value, Statement):
            self.end = End(EndKind.DAMAGED, frame.at, value)
            return
        self.trailer = value
        behind = next(self._frames)
        if isinstance(behind, End) and behind.statement == NO_TRAILER():
            self.end = End(EndKind.WHOLE, behind.at, WHOLE())
        else:
            self.end = End(EndKind.DAMAGED, behind.at, WRONG_FRAME(part="place", given="behind the trailer"))

    def _batch(self, frame: Frame, rows_before: int) -> Batch | Statement:
        """The batch, or why it is invalid."""
        if frame.kind != BATCH:
            return WRONG_FRAME(part="kind", given=frame.kind)
        table, length = self.header.table(frame.table), len(frame.payload)
        if table is None:
            return WRONG_FRAME(part="table", given=frame.table)
        if length < BATCH_HEAD.size:
            return WRONG_FRAME(part="length", given=length)
        rows, zero, *totals = BATCH_HEAD.unpack_from(frame.payload)
        if zero != 0:
            return WRONG_FRAME(part="reserved word", given=zero)
        if length != _batch_bytes(table, rows):
            return WRONG_FRAME(part="length", given=length)
        account = Totals(*totals)
        if account.rows_total != rows_before + rows:
            return WRONG_FRAME(part="number of rows", given=account.rows_total)
        return Batch(table, rows, account, _columns(table, rows, frame.payload))


def _magic_fault(magic: bytes) -> Statement:
    if len(magic) == len(MAGIC) and magic[:-1] == MAGIC[:-1]:
        return OTHER_FORMAT(version=magic[-1], known=MAGIC[-1])
    return CUT(bytes=len(magic), length=len(MAGIC)) if MAGIC.startswith(magic) else NO_STREAM()


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn the system's error inside into a DamagedError."""
    try:
        yield
    except OSError as error:
        problem = UNREADABLE(path=name, reason=error.strerror or error)
        raise DamagedError(REMEDIED(problem=problem, remedy=_MEASURE_AGAIN)) from None


def _json_object(frame: Frame, kind: int) -> dict[str, Any] | Statement:
    if frame.kind != kind:
        return WRONG_FRAME(part="kind", given=frame.kind)
    try:
        value = json_value(frame.payload)
    except ValueError as error:
        return WRONG_FRAME(part="JSON", given=error)
    return value if isinstance(value, dict) else WRONG_FRAME(part="JSON", given="no object")


def is_int(value: Any) -> bool:
    """A JSON integer of 64 bits (True is not one)."""
    return isinstance(value, int) and not isinstance(value, bool) and value in _INT64


def decode_header(header: Table) -> Header:
    """The header; DamagedError says what is wrong with it."""
    version = header.values.get("stream")
    if version != VERSION or isinstance(version, bool):
        raise header.fail(OTHER_FORMAT(version=f"{version!r:.40}", known=VERSION))
    test, t0_ns = header.text("test"), header.integer("t0_ns")
    if not test:
        raise header.wrong("test", "the name of a test", "")
    if t0_ns not in _INT64:
        raise header.wrong("t0_ns", "a number of 64 bits", "")
    for name in ("parameters", "in_force", "facts"):
        header.mapping(name)
    tables = tuple(map(_decode_table, header.tables("tables", required=True)))
    _unlike(header, "table", [str(table.id) for table in tables])
    return Header(header.values, test, t0_ns, tables)


def _decode_table(table: Table) -> StreamTable:
    number, name = table.integer("id"), table.text("name")
    if not 0 <= number < 2**16:
        raise table.wrong("id", "a number of 16 bits", "")
    if not name:
        raise table.wrong("name", "the name of a table", "")
    columns = tuple(map(_decode_column, table.tables("columns")))
    if not columns:
        raise table.wrong("columns", "a list of columns", "", "empty")
    _unlike(table, "column", [column.name for column in columns])
    cpu, thread = (_number(table, key) for key in ("cpu", "thread"))
    return StreamTable(number, name, columns, cpu, thread)


def _unlike(table: Table, what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise table.fail(twice(what, name[:40], ""))


def _decode_column(column: Table) -> StreamColumn:
    name, kind = column.text("name"), column.text("type")
    if kind not in TYPES:
        raise column.wrong("type", "i64, i32 or u8", "")
    return StreamColumn(name, kind, str(column.values.get("help", "")))


def _number(table: Table, key: str) -> int | None:
    """A CPU or a thread; None if the table belongs to none."""
    if table.values.get(key) is None:
        return None
    number = table.integer(key)
    if not -1 <= number < 2**31:
        raise table.wrong(key, "a number of 32 bits", "")
    return None if number < 0 else number


def _batch_bytes(table: StreamTable, rows: int) -> int:
    return BATCH_HEAD.size + sum(
        rows * width + -(rows * width) % 8
        for width in (TYPES[column.type].itemsize for column in table.columns)
    )


def _columns(table: StreamTable, rows: int, payload: bytes) -> dict[str, npt.NDArray[Any]]:
    columns: dict[str, npt.NDArray[Any]] = {}
    at = BATCH_HEAD.size
    for column in table.columns:
        kind = TYPES[column.type]
        columns[column.name] = np.frombuffer(payload, kind, rows, at)
        at += rows * kind.itemsize + -(rows * kind.itemsize) % 8
    return columns
