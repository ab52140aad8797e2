"""The histogram that cyclictest prints (-h, -H, --histfile): a row a microsecond, a column a thread, then each
thread's extremes and what lay beyond."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from howlate.imports.formats._checks import UnitEvidence, checked, unit_of
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._rt_tests import broken_off, period_and_policy
from howlate.imports.formats._text import Line, command_in, cut, ended, log_head, log_lines
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated

BEGINS = "# Histogram"
_FIGURES = ("Total", "Min Latencies", "Avg Latencies", "Max Latencies", "Histogram Overflows")
_REQUIRED = _FIGURES[1:]
_OVERFLOWS = _FIGURES[-1]
_ROW = re.compile(r"[0-9]{1,18}(?:[ \t]+[0-9]{1,18})+")
_THREAD = re.compile(r"# Thread ([0-9]{1,6}):")
MOST_THREADS = 8192


class _Histogram(Struct):
    unit_ns: int = 1
    bins: list[dict[int, int]] = field(default_factory=list)
    """In the file's unit, as all of it is until the unit is known."""
    rows: int = 0
    """Where the range ends, in units: behind the last row. Since rt-tests 2.5 rows without samples are left out."""
    figures: dict[str, list[int]] = field(default_factory=dict)
    line: int = 0
    """Where the figures stand."""
    command: str = ""
    listed: list[int] = field(default_factory=list)
    """The threads whose overflows are listed behind the figures."""
    smi: int | None = None
    broken: int | None = None
    """The value at which -b ended the measurement."""
    problems: list[str] = field(default_factory=list)

    @property
    def threads(self) -> int:
        return len(self.figures["Min Latencies"])

    @property
    def whole(self) -> bool:
        return all(name in self.figures for name in _REQUIRED)


def recognises(path: Path) -> bool:
    """A heading, or rows and their figures, as an archive of many boards keeps them."""
    text = log_head(path)
    return f"\n{BEGINS}\n" in f"\n{text}" or ("\n# Min Latencies:" in text and _first_row(text))


def _first_row(text: str) -> bool:
    return any(_ROW.fullmatch(line) for line in text.splitlines()[:1000])


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    table = _Histogram()
    last = _read(table, log_lines(path))
    missing = [f'"# {name}" is missing' for name in _REQUIRED if name not in table.figures]
    last = ended(path, last, next(iter(missing), ""))
    _check_shape(table, last)
    means = [float(mean) for mean in table.figures["Avg Latencies"]]
    table.unit_ns = unit_of(mapping, path, UnitEvidence(command=table.command, means=means))
    series, contradictions = checked(_series(table, last), path)
    parameters, policy = period_and_policy(table.command, table.threads)
    return Foreign(
        path,
        "cyclictest",
        (LATENCY,),
        series,
        known=histogram_known(series, table.unit_ns),
        contradictions=(*table.problems, *contradictions),
        parameters={**parameters, "late-policy": "skip"},
        policy=policy,
        notes=broken_off(path, table.broken),
        outcomes={} if table.smi is None else {"smi": table.smi},
    )


def _read(table: _Histogram, lines: Iterator[Line]) -> Line | None:
    """The last line."""
    line = None
    begun = False
    for line in lines:
        text = line.text.strip()
        if text == BEGINS:
            if begun:
                raise line.second()
            begun = True
        elif begun and text.startswith("# "):
            _figure(table, line, text)
        elif _ROW.fullmatch(text):
            begun = True
            _row(table, line, text)
        elif not begun:
            table.command = command_in(text) or table.command
        elif text and not table.whole:
            raise line.wrong(f'"{text[:60]}" is not a row of the histogram')
    return line


def _row(table: _Histogram, line: Line, text: str) -> None:
    if table.figures:
        raise line.second() if table.whole else line.wrong(f'"{text[:60]}" follows the figures')
    if not line.ended:
        raise cut(line.path, line.number, "its last line is incomplete")
    index, *counts = (line.whole(word) for word in text.split())
    if index < table.rows:
        raise line.wrong(f"the row {index} follows the row {table.rows - 1}")
    if not table.bins:
        table.bins = [{} for _ in counts]
    if len(counts) != len(table.bins) or len(counts) > MOST_THREADS:
        raise line.wrong(f"{len(counts)} columns follow {len(table.bins)}")
    table.rows = index + 1
    for bins, count in zip(table.bins, counts, strict=True):
        if count:
            bins[index] = count


def _figure(table: _Histogram, line: Line, text: str) -> None:
    name, colon, rest = text[2:].partition(":")
    if not colon:
        return
    if name in _FIGURES:
        if name in table.figures:
            raise line.second() if table.whole else line.wrong(f'"# {name}" is given twice')
        table.figures[name] = [line.whole(word) for word in rest.split()]
        table.line = line.number
    elif thread := _THREAD.match(text):
        table.listed.append(int(thread[1]))
        if table.listed != list(range(len(table.listed))):
            raise line.wrong(f"thread {thread[1]} is not the next one")
    elif name == "SMIs":
        table.smi = max(line.whole(word) for word in rest.split() or ["0"])
    elif name == "Break value":
        table.broken = line.whole(rest.strip())


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
    if len(table.listed) > threads:
        raise last.wrong(f"the overflows of {len(table.listed)} threads are listed, and there are {threads}")
    table.bins = table.bins or [{} for _ in range(threads)]
    if len(table.bins) > threads > 0:
        total: dict[int, int] = {}
        for bins in table.bins[:threads]:
            for value, count in bins.items():
                total[value] = total.get(value, 0) + count
        if total != table.bins[threads]:
            table.problems.append(f"{last.path}: the column of sums is not the sum of the threads' columns")


def _series(table: _Histogram, last: Line) -> Sequence[ForeignSeries]:
    figures = table.figures
    last.ns(str(max(table.rows, *figures["Max Latencies"])), table.unit_ns)
    return [
        _of_thread(table, thread, {name: values[thread] for name, values in figures.items()})
        for thread in range(table.threads)
    ]


def _of_thread(table: _Histogram, thread: int, figures: Mapping[str, int]) -> ForeignSeries:
    unit, beyond = table.unit_ns, figures[_OVERFLOWS]
    bins = {value * unit: count for value, count in table.bins[thread].items()}
    total = figures.get("Total", sum(bins.values()))
    some = bool(total + beyond)
    stated = Stated(
        LATENCY,
        thread,
        unit_ns=unit,
        min=str(figures["Min Latencies"]) if some else None,
        mean=str(figures["Avg Latencies"]) if some else None,
        max=str(figures["Max Latencies"]) if some else None,
        count=total + beyond,
        beyond=beyond,
        beyond_from_ns=table.rows * unit,
    )
    return ForeignSeries(stated, bins, table.line)


IMPORTER = importer("cyclictest", "a histogram of cyclictest (-h)", recognises, read_file, ("unit",))
