"""A histogram in columns of whole numbers, as scripts around cyclictest leave it: a value, then how many samples of
it each thread had. Nothing in it says what lay beyond its range; `--map overflow=N` does, of all threads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import gcd
from pathlib import Path

from howlate.imports.formats._checks import NO_WAKE_UP, UnitEvidence, unit_of
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._text import Line, bad_map, cut, ended, head, log_head, log_lines
from howlate.imports.formats.cyclictest import BEGINS
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated

_SEPARATOR = r"(?:[ \t]*[,;][ \t]*|[ \t]+)"
_ROW = re.compile(rf"-?[0-9]{{1,18}}(?:{_SEPARATOR}[0-9]{{1,18}})+")
_SEPARATORS = re.compile(_SEPARATOR)
MOST_THREADS = 8192


def recognises(path: Path) -> bool:
    text = log_head(path)
    rows = [line for line in text.splitlines()[:100] if line and not line.startswith("#")]
    if not head(path).endswith("\n") and len(rows) > 1:
        rows.pop()
    others = any(f"\n{its}" in f"\n{text}" for its in (BEGINS, "# Min Latencies:"))
    return bool(rows) and all(map(_ROW.fullmatch, rows)) and not others


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    bins: list[dict[int, int]] = []
    last = value = None
    for last in log_lines(path):
        text = last.text.strip()
        if text.startswith("# Min Latencies:"):
            raise last.wrong("these are figures of cyclictest: --format cyclictest reads them")
        if text and not text.startswith("#"):
            value = _row(bins, last, text, value)
    if value is None:
        raise cut(path, last.number if last else 1, "it has no row of a histogram")
    last = ended(path, last, "")
    unit = _unit(mapping, path, bins)
    last.ns(str(value), unit)
    beyond = _overflow(mapping)
    series = [
        ForeignSeries(
            Stated(
                LATENCY,
                thread,
                unit_ns=unit,
                beyond=beyond if thread == 0 or not beyond else 0,
                beyond_from_ns=(value + 1) * unit,
            ),
            {number * unit: count for number, count in own.items()},
        )
        for thread, own in enumerate(bins)
    ]
    return Foreign(path, "histogram", (LATENCY,), series, known=histogram_known(series, unit))


def _unit(mapping: Mapping[str, str], path: Path, bins: Sequence[Mapping[int, int]]) -> int:
    """Bins of one unit each whose mean is below what any wake-up takes in nanoseconds are microseconds."""
    whole = [own for own in bins if own]
    fine = gcd(*(value for own in whole for value in own)) % 10 != 0
    means = [sum(value * count for value, count in own.items()) / sum(own.values()) for own in whole]
    return unit_of(mapping, path, UnitEvidence(means=means if fine else (NO_WAKE_UP,)))


def _row(bins: list[dict[int, int]], line: Line, text: str, before: int | None) -> int:
    if not _ROW.fullmatch(text):
        raise line.wrong(f'"{text[:60]}" is not a row of a histogram')
    first, *counts = _SEPARATORS.split(text)
    value = line.signed(first)
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
        raise bad_map("overflow", text, "it is not a count", "write overflow=0")
    return int(text)


IMPORTER = importer(
    "histogram", "a histogram in columns: value, counts", recognises, read_file, ("unit", "overflow")
)
