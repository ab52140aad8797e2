"""What cyclictest prints with -v: thread, cycle and latency of every wake-up, a line each. Millions of lines are read
in pieces: a piece that matches as a whole is converted at once, another is read line by line for the one that is
wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from howlate.errors import DamagedError, UsageError
from howlate.imports.formats._checks import UnitEvidence, unit_of
from howlate.imports.formats._foreign import Foreign, Raw, Rows, importer
from howlate.imports.formats._rt_tests import period_and_policy
from howlate.imports.formats._text import MOST, Line, bad_file, command_in, cut, head, lines
from howlate.model.columns import LATENCY
from howlate.model.decode import UNREADABLE
from howlate.model.knowledge import Knowledge
from howlate.model.units import format_duration
from howlate.store.ingest import ACTIVATIONS
from howlate.store.stream import StreamColumn, StreamTable

PIECE = 1 << 20


class NumberRows(Struct, frozen=True):
    """How the lines look: `line` matches one with its end, and has as many numbers as there are `columns`."""

    line: str
    """A regular expression of bytes, without groups."""
    columns: int
    separators: bytes
    """Characters between the numbers, blanks aside."""
    what: str
    """What a line is called."""
    begins: tuple[str, ...] = ()
    """How a result begins: such a line between the numbers is of a second one."""

    def read(self, path: Path, skip: int = 0) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """Pieces of the file behind its first `skip` lines: the number of their first line, and their numbers, a row
        a line."""
        pattern = re.compile(rb"(?:" + self.line.encode() + rb")+")
        blank = bytes.maketrans(self.separators, b" " * len(self.separators))
        try:
            with path.open("rb") as file:
                for _ in range(skip):
                    file.readline(PIECE)
                number = skip + 1
                while piece := file.read(PIECE):
                    piece += file.readline(PIECE)
                    if not pattern.fullmatch(piece):
                        raise self._wrong(path, number, piece)
                    values = np.array(piece.translate(blank).split(), dtype=np.int64)
                    yield number, values.reshape(-1, self.columns)
                    number += piece.count(b"\n")
        except OSError as problem:
            raise UsageError(UNREADABLE(path=path, reason=problem.strerror or problem)) from None

    def _wrong(self, path: Path, number: int, piece: bytes) -> Exception:
        pattern = re.compile(self.line.encode())
        for offset, raw in enumerate(piece.splitlines(keepends=True)):
            if not pattern.fullmatch(raw):
                text = raw.decode("utf-8", "replace").rstrip("\r\n")
                if not raw.endswith(b"\n"):
                    return cut(path, number + offset, "its last line is incomplete")
                line = Line(path, number + offset, text)
                if text.startswith(self.begins):
                    return line.second()
                return line.wrong(f'"{text[:60]}" is not {self.what}')
        return Line(path, number, "").wrong(f"this is not {self.what}")


_PLAIN = r" *[0-9]{1,6}: *[0-9]{1,12}: *-?[0-9]{1,12}"
_SMI = rf"{_PLAIN} +[0-9]{{1,12}}"
_LINE = re.compile(rf"{_PLAIN}(?: +[0-9]{{1,12}})?")
_WHAT = 'a line "thread: cycle: latency"'
_BEGINS = ("Max CPUs = ", "# /dev/cpu_dma_latency", "Thread 0 Interval")
_PERIOD = re.compile(r"Thread ([0-9]{1,6}) Interval: ([0-9]{1,12})")
MOST_THREADS = 8192
_COLUMNS = (StreamColumn("index", "i64"), StreamColumn(LATENCY, "i64"))


class _LinesBefore(Struct, frozen=True):
    """What stands before the first sample."""

    lines: int
    rows: NumberRows
    periods_us: Mapping[str, int]
    command: str


class _CyclesSeen(Struct):
    """What the first reading finds, in the file's unit."""

    last: dict[int, int] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    total: int = 0
    largest: int = 0
    smi: int = 0


