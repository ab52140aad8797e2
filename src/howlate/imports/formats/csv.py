"""CSV: a sample a row, or, with a column of counts, a value a row. `--map` says which column is what:

--map latency_us=COLUMN: what was measured, named as its unit asks (_ns, _us, _ms, _s); several give several columns.
--map cpu=COLUMN, thread=COLUMN: who measured it. --map time_s=COLUMN (or _ns, _us, _ms): when.
--map count=COLUMN: how many samples the row stands for.

A column is named by the first line that has all these names, or by its number from 1. Fields stand between commas,
semicolons, tabs or blanks; lines that begin with # are left out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd
from pathlib import Path

import numpy as np
from msgspec import Struct, field

from howlate.imports.formats._foreign import Foreign, Raw, Rows, importer
from howlate.imports.formats._importer import not_imported
from howlate.imports.formats._text import ANY_NAME, MOST, UNITS, Line, bad_map, cut, head, lines
from howlate.model.columns import LATENCY, RESPONSE, SAMPLES
from howlate.model.knowledge import Knowledge
from howlate.store.ingest import ACTIVATIONS
from howlate.store.stream import StreamColumn, StreamTable

_MEASURED = re.compile(r"([a-z][a-z0-9_]{0,40})_(ns|us|ms|s)")
_DELIMITERS = ("\t", ";", ",")
BLANKS = " "
"""Any number of them, without any of the others."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.,][0-9]*)?(?:[eE][+-]?[0-9]{1,3})?")
_DECIMAL_COMMA = re.compile(r"-?[0-9]{1,18},[0-9]{1,18}(?:[eE][+-]?[0-9]{1,3})?")
PIECE = 50_000
MOST_THREADS = 8192


class Columns(Struct, frozen=True):
    """Where in a row what stands."""

    delimiter: str
    first: int
    """The line of the first row."""
    measured: Mapping[str, tuple[int, int]]
    """By the column's name in nanoseconds: its place, and the unit."""
    time: tuple[int, int] | None = None
    cpu: int | None = None
    thread: int | None = None
    count: int | None = None


class _Seen(Struct):
    threads: dict[tuple[int, int], int] = field(default_factory=dict)
    """Rows by thread and CPU."""
    begin: int | None = None
    last: dict[tuple[int, int], int] = field(default_factory=dict)
    divisors: list[int] = field(default_factory=list)
    """Of all values of each measured column, in nanoseconds."""

    def resolution_ns(self, units: Iterable[int]) -> int:
        """The coarsest step in which a column has its values: of its unit, or of the decimals that it has."""
        return max(min(step or unit, unit) for step, unit in zip(self.divisors, units, strict=True))


def recognises(path: Path) -> bool:
    """A name that says so, or names and then as many fields of which one is a number."""
    rows = [line for line in head(path).splitlines() if line.strip() and not _is_comment(line)]
    first, second = [*rows, "", ""][:2]
    delimiter = _delimiter(first)
    fields = [field.strip() for field in second.split(delimiter)]
    alike = len(fields) == len(first.split(delimiter)) > 1 and any(map(_is_number, fields))
    named = path.suffix in (".csv", ".tsv")
    return (
        delimiter != BLANKS and delimiter in first and (named or (alike and not _is_number(first[:1])))
    ) or (named and _is_number(second.strip()))


def _is_comment(line: str) -> bool:
    return line.startswith("#")


