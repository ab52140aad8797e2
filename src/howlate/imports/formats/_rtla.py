"""The histograms of rtla: a row a bucket, columns of each CPU, then what is over and each column's figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from howlate.imports.formats._checks import believable, checked
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known
from howlate.imports.formats._text import CLEARED, Line, cut, ended, left_out, lines, log_lines, plain
from howlate.model.stated import Stated

_DURATION = re.compile(r"(?:([0-9]{1,5}) )?([0-9]{1,3}):([0-9]{2}):([0-9]{2})")
_FIGURES = ("over", "count", "min", "avg", "max")
_UNIT = re.compile(r"# Time unit is (?:micro|nano)seconds \((us|ns)\)")
_TITLE = "# RTLA "
MOST_WIDTH = 1_000_000
_MISSED = re.compile(r"[0-9] (?:missed|lost) event", re.IGNORECASE)


class RtlaTable(Struct):
    unit_ns: int = 1000
    seconds: float = 0.0
    columns: list[tuple[str, int]] = field(default_factory=list)
    """The samples' column and the CPU of each."""
    bins: list[dict[int, int]] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    """The buckets' lower edges."""
    figures: dict[str, list[str]] = field(default_factory=dict)
    line: int = 0
    all_kinds: list[str] = field(default_factory=list)
    """The columns of the figures of all CPUs together."""
    all_counts: list[int] = field(default_factory=list)
    done: bool = False
    """The figures of all CPUs together, and what rtla says after them, follow."""


class Tables(Struct):
    """Of tables that a tool prints one after the other, until it ends, the rows of the last."""

    rows: list[Any] = field(default_factory=list)
    before: Mapping[Any, tuple[int, ...]] = field(default_factory=dict)
    """By row what only grows in the table before."""
    grows: dict[Any, tuple[int, ...]] = field(default_factory=dict)
    """The same of this table."""
    cleared: bool = False
    """The tool cleared the screen since the last row."""
    seconds: float = 0.0
    """As the last table states it."""

    def texts(self, path: Path) -> Iterator[tuple[Line, str]]:
        """Each line of the file, and its text without escapes. In the end, an error if the file is not whole."""
        last = None
        for last in lines(path):
            self.cleared |= CLEARED in last.text
            yield last, plain(last.text)
        ended(path, last, "" if self.rows else "its last table has no row")

    def begin(self, line: Line) -> None:
        """A table's head. Only a tool that goes on clears the screen before it."""
        if self.rows and not self.cleared:
            raise line.second()
        self.before, self.rows, self.grows = self.grows or self.before, [], {}

    def add(self, line: Line, key: Any, grows: tuple[int, ...], rows: Sequence[Any]) -> None:
        """A row; `grows`: figures that are never smaller in the next table of the same measurement."""
        if key in self.grows:
            raise line.wrong(f"CPU {key} is given twice")
        before = self.before.get(key, grows)
        if len(before) != len(grows) or any(now < then for then, now in zip(before, grows, strict=True)):
            raise line.second()
        self.grows[key] = grows
        self.rows += rows
        self.cleared = False


