"""The table of `rtla timerlat top`: per CPU count, minimum, mean and maximum of each latency. Of a file with several
tables (without -q a new one each second) the last counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from howlate.importers._checks import checked
from howlate.importers._foreign import Foreign, ForeignSeries, histogram_known
from howlate.importers._imports import importer
from howlate.importers._rtla import seconds_of
from howlate.importers._text import Line, cut, head, lines
from howlate.importers.timerlat import COLUMNS
from howlate.model.stated import Stated

_TITLE = "Timer Latency"
_ROW = re.compile(r" *([0-9]{1,5}) #([0-9]{1,18}) *\|(.*)")
_ESCAPE = re.compile(r"\x1b(?:c|\[[0-9;]*[A-Za-z])")
_HEADER = re.compile(r"(.*?)\| *IRQ Timer Latency \((ns|us)\)")


def recognises(path: Path) -> bool:
    return "IRQ Timer Latency (" in head(path)


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    rows, seconds, last = _last_table(lines(path))
    if last is None or not rows:
        raise cut(path, last.number if last else 1, "no row of a CPU stands in its last table")
    if not last.ended:
        raise cut(path, last.number, "its last line is not whole")
    series, contradictions = checked(rows, path)
    return Foreign(
        path,
        "timerlat",
        series,
        known=histogram_known(series, series[0].stated.unit_ns),
        seconds=seconds,
        contradictions=contradictions,
    )


def _last_table(found: Iterator[Line]) -> tuple[list[ForeignSeries], float, Line | None]:
    rows: list[ForeignSeries] = []
    seconds, unit, columns, cpus = 0.0, 1000, 0, 0
    line = None
    for line in found:
        text = _ESCAPE.sub("", line.text)
        if header := _HEADER.match(text):
            rows, seconds, unit, cpus = [], seconds_of(header[1].strip()), 1 if header[2] == "ns" else 1000, 0
            columns = text.count("|")
        elif row := _ROW.fullmatch(text):
            rows += _of_cpu(line, row, unit, columns, cpus)
            cpus += 1
        elif re.match(r" *[0-9]+ #", text):
            raise line.wrong(f'"{text[:60].strip()}" is not the row of a CPU')
    return rows, seconds, line


def _of_cpu(line: Line, row: re.Match[str], unit: int, columns: int, thread: int) -> Sequence[ForeignSeries]:
    cpu, count = int(row[1]), int(row[2])
    parts = row[3].split("|")
    if len(parts) != columns:
        raise line.wrong(f"{len(parts)} columns of four figures, and the header has {columns}")
    found = []
    for column, part in zip(COLUMNS.values(), parts, strict=False):
        words = part.split()
        if len(words) != 4:
            raise line.wrong(f'"{part.strip()[:60]}" are not the present value, minimum, mean and maximum')
        if words == ["-"] * 4:
            continue
        _, smallest, mean, largest = (str(line.whole(word)) for word in words)
        first = column == COLUMNS["IRQ"]
        stated = Stated(
            column,
            thread,
            cpu,
            unit,
            min=smallest,
            mean=mean,
            max=largest,
            count=count if first else None,
            beyond=count if first else None,
        )
        found.append(ForeignSeries(stated, {}, line.number))
    return found


IMPORTER = importer("timerlat-top", "the table of rtla timerlat (top)", recognises, read_file)