def _delimiter(line: str) -> str:
    """A tab or a semicolon if there is one: commas are then those of decimals, as they are where all words between
    blanks are numbers."""
    for delimiter in _DELIMITERS:
        if delimiter in line:
            words = line.split()
            alone = delimiter == "," and len(words) > 1 and all(map(_is_number, words))
            return BLANKS if alone else delimiter
    return BLANKS


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    columns = _columns(path, mapping)
    seen = _look(path, columns)
    keys = {key: number for number, key in enumerate(sorted(seen.threads))}
    if not keys:
        raise cut(path, columns.first, "it has no row of samples")
    names = [*(["index", "time_ns"] if columns.time else ["index"]), *columns.measured]
    if columns.count is not None:
        names = [*columns.measured, SAMPLES]
    specs = tuple(StreamColumn(name, "i64") for name in names)
    numbered = len({thread for thread, _ in keys}) == len(keys)  # else a thread of its own for each CPU
    tables = [
        StreamTable(number, ACTIVATIONS, specs, None if cpu < 0 else cpu, thread if numbered else number)
        for (thread, cpu), number in keys.items()
    ]

    def rows() -> Iterator[tuple[int, Rows]]:
        return _rows(path, columns, keys, names, seen.begin or 0)

    return Foreign(
        path,
        "csv",
        _answers(columns.measured),
        raw=Raw(tables, rows, {keys[key]: count for key, count in seen.threads.items()}),
        known=Knowledge(
            time_order=columns.count is None,
            missed_releases=False,
            overflow=0 if columns.count is None else None,
            exact_max=columns.count is None,
            resolution_ns=seen.resolution_ns(unit for _, unit in columns.measured.values()),
        ),
    )


def _answers(measured: Iterable[str]) -> tuple[str, ...]:
    names = tuple(measured)
    return tuple(name for name in names if name in (LATENCY, RESPONSE)) or names


def _columns(path: Path, mapping: Mapping[str, str]) -> Columns:
    first, names, delimiter, titled = _titles(path, mapping)
    places: dict[str, int] = {}
    measured: dict[str, tuple[int, int]] = {}
    time = None
    for name, column in mapping.items():
        place = _place(path, name, column, names if titled else [], len(names))
        unit = _MEASURED.fullmatch(name)
        if name in ("cpu", "thread", "count"):
            places[name] = place
        elif unit is None:
            raise bad_map(name, column, "unknown name", f"write {WRITE}")
        elif unit[1] == "time":
            time = (place, UNITS[unit[2]])
        else:
            measured[f"{unit[1]}_ns"] = (place, UNITS[unit[2]])
    if not measured:
        shown = ", ".join(names[:20]) if titled else f"1 to {len(names)}"
        raise not_imported(
            path, "no column of latencies is named", f"write --map latency_us=COLUMN; the file has {shown}"
        )
    if time is not None and "count" in places:
        raise bad_map("count", mapping["count"], "rows with a time are samples", "leave one out")
    return Columns(delimiter, first + titled, measured, time, **places)


def _titles(path: Path, mapping: Mapping[str, str]) -> tuple[int, list[str], str, bool]:
    """The line that names the columns, its fields, what stands between them, and whether they are names: the first
    line that has all names of `--map`, else the first line."""
    columns = {column for column in mapping.values() if not column.isdecimal()}
    first = None
    for line in lines(path):
        if not line.text.strip() or _is_comment(line.text):
            continue
        delimiter = _delimiter(line.text)
        if first is not None and not columns & set(line.text.replace('"', delimiter).split(delimiter)):
            continue  # quick: no row of samples has a name
        names = [name.strip() for name in _fields(line, delimiter)]
        here = (line.number, names, delimiter, not all(map(_is_number, names)))
        first = first or here
        if columns <= set(names):
            return here
    if first is None:
        raise cut(path, 1, "it has no row")
    return first


def names_a_column(name: str) -> bool:
    return _MEASURED.fullmatch(name) is not None


WRITE = "latency_us=COLUMN, cpu=, thread=, time_s= or count="


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _place(path: Path, name: str, column: str, names: Sequence[str], width: int) -> int:
    if column in names:
        return names.index(column)
    if re.fullmatch(r"[0-9]{1,6}", column) and 1 <= int(column) <= width:
        return int(column) - 1
    known = ", ".join(names[:20]) or f"1 to {width}"
    raise bad_map(name, column, f"{path} does not have this column", f"the file has {known}")