def seconds_of(text: str) -> float:
    """Of "0 00:00:10"; 0 where it is not so."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return 0.0
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def read_histogram(path: Path, test: str, names: Mapping[str, str]) -> Foreign:
    """`names`: the column of the samples for each kind of column, "IRQ" and "Thr", "CPU"; the later ones include the
    earlier ones, so the last that there is answers."""
    table = RtlaTable()
    last = _read(table, log_lines(path), names) or Line(path, 1, "")
    missing = [name for name in _FIGURES if name not in table.figures]
    if missing:
        raise left_out(path, last.number, f'"{missing[0]}:"', "without --no-summary")
    if not last.ended:
        raise cut(path, last.number, "its last line is incomplete")
    if not table.columns:
        return _quiet(path, test, table, next(iter(names.values())))
    _check_all(table, last, names)
    series_read = _series(table, last, test)
    believable(series_read, path)
    series, contradictions = checked(series_read, path)
    width = max((its.stated.width_ns for its in series), default=0) or table.unit_ns
    return Foreign(
        path,
        test,
        last_of(names.values(), series),
        series,
        known=histogram_known(series, width),
        seconds=table.seconds,
        contradictions=contradictions,
    )


def _quiet(path: Path, test: str, table: RtlaTable, column: str) -> Foreign:
    """No CPU had anything to count: the best result there is."""
    series = [ForeignSeries(Stated(column, 0, -1, table.unit_ns, count=0), {}, table.line)]
    known = histogram_known(series, table.unit_ns)
    return Foreign(path, test, (column,), series, known=known, seconds=table.seconds, stop_reason="duration")


def last_of(names: Iterable[str], series: Sequence[ForeignSeries]) -> tuple[str, ...]:
    """Of columns that each include the one before, the last that was measured."""
    there = {
        entry.stated.column
        for entry in series
        if entry.stated.max is not None or entry.stated.count or any(entry.bins.values())
    }
    return tuple(name for name in names if name in there)[-1:]


def _read(table: RtlaTable, lines: Iterator[Line], names: Mapping[str, str]) -> Line | None:
    line = None
    titled = False
    for line in lines:
        text = line.text.strip()
        if text.startswith(_TITLE):
            if titled:
                raise line.second()
            titled = True
        elif not titled:
            continue
        elif text.startswith("# Time unit is"):
            _unit(table, line, text)
        elif text.startswith("# Duration:"):
            table.seconds = seconds_of(text.removeprefix("# Duration:"))
        elif text.startswith("Index"):
            _columns(table, line, text.split()[1:], names)
        elif text.startswith("ALL:"):
            table.done, table.all_kinds = True, text.split()[1:]
        elif table.done and table.all_kinds and text.startswith("count:") and not table.all_counts:
            table.all_counts = [line.whole(word) for word in text.removeprefix("count:").split()]
        elif text and not text.startswith("#") and not table.done and not _MISSED.search(text):
            _row(table, line, text)
    return line


def _unit(table: RtlaTable, line: Line, text: str) -> None:
    match = _UNIT.fullmatch(text)
    if match is None:
        raise line.wrong(f'"{text[:60]}" is not a unit of rtla')
    table.unit_ns = 1 if match[1] == "ns" else 1000


def _check_all(table: RtlaTable, last: Line, names: Mapping[str, str]) -> None:
    """What rtla counts over all CPUs is the sum of the columns, or a column is missing."""
    for kind, total in zip(table.all_kinds, table.all_counts, strict=False):
        own = [
            last.whole(word)
            for (column, _), word in zip(table.columns, table.figures["count"], strict=True)
            if column == names.get(kind) and word != "-"
        ]
        if kind in names and sum(own) != total:
            raise last.wrong(f"{kind} counts {total} over all CPUs, and the columns {sum(own)}")


def _columns(table: RtlaTable, line: Line, words: Sequence[str], names: Mapping[str, str]) -> None:
    if table.columns:
        raise line.second()
    for word in words:
        kind, _, cpu = word.partition("-")
        if kind not in names:
            raise line.wrong(f'"{word[:20]}" is not a column of this histogram')
        table.columns.append((names[kind], line.whole(cpu, "a CPU")))
    if len(set(table.columns)) != len(table.columns):
        raise line.wrong("a column is given twice")
    table.bins = [{} for _ in table.columns]


def _row(table: RtlaTable, line: Line, text: str) -> None:
    name, colon, rest = text.partition(":")  # no blank follows it where a number is long
    first, *words = text.split()
    if not colon and not table.figures:
        if len(words) != len(table.columns):
            raise line.wrong(f"{len(words)} numbers, and there are {len(table.columns)} columns")
        value = line.whole(first, "a bucket") * table.unit_ns
        if table.values and value <= table.values[-1]:
            raise line.wrong("the bucket is not above the one before it")
        table.values.append(value)
        for bins, word in zip(table.bins, words, strict=True):
            if count := line.whole(word):
                bins[value] = count
    elif colon and name in _FIGURES:
        words = rest.split()
        if name in table.figures:
            raise line.wrong(f'"{name}:" is given twice')
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


def _series(table: RtlaTable, last: Line, test: str) -> Sequence[ForeignSeries]:
    width = _width(table)
    end = table.values[-1] + max(width, table.unit_ns) if table.values else None
    cpus = list(dict.fromkeys(cpu for _, cpu in table.columns))
    series = []
    for at, (column, cpu) in enumerate(table.columns):
        figures = {name: words[at] for name, words in table.figures.items()}
        over, count = (last.whole(figures[name].replace("-", "0")) for name in ("over", "count"))
        mean = _stated(figures, "avg", count)
        if test == "osnoise" and mean is not None and _too_small(table.bins[at], mean, table.unit_ns):
            mean = None
        stated = Stated(
            column,
            cpus.index(cpu),
            cpu,
            table.unit_ns,
            min=_stated(figures, "min", count),
            mean=mean,
            max=_stated(figures, "max", count),
            count=count,
            beyond=over,
            beyond_from_ns=end,
            width_ns=width,
        )
        series.append(ForeignSeries(stated, table.bins[at], table.line))
    return series


def _stated(figures: Mapping[str, str], name: str, count: int) -> str | None:
    word = figures[name]
    return None if not count or word == "-" else word


def _too_small(bins: Mapping[int, int], mean: str, unit: int) -> bool:
    """rtla before Linux 6.3 adds each value of osnoise once, however often it occurred."""
    least = sum(value * count for value, count in bins.items()) / max(sum(bins.values()), 1)
    return float(mean) * unit < least - unit


def _width(table: RtlaTable) -> int:
    """Of a bucket that holds several values; 0: each is one value. Rows without samples are left out, so the distance
    of rows does not tell it: it is the largest divisor of all edges that the tool's own figures allow. A smaller one
    is not known to be the right one."""
    unit = table.unit_ns
    edges = [value // unit for value in table.values]
    common = gcd(*edges) if edges else 1
    if common == 1:
        return 0
    spans = _extremes(table)
    filled = [bins for bins in table.bins if bins]
    if len(spans) == len(filled) and all(
        low == high and set(bins) == {low * unit} for (low, high), bins in zip(spans, filled, strict=True)
    ):
        return 0
    if common == 0:  # only the bucket from 0 has samples, these among them
        lows = [
            int(low)
            for low, bins in zip(table.figures["min"], table.bins, strict=True)
            if bins and low != "-"
        ]
        return (max([*lows, *(high for _, high in spans)]) + 1) * unit
    width = max((width for width in _divisors(common) if _allows(table, width)), default=1)
    return width * unit if width > 1 else 0


def _extremes(table: RtlaTable) -> list[tuple[int, int]]:
    """The stated minimum and maximum of each column, without those that have samples beyond the range."""
    figures = [table.figures[name] for name in ("min", "max", "over")]
    return [
        (int(low), int(high))
        for low, high, over in zip(*figures, strict=False)
        if low.isdecimal() and high.isdecimal() and over in ("0", "-")
    ]


def _divisors(number: int) -> list[int]:
    return [width for width in range(1, min(number, MOST_WIDTH) + 1) if number % width == 0]


def _allows(table: RtlaTable, width: int) -> bool:
    """Whether the extremes of each column lie in its first and last bucket of that width, or beyond all buckets."""
    unit = table.unit_ns
    for at, bins in enumerate(table.bins):
        low, high, over = (table.figures[name][at] for name in ("min", "max", "over"))
        if not bins or not low.isdecimal() or not high.isdecimal():
            continue
        if int(low) // width * width * unit != min(bins):
            return False
        if over not in ("0", "-") and int(high) * unit < table.values[-1] + width * unit:
            return False
        if over in ("0", "-") and int(high) // width * width * unit != max(bins):
            return False
    return True
