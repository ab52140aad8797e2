"""What cyclictest prints with -v: thread, cycle and latency of every wake-up, a line each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from howlate.errors import DamagedError
from howlate.importers._foreign import Foreign, Raw, Rows
from howlate.importers._imports import importer
from howlate.importers._numbers import NumberRows
from howlate.importers._text import MOST, Line, cut, head, lines, unit_ns
from howlate.model.columns import LATENCY
from howlate.model.knowledge import Knowledge
from howlate.model.units import format_duration
from howlate.store.ingest import ACTIVATIONS
from howlate.store.stream import StreamColumn, StreamTable

_LINE = re.compile(r" *[0-9]{1,6}: *[0-9]{1,12}: *-?[0-9]{1,12}")
_ROWS = NumberRows(
    r" *[0-9]{1,6}: *[0-9]{1,12}: *-?[0-9]{1,12}\r?\n", 3, b":", 'a line "thread: cycle: latency"'
)
_PERIOD = re.compile(r"Thread ([0-9]{1,6}) Interval: ([0-9]{1,12})")
MOST_THREADS = 8192
_COLUMNS = (StreamColumn("index", "i64"), StreamColumn(LATENCY, "i64"))


def recognises(path: Path) -> bool:
    found = [line for line in head(path).splitlines() if _LINE.fullmatch(line)]
    return len(found) > 1 or (bool(found) and "Thread 0 Interval" in head(path))


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    unit = unit_ns(mapping)
    skip, periods = _before(path)
    numbers, counts = _look(path, skip, unit)
    tables = [
        StreamTable(number, ACTIVATIONS, _COLUMNS, None, thread) for number, thread in enumerate(numbers)
    ]
    place = {thread: number for number, thread in enumerate(numbers)}

    def rows() -> Iterator[tuple[int, Rows]]:
        for _, values in _ROWS.read(path, skip):
            for thread in np.unique(values[:, 0]):
                own = values[values[:, 0] == thread]
                yield place[int(thread)], {"index": own[:, 1], LATENCY: own[:, 2] * unit}

    return Foreign(
        path,
        "cyclictest",
        raw=Raw(tables, rows, {place[thread]: count for thread, count in counts.items()}),
        known=Knowledge(missed_releases=False, resolution_ns=unit),
        parameters={**periods, "late-policy": "skip"},
    )


def _before(path: Path) -> tuple[int, dict[str, str]]:
    """How many lines stand before the first sample, and the period where all threads have the same."""
    periods: dict[str, str] = {}
    last = None
    for last in lines(path):
        if _LINE.fullmatch(last.text):
            same = set(periods.values())
            return last.number - 1, {"period": same.pop()} if len(same) == 1 else {}
        if found := _PERIOD.fullmatch(last.text.strip()):
            periods[found[1]] = format_duration(int(found[2]) * 1000)
    raise cut(path, last.number if last else 1, "no sample stands there")


def _look(path: Path, skip: int, unit: int) -> tuple[list[int], dict[int, int]]:
    """The threads and how many samples each has; an error where a thread's cycles do not increase."""
    last: dict[int, int] = {}
    counts: dict[int, int] = {}
    for number, values in _ROWS.read(path, skip):
        if int(np.abs(values[:, 2]).max()) * unit >= MOST:
            raise Line(path, number, "").wrong("a latency here or below is too large")
        for thread in map(int, np.unique(values[:, 0])):
            at = np.flatnonzero(values[:, 0] == thread)
            cycles = values[at, 1]
            back = np.flatnonzero(np.diff(cycles, prepend=last.get(thread, -1)) <= 0)
            if len(back):
                raise _out_of_order(path, number + int(at[back[0]]), thread, int(cycles[back[0]]))
            last[thread] = int(cycles[-1])
            counts[thread] = counts.get(thread, 0) + len(at)
        if len(counts) > MOST_THREADS:
            raise Line(path, number, "").wrong(f"there are more than {MOST_THREADS} threads")
    return sorted(counts), counts


def _out_of_order(path: Path, number: int, thread: int, cycle: int) -> DamagedError:
    return Line(path, number, "").wrong(f"cycle {cycle} of thread {thread} is not above the one before it")


IMPORTER = importer("cyclictest-raw", "every sample of cyclictest (-v)", recognises, read_file, ("unit",))