def _fields(line: Line, delimiter: str) -> list[str]:
    if delimiter == BLANKS:
        return line.text.split()
    try:
        return next(csv.reader([line.text], delimiter=delimiter, strict=True), [])
    except csv.Error as problem:
        raise line.wrong(f"it is not CSV ({problem})") from None


Parsed = tuple[tuple[int, int], int, tuple[int, ...], int]
"""Thread and CPU, time, values, samples."""


def _parsed(path: Path, columns: Columns) -> Iterator[tuple[Line, Parsed]]:
    places = [place for place, _ in columns.measured.values()]
    others = (columns.cpu, columns.thread, columns.count, columns.time[0] if columns.time else None)
    most = max([*places, *(place for place in others if place is not None)])
    for line in lines(path):
        if line.number < columns.first or not line.text.strip() or _is_comment(line.text):
            continue
        words = _fields(line, columns.delimiter)
        if len(words) <= most:
            raise line.wrong(f"it has {len(words)} columns, and column {most + 1} is named")
        if not line.ended and line.number > columns.first:
            raise cut(path, line.number, "its last line is incomplete")
        words = [word.strip() for word in words]
        if columns.delimiter != ",":
            words = [word.replace(",", ".") if _DECIMAL_COMMA.fullmatch(word) else word for word in words]
        values = tuple(line.ns(words[place], unit) for place, unit in columns.measured.values())
        cpu = -1 if columns.cpu is None else line.whole(words[columns.cpu], "a CPU")
        thread = 0 if columns.thread is None else line.whole(words[columns.thread], "a thread")
        if cpu >= MOST_THREADS or thread >= 2**31:
            raise line.wrong(f"there is no CPU {cpu} or thread {thread}")
        time = 0 if columns.time is None else line.ns(words[columns.time[0]], columns.time[1])
        count = 1 if columns.count is None else line.whole(words[columns.count], "a count")
        yield line, ((thread, cpu), time, values, count)


def _look(path: Path, columns: Columns) -> _Seen:
    seen = _Seen(divisors=[0] * len(columns.measured))
    total = 0
    for line, (key, time, values, count) in _parsed(path, columns):
        seen.divisors = [gcd(step, value) for step, value in zip(seen.divisors, values, strict=True)]
        seen.threads[key] = seen.threads.get(key, 0) + count
        total += count
        if columns.time is not None:
            if time < seen.last.get(key, time):
                raise line.wrong("its time is before that of the row above it")
            seen.last[key] = time
            seen.begin = time if seen.begin is None else min(seen.begin, time)
        if total >= MOST or len(seen.threads) > MOST_THREADS:
            raise line.wrong("there are more samples or threads than there can be")
    return seen


def _rows(
    path: Path, columns: Columns, keys: Mapping[tuple[int, int], int], names: Sequence[str], begin: int
) -> Iterator[tuple[int, Rows]]:
    """In pieces: each thread's rows in their order."""
    waiting: dict[int, list[tuple[int, ...]]] = {}
    indices = dict.fromkeys(keys.values(), 0)
    held = 0

    def pieces() -> Iterator[tuple[int, Rows]]:
        for number, rows in waiting.items():
            values = np.array(rows, dtype=np.int64)
            yield number, {name: values[:, at] for at, name in enumerate(names)}
        waiting.clear()

    for _, (key, time, values, count) in _parsed(path, columns):
        number = keys[key]
        if columns.count is not None:
            row = (*values, count)
        else:
            row = (indices[number], *((time - begin,) if columns.time else ()), *values)
            indices[number] += 1
        if count:
            waiting.setdefault(number, []).append(row)
            held += 1
        if held >= PIECE:
            yield from pieces()
            held = 0
    yield from pieces()


IMPORTER = importer("csv", "CSV whose columns --map names", recognises, read_file, (ANY_NAME,))
