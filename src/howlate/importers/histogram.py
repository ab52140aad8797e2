"""A histogram in columns of whole numbers, as scripts around cyclictest leave it: a value, then how many samples of
it each thread had. Nothing in it says what lay beyond its range; `--map overflow=N` does, of all threads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from howlate.errors import UsageError
from howlate.importers._foreign import Foreign, ForeignSeries, histogram_known
from howlate.importers._imports import importer
from howlate.importers._text import BAD_MAP, Line, cut, head, lines, unit_ns
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated

_SEPARATOR = r"(?:[ \t]*[,;][ \t]*|[ \t]+)"
_ROW = re.compile(rf"\s*-?[0-9]{{1,18}}(?:{_SEPARATOR}[0-9]{{1,18}})+\s*")
_SEPARATORS = re.compile(_SEPARATOR)
MOST_THREADS = 8192


def recognises(path: Path) -> bool:
    text = head(path)
    rows = [line for line in text.splitlines()[:100] if line.strip() and not line.startswith("#")]
    if not text.endswith("\n") and len(rows) > 1:
        rows.pop()
    return bool(rows) and all(map(_ROW.fullmatch, rows)) and "# Histogram\n" not in text


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    unit = unit_ns(mapping)
    bins: list[dict[int, int]] = []
    last = value = None
    for last in lines(path):
        if last.text.strip() and not last.text.startswith("#"):
            value = _row(bins, last, unit, value)
    if last is None or value is None:
        raise cut(path, last.number if last else 1, "no row of a histogram stands there")
    if not last.ended:
        raise cut(path, last.number, "its last line is not whole")
    beyond = _overflow(mapping)
    series = [
        ForeignSeries(
            Stated(
                LATENCY,
                thread,
                unit_ns=unit,
                beyond=beyond if thread == 0 or not beyond else 0,
                beyond_from_ns=value + unit,
            ),
            own,
        )
        for thread, own in enumerate(bins)
    ]
    return Foreign(path, "histogram", series, known=histogram_known(series, unit))


def _row(bins: list[dict[int, int]], line: Line, unit: int, before: int | None) -> int:
    """The row's value."""
    if not _ROW.fullmatch(line.text):
        raise line.wrong(f'"{line.text[:60]}" is not a row of a histogram')
    first, *counts = _SEPARATORS.split(line.text.strip())
    value = line.ns(first, unit)
    if before is not None and value <= before:
        raise line.wrong(f"{first} is not above the value before it")
    bins += [{} for _ in counts] if not bins else []
    if len(counts) != len(bins) or len(counts) > MOST_THREADS:
        raise line.wrong(f"{len(counts)} columns of counts follow {len(bins)}")
    for own, word in zip(bins, counts, strict=True):
        if count := line.whole(word):
            own[value] = count
    return value


def _overflow(mapping: Mapping[str, str]) -> int | None:
    text = mapping.get("overflow")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise UsageError(
            BAD_MAP(name="overflow", value=text, problem="that is no count", hint="write overflow=0")
        )
    return int(text)


IMPORTER = importer(
    "histogram", "a histogram in columns: value, counts", recognises, read_file, ("unit", "overflow")
)
