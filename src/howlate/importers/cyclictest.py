"""The histogram that cyclictest prints (-h, -H, --histfile): a row a microsecond, a column a thread, then each
thread's extremes and what lay beyond."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from howlate.importers._checks import checked
from howlate.importers._foreign import Foreign, ForeignSeries, histogram_known
from howlate.importers._imports import importer
from howlate.importers._text import Line, cut, head, lines, unit_ns
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated

BEGINS = "# Histogram"
_FIGURES = ("Total", "Min Latencies", "Avg Latencies", "Max Latencies", "Histogram Overflows")
_REQUIRED = _FIGURES[1:]
_OVERFLOWS = _FIGURES[-1]
_ROW = re.compile(r"[0-9]{1,18}(?:[ \t]+[0-9]{1,18})+")


@dataclass
class _Histogram:
    """What the file holds, as it is read."""

    unit_ns: int
    bins: list[dict[int, int]] = field(default_factory=list)
    rows: int = 0
    """Where the range ends, in units: behind the last row. Since rt-tests 2.5 rows without samples are left out."""
    figures: dict[str, list[int]] = field(default_factory=dict)
    line: int = 0
    """Where the figures stand."""
    problems: list[str] = field(default_factory=list)

    @property
    def threads(self) -> int:
        return len(self.figures["Min Latencies"])


def recognises(path: Path) -> bool:
    return f"\n{BEGINS}\n" in "\n" + head(path).replace("\r\n", "\n")


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    table = _Histogram(unit_ns(mapping))
    found = lines(path)
    number = 0
    for line in found:  # what the tool said before
        number = line.number
        if line.text == BEGINS:
            break
    last = _read(table, found) or Line(path, number, "")
    missing = [name for name in _REQUIRED if name not in table.figures]
    if missing or not last.ended:
        problem = f'"# {missing[0]}" is missing' if missing else "its last line is not whole"
        raise cut(path, last.number, problem)
    _check_shape(table, last)
    series, contradictions = checked(_series(table), path)
    return Foreign(
        path,
        "cyclictest",
        series,
        known=histogram_known(series, table.unit_ns),
        contradictions=(*table.problems, *contradictions),
        parameters={"late-policy": "skip"},
    )


def _read(table: _Histogram, found: Iterator[Line]) -> Line | None:
    """The last line."""
    line = None
    for line in found:
        if line.text.startswith("# "):
            _figure(table, line)
        elif line.text.strip():
            _row(table, line)
    return line


def _row(table: _Histogram, line: Line) -> None:
    if table.figures or not _ROW.fullmatch(line.text) or not line.ended:
        raise line.wrong(f'"{line.text[:60]}" is not a row of the histogram')
    index, *counts = (line.whole(word) for word in line.text.split())
    if index < table.rows:
        raise line.wrong(f"the row {index} follows the row {table.rows - 1}")
    if not table.bins:
        table.bins = [{} for _ in counts]
    if len(counts) != len(table.bins):
        raise line.wrong(f"{len(counts)} columns follow {len(table.bins)}")
    table.rows = index + 1
    value = line.ns(str(index), table.unit_ns)
    for bins, count in zip(table.bins, counts, strict=True):
        if count:
            bins[value] = count


def _figure(table: _Histogram, line: Line) -> None:
    name, colon, rest = line.text[2:].partition(":")
    if not colon or name not in _FIGURES:
        return
    if name in table.figures:
        raise line.wrong(f'"# {name}" stands there twice')
    table.figures[name] = [line.whole(word) for word in rest.split()]
    table.line = line.number


def _check_shape(table: _Histogram, last: Line) -> None:
    """As many figures as threads; -H adds the sum of all threads to some."""
    threads = table.threads
    sizes = {name: len(values) for name, values in table.figures.items()}
    sizes["a row"] = len(table.bins) or threads
    for name, size in sizes.items():
        if size not in (threads, threads + 1):
            raise last.wrong(f"{name} has {size} columns, and there are {threads} threads")
    if not threads:
        raise last.wrong("there is no thread in the histogram")
    table.bins = table.bins or [{} for _ in range(threads)]
    if len(table.bins) > threads > 0:
        total: dict[int, int] = {}
        for bins in table.bins[:threads]:
            for value, count in bins.items():
                total[value] = total.get(value, 0) + count
        if total != table.bins[threads]:
            table.problems.append(f"{last.path}: the column of sums is not the sum of the threads' columns")


def _series(table: _Histogram) -> Sequence[ForeignSeries]:
    figures = table.figures
    return [
        _of_thread(table, thread, {name: values[thread] for name, values in figures.items()})
        for thread in range(table.threads)
    ]


def _of_thread(table: _Histogram, thread: int, figures: Mapping[str, int]) -> ForeignSeries:
    bins, beyond = table.bins[thread], figures[_OVERFLOWS]
    total = figures.get("Total", sum(bins.values()))
    some = bool(total + beyond)
    stated = Stated(
        LATENCY,
        thread,
        unit_ns=table.unit_ns,
        min=str(figures["Min Latencies"]) if some else None,
        mean=str(figures["Avg Latencies"]) if some else None,
        max=str(figures["Max Latencies"]) if some else None,
        count=total + beyond,
        beyond=beyond,
        beyond_from_ns=table.rows * table.unit_ns,
    )
    return ForeignSeries(stated, bins, table.line)


IMPORTER = importer("cyclictest", "a histogram of cyclictest (-h)", recognises, read_file, ("unit",))
