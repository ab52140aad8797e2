"""The histograms of rtla: a row a bucket, columns of each CPU, then what is over and each column's figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from howlate.importers._checks import checked
from howlate.importers._foreign import Foreign, ForeignSeries, histogram_known
from howlate.importers._text import Line, cut, lines
from howlate.model.stated import Stated

_DURATION = re.compile(r"(?:([0-9]{1,5}) )?([0-9]{1,3}):([0-9]{2}):([0-9]{2})")
_FIGURES = ("over", "count", "min", "avg", "max")
_MISSED = re.compile(r"[0-9]+ (?:missed|lost) event", re.IGNORECASE)


@dataclass
class RtlaTable:
    """What the file holds, as it is read."""

    unit_ns: int = 1000
    seconds: float = 0.0
    columns: list[tuple[str, int]] = field(default_factory=list)
    """The samples' column and the CPU of each."""
    bins: list[dict[int, int]] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    """The buckets' lower edges."""
    figures: dict[str, list[str]] = field(default_factory=dict)
    line: int = 0
    done: bool = False
    """The figures of all CPUs together, and what rtla says after them, follow."""


def seconds_of(text: str) -> float:
    """Of "0 00:00:10"; 0 where it is not so."""
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        return 0.0
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def read_histogram(path: Path, test: str, names: Mapping[str, str]) -> Foreign:
    """`names`: the column of the samples for each kind of column, "IRQ" and "Thr", "CPU"."""
    table = RtlaTable()
    last = _read(table, lines(path), names) or Line(path, 1, "")
    missing = [name for name in _FIGURES if name not in table.figures]
    if not table.columns or missing or not last.ended:
        problem = f'"{missing[0]}:" is missing' if missing else "its last line is not whole"
        raise cut(path, last.number, problem)
    series, contradictions = checked(_series(table, last), path)
    width = max((its.stated.width_ns for its in series), default=0) or table.unit_ns
    return Foreign(
        path,
        test,
        series,
        known=histogram_known(series, width),
        seconds=table.seconds,
        contradictions=contradictions,
    )


def _read(table: RtlaTable, found: Iterator[Line], names: Mapping[str, str]) -> Line | None:
    line = None
    for line in found:
        text = line.text.strip()
        if text.startswith("# Time unit is"):
            table.unit_ns = 1 if "(ns)" in text else 1000
        elif text.startswith("# Duration:"):
            table.seconds = seconds_of(text.removeprefix("# Duration:"))
        elif text.startswith("Index"):
            _columns(table, line, text.split()[1:], names)
        elif text.startswith("ALL:"):
            table.done = True
        elif text and not text.startswith("#") and not table.done and not _MISSED.search(text):
            _row(table, line, text)
    return line


def _columns(table: RtlaTable, line: Line, words: Sequence[str], names: Mapping[str, str]) -> None:
    if table.columns:
        raise line.wrong("a second header follows")
    for word in words:
        kind, _, cpu = word.partition("-")
        if kind not in names:
            raise line.wrong(f'"{word[:20]}" is not a column of this histogram')
        table.columns.append((names[kind], line.whole(cpu, "a CPU")))
    if len(set(table.columns)) != len(table.columns):
        raise line.wrong("a column stands there twice")
    table.bins = [{} for _ in table.columns]


def _row(table: RtlaTable, line: Line, text: str) -> None:
    first, *words = text.split()
    name = first.removesuffix(":")
    if name == first and not table.figures:
        if len(words) != len(table.columns):
            raise line.wrong(f"{len(words)} numbers, and there are {len(table.columns)} columns")
        value = line.whole(first, "a bucket") * table.unit_ns
        if table.values and value <= table.values[-1]:
            raise line.wrong("the bucket is not above the one before it")
        table.values.append(value)
        for bins, word in zip(table.bins, words, strict=True):
            if count := line.whole(word):
                bins[value] = count
    elif name in _FIGURES:
        if name in table.figures:
            raise line.wrong(f'"{name}:" stands there twice')
        if len(words) != len(table.columns) and not _nothing(table, words):
            raise line.wrong(f"{len(words)} numbers, and there are {len(table.columns)} columns")
        table.figures[name] = [word if word == "-" else line.decimal(word) for word in words]
        table.line = line.number
    elif not table.figures:
        raise line.wrong(f'"{text[:60]}" is not a row of the histogram')
    else:
        table.done = True


def _nothing(table: RtlaTable, words: Sequence[str]) -> bool:
    """osnoise hist prints a single 0 where no CPU had any noise."""
    return not table.columns and list(words) == ["0"]


def _series(table: RtlaTable, last: Line) -> Sequence[ForeignSeries]:
    width = _width(table)
    end = table.values[-1] + max(width, table.unit_ns) if table.values else None
    cpus = list(dict.fromkeys(cpu for _, cpu in table.columns))
    found = []
    for at, (column, cpu) in enumerate(table.columns):
        figures = {name: table.figures[name][at] for name in _FIGURES}
        over, count = (last.whole(figures[name].replace("-", "0")) for name in ("over", "count"))
        stated = Stated(
            column,
            cpus.index(cpu),
            cpu,
            table.unit_ns,
            min=_stated(figures["min"], count),
            mean=_stated(figures["avg"], count),
            max=_stated(figures["max"], count),
            count=count,
            beyond=over,
            beyond_from_ns=end,
            width_ns=width,
        )
        found.append(ForeignSeries(stated, table.bins[at], table.line))
    return found


def _stated(word: str, count: int) -> str | None:
    return None if not count or word == "-" else word


def _width(table: RtlaTable) -> int:
    """Of a bucket, where the tool's extremes say that one holds several values; 0: one."""
    steps = [after - before for before, after in pairwise(table.values)]
    width = min(steps, default=table.unit_ns)
    return width if width > table.unit_ns and _several(table) else 0


def _several(table: RtlaTable) -> bool:
    """Whether some stated extreme is no edge of a bucket: rows without samples are left out, so steps alone do not
    tell the width."""
    edges = set(table.values)
    stated = [word for name in ("min", "max") for word in table.figures[name] if word.isdecimal()]
    inside = [int(word) * table.unit_ns for word in stated if table.values]
    return any(value not in edges and value < max(edges, default=0) for value in inside)
