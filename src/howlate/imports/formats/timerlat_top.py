"""The table of `rtla timerlat top`: per CPU count, minimum, mean and maximum of each latency. Of a file with several
tables (without -q a new one each second) the last counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from howlate.imports.formats._checks import believable, checked
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._rtla import Tables, last_of, seconds_of
from howlate.imports.formats._text import Line, log_head
from howlate.imports.formats.timerlat import COLUMNS
from howlate.model.stated import Stated

_ROW = re.compile(r" *([0-9]{1,5}) #([0-9]{1,18}) *\|(.*)")
_LIKE_A_ROW = re.compile(r" *[0-9]{1,5} #")
_HEADER = re.compile(r"([^|]{0,40})\| *IRQ Timer Latency \((\w{1,20})\)")
_UNITS = {"ns": 1, "us": 1000}


def recognises(path: Path) -> bool:
    return "IRQ Timer Latency (" in log_head(path)


class _TimerlatTop(Tables):
    unit_ns: int = 1000
    columns: int = 0
    cpus: int = 0


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    top = _read(path)
    believable(top.rows, path)
    series, contradictions = checked(top.rows, path)
    return Foreign(
        path,
        "timerlat",
        last_of(COLUMNS.values(), series),
        series,
        known=histogram_known(series, top.unit_ns),
        seconds=top.seconds,
        contradictions=contradictions,
    )


def _read(path: Path) -> _TimerlatTop:
    top = _TimerlatTop()
    for line, text in top.texts(path):
        if header := _HEADER.match(text):
            top.begin(line)
            _head(top, line, header, text)
        elif row := _ROW.fullmatch(text):
            rows = _of_cpu(line, row, top.unit_ns, top.columns, top.cpus)
            top.add(line, int(row[1]), _grows(int(row[2]), rows), rows)
            top.cpus += 1
        elif _LIKE_A_ROW.match(text):
            raise line.wrong(f'"{text[:60].strip()}" is not the row of a CPU')
    return top


def _head(top: _TimerlatTop, line: Line, header: re.Match[str], text: str) -> None:
    if header[2] not in _UNITS:
        raise line.wrong(f"{header[2]} is not a unit of rtla")
    top.unit_ns, top.columns, top.cpus = _UNITS[header[2]], text.count("|"), 0
    top.seconds = seconds_of(header[1].strip())


def _grows(count: int, rows: Sequence[ForeignSeries]) -> tuple[int, ...]:
    """Count and maxima grow from table to table, and minima fall."""
    minima = (-int(its.stated.min or 0) for its in rows)
    return (count, *minima, *(int(its.stated.max or 0) for its in rows))


def _of_cpu(line: Line, row: re.Match[str], unit: int, columns: int, thread: int) -> Sequence[ForeignSeries]:
    cpu, count = int(row[1]), int(row[2])
    parts = row[3].split("|")
    if len(parts) != columns:
        raise line.wrong(f"{len(parts)} columns of four figures, and the header has {columns}")
    series = []
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
        series.append(ForeignSeries(stated, {}, line.number))
    return series


IMPORTER = importer("timerlat-top", "the table of rtla timerlat (top)", recognises, read_file)
