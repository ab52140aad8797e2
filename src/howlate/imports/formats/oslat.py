"""What oslat prints: a histogram of the turns of its busy loop, a column a core, then each core's extremes. In both
formats of oslat a bucket holds the turns of the loop up to its label, and the last one all longer ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.imports.formats._checks import checked
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._text import UNITS, Line, cut, log_head, log_lines
from howlate.model.stated import Stated
from howlate.model.summary import WATCHED

COLUMN = "gap_ns"
FIRST_ALONE = (
    "oslat adds the first core's overflow to the mean of every core: the means of the others are left out, and with "
    "them the mean of all"
)


class Core(Struct, frozen=True):
    """What oslat prints of one core."""

    cpu: int
    min: str
    mean: str
    max: str
    bins: Mapping[int, int]
    """By label; the last bucket is not among them."""
    last: int
    """Samples of the last bucket."""
    last_from_ns: int | None
    width_ns: int
    line: int
    seconds: float = 0.0


def foreign_of(path: Path, cores: Sequence[Core], known: Foreign) -> Foreign:
    """The measurement; `known`: what the format says besides."""
    series, contradictions = checked([_series(number, core) for number, core in enumerate(cores)], path)
    # A turn of the loop is no release: how many there are says how fast the machine is.
    watched_ns = round(sum(core.seconds for core in cores) * UNITS["s"])
    overflowed = len(cores) > 1 and any(core.last for core in cores)
    if overflowed:
        series = (
            series[0],
            *(replace(its, stated=replace(its.stated, mean=None)) for its in series[1:]),
        )
    return replace(
        known,
        series=series,
        known=histogram_known(series, max(core.width_ns for core in cores), missed_releases=True),
        contradictions=contradictions,
        notes=(*known.notes, *([f"{path}: {FIRST_ALONE}"] if overflowed else [])),
        seconds=max(core.seconds for core in cores),
        outcomes={WATCHED: watched_ns},
    )


def _series(number: int, core: Core) -> ForeignSeries:
    some = bool(sum(core.bins.values()) + core.last)
    stated = Stated(
        COLUMN,
        number,
        core.cpu,
        min=core.min if some else None,
        mean=core.mean if some else None,
        max=core.max if some else None,
        count=sum(core.bins.values()) + core.last,
        beyond=core.last,
        beyond_from_ns=core.last_from_ns,
        width_ns=core.width_ns,
    )
    return ForeignSeries(stated, core.bins, core.line)


_BUCKET = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,3})?) \(us\)")
_LIST = re.compile(r"[0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*")
_FIGURES = ("Core", "Minimum", "Average", "Maximum", "Max-Min", "Duration")
_FREQUENCY = ("Counter Freq:", "CPU Freq:")
"""The latter before rt-tests 2."""
OVERFLOWS = "(including overflows)"


class _Printed(Struct):
    labels: list[int] = field(default_factory=list)
    bins: list[dict[int, int]] = field(default_factory=list)
    last: list[int] | None = None
    figures: dict[str, list[str]] = field(default_factory=dict)
    line: int = 0
    version: str = ""
    planned_cpus: set[int] | None = None
    """The CPUs that it was to measure, where the file says it."""


def recognises(path: Path) -> bool:
    text = log_head(path)
    return any(name in text for name in _FREQUENCY) and "Core:" in text


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    table = _Printed()
    last = _read(table, log_lines(path)) or Line(path, 1, "")
    missing = [name for name in _FIGURES if name not in table.figures]
    if missing or table.last is None or not last.ended:
        what = f'"{missing[0]}" is missing' if missing else "the last bucket or the end of a line is missing"
        raise cut(path, last.number, what)
    cores = table.figures["Core"]
    if table.planned_cpus is not None and table.planned_cpus != set(map(int, cores)):
        raise last.wrong("the cores of the histogram are not those of the CPU list")
    for name in _FIGURES:
        if len(table.figures[name]) != len(cores):
            raise last.wrong(
                f"{name} has {len(table.figures[name])} columns, and there are {len(cores)} cores"
            )
    return foreign_of(path, _cores(table, last), Foreign(path, "oslat", (COLUMN,), version=table.version))


def _read(table: _Printed, lines: Iterator[Line]) -> Line | None:
    line = None
    for line in lines:
        name, colon, rest = line.text.strip().partition(":")
        if line.text.startswith("oslat V "):
            if "Core" in table.figures:
                raise line.second()
            table.version = line.text.removeprefix("oslat V ").strip()
        elif colon and name == "CPU list":
            table.planned_cpus = _listed(rest.strip())
        elif colon and (bucket := _BUCKET.fullmatch(name)):
            _bucket(table, line, bucket[1], rest)
        elif colon and name in _FIGURES:
            _figure(table, line, name, rest)
    return line


def _listed(text: str) -> set[int] | None:
    """The CPUs of "0,2-5"; None for anything else."""
    if not _LIST.fullmatch(text):
        return None
    parts = [[int(number) for number in part.split("-")] for part in text.split(",")]
    return {cpu for part in parts for cpu in range(part[0], part[-1] + 1)}


def _bucket(table: _Printed, line: Line, label: str, rest: str) -> None:
    if "Core" not in table.figures or table.last is not None:
        raise line.wrong("a bucket stands outside of the histogram")
    counts = [line.whole(word) for word in rest.replace(OVERFLOWS, "").split()]
    value = line.ns(label, 1000)
    if len(counts) != len(table.figures["Core"]):
        raise line.wrong(f"{len(counts)} columns, and there are {len(table.figures['Core'])} cores")
    if table.labels and value <= table.labels[-1]:
        raise line.wrong("the bucket is not above the one before it")
    table.labels.append(value)
    if OVERFLOWS in rest:
        table.last = counts
        return
    for bins, count in zip(table.bins, counts, strict=True):
        if count:
            bins[value] = count


def _figure(table: _Printed, line: Line, name: str, rest: str) -> None:
    if name == "Core" and name in table.figures:
        raise line.second()
    if name in table.figures:
        raise line.wrong(f'"{name}" is given twice')
    words = rest.replace("(us)", "").replace("(sec)", "").split()
    table.figures[name] = [line.decimal(word) for word in words]
    if any(word.startswith("-") for word in words):
        raise line.wrong("a figure is below zero")
    table.line = line.number
    if name == "Core":
        table.figures[name] = [str(line.whole(word)) for word in words]
        table.bins = [{} for _ in words]
        if not words:
            raise line.wrong("there is no core")


def _cores(table: _Printed, last: Line) -> Sequence[Core]:
    assert table.last is not None
    labels, figures = table.labels, table.figures
    width = min((b - a for a, b in pairwise(labels)), default=1000)
    return [
        Core(
            cpu=last.whole(figures["Core"][i]),
            min=figures["Minimum"][i],
            mean=figures["Average"][i],
            max=figures["Maximum"][i],
            bins=table.bins[i],
            last=table.last[i],
            last_from_ns=max(labels[-1] - width, 0),
            width_ns=width,
            line=table.line,
            seconds=float(figures["Duration"][i]),
        )
        for i in range(len(figures["Core"]))
    ]


IMPORTER = importer("oslat", "the histogram of oslat", recognises, read_file)