def recognises(path: Path) -> bool:
    rows = [line for line in head(path).splitlines() if _LINE.fullmatch(line)]
    return len(rows) > 1 or (bool(rows) and "Thread 0 Interval" in head(path))


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    before = _before(path)
    seen = _look(path, before)
    unit = _unit(mapping, path, before, seen)
    numbers = sorted(seen.counts)
    tables = [
        StreamTable(number, ACTIVATIONS, _COLUMNS, None, thread) for number, thread in enumerate(numbers)
    ]
    place = {thread: number for number, thread in enumerate(numbers)}

    def rows() -> Iterator[tuple[int, Rows]]:
        for _, values in before.rows.read(path, before.lines):
            for thread in np.unique(values[:, 0]):
                own = values[values[:, 0] == thread]
                yield place[int(thread)], {"index": own[:, 1], LATENCY: own[:, 2] * unit}

    period = set(before.periods_us.values())
    return Foreign(
        path,
        "cyclictest",
        (LATENCY,),
        raw=Raw(tables, rows, {place[thread]: count for thread, count in seen.counts.items()}),
        known=Knowledge(missed_releases=False, resolution_ns=unit),
        parameters={
            **({"period": format_duration(1000 * period.pop())} if len(period) == 1 else {}),
            "late-policy": "skip",
        },
        policy=period_and_policy(before.command)[1],
        outcomes={"smi": seen.smi} if before.rows.columns > 3 else {},
    )


def _before(path: Path) -> _LinesBefore:
    periods: dict[str, int] = {}
    command, last = "", None
    for last in lines(path):
        if _LINE.fullmatch(last.text):
            smi = len(re.findall("[0-9]+", last.text)) > 3
            rows = NumberRows((_SMI if smi else _PLAIN) + r"\r?\n", 4 if smi else 3, b":", _WHAT, _BEGINS)
            return _LinesBefore(last.number - 1, rows, periods, command)
        if match := _PERIOD.fullmatch(last.text.strip()):
            periods[match[1]] = int(match[2])
        command = command_in(last.text) or command
    raise cut(path, last.number if last else 1, "it has no sample")


def _unit(mapping: Mapping[str, str], path: Path, before: _LinesBefore, seen: _CyclesSeen) -> int:
    mean = seen.total / sum(seen.counts.values())
    period_us = max(before.periods_us.values(), default=0)
    known = UnitEvidence(command=before.command, means=[mean], period_us=period_us)
    unit = unit_of(mapping, path, known)
    if seen.largest * unit >= MOST:
        raise Line(path, before.lines + 1, "").wrong("a latency here or below is too large")
    return unit


def _look(path: Path, before: _LinesBefore) -> _CyclesSeen:
    """The threads and how many samples each has; an error where a cycle does not follow the one before it: rows are
    missing, or each is the largest of several (-o)."""
    seen = _CyclesSeen()
    for number, values in before.rows.read(path, before.lines):
        for thread in map(int, np.unique(values[:, 0])):
            at = np.flatnonzero(values[:, 0] == thread)
            cycles = values[at, 1]
            jumps = np.flatnonzero(np.diff(cycles, prepend=seen.last.get(thread, -1)) != 1)
            if len(jumps):
                first = int(jumps[0])
                due = 1 + int(cycles[first - 1] if first else seen.last.get(thread, -1))
                raise _jumps(Line(path, number + int(at[first]), ""), thread, int(cycles[first]), due)
            seen.last[thread] = int(cycles[-1])
            seen.counts[thread] = seen.counts.get(thread, 0) + len(at)
        seen.total += int(values[:, 2].sum())
        seen.largest = max(seen.largest, int(np.abs(values[:, 2]).max()))
        seen.smi += int(values[:, 3].sum()) if values.shape[1] > 3 else 0
        if len(seen.counts) > MOST_THREADS:
            raise Line(path, number, "").wrong(f"there are more than {MOST_THREADS} threads")
    missing = set(range(max(seen.counts))) - set(seen.counts)
    if missing:
        raise Line(path, before.lines + 1, "").wrong(f"there is no sample of thread {min(missing)}")
    return seen


def _jumps(line: Line, thread: int, cycle: int, due: int) -> DamagedError:
    if cycle == 0:
        return line.second()
    if cycle < due:
        return line.wrong(f"cycle {cycle} of thread {thread} is not above the one before it")
    hint = "measure again with -v and without -o, and keep every row"
    return bad_file(
        line.path, f"line {line.number}", f"cycle {cycle} of thread {thread} follows {due - 1}", hint
    )


IMPORTER = importer("cyclictest-raw", "every sample of cyclictest (-v)", recognises, read_file, ("unit",))
