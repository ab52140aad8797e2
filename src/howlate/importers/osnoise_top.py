"""The table of `rtla osnoise top` and `rtla hwnoise`: per CPU how much noise there was in all periods, and the most
of one period. Of a file with several tables (without -q a new one each second) the last counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from howlate.importers._checks import checked
from howlate.importers._foreign import Foreign, ForeignSeries, histogram_known
from howlate.importers._imports import importer
from howlate.importers._rtla import seconds_of
from howlate.importers._text import Line, cut, head, lines
from howlate.model.stated import Stated

COLUMN = "period_noise_ns"
_ESCAPE = re.compile(r"\x1b(?:c|\[[0-9;]*[A-Za-z])")
_DURATION = re.compile(r"duration: *(.*?) *\| time is in us")
_ROW = re.compile(r" *([0-9]{1,5}) #([0-9]{1,9}) +(.*)")
_NAMES = (
    "runtime",
    "noise",
    "available",
    "max noise",
    "max single",
    "hardware",
    "nmi",
    "irq",
    "softirq",
    "thread",
)
_OF_HARDWARE = 7
"""hwnoise prints so many of them."""


def recognises(path: Path) -> bool:
    return "| time is in us" in head(path) and "Max Noise" in head(path)


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    rows, seconds, last = _last_table(lines(path))
    if last is None or not rows:
        raise cut(path, last.number if last else 1, "no row of a CPU stands in its last table")
    if not last.ended:
        raise cut(path, last.number, "its last line is not whole")
    series, contradictions = checked([_series(n, *row) for n, row in enumerate(rows)], path)
    single = max(int(figures["max single"]) for _, _, _, figures in rows)
    return Foreign(
        path,
        "osnoise",
        series,
        known=histogram_known(series, 1000, missed_releases=True),
        seconds=seconds,
        contradictions=contradictions,
        outcomes={"largest_single_noise_ns": single * 1000},
    )


Row = tuple[Line, int, int, Mapping[str, str]]
"""Where it stands, the CPU, its periods, its figures."""


def _last_table(found: Iterator[Line]) -> tuple[list[Row], float, Line | None]:
    rows: list[Row] = []
    seconds = 0.0
    line = None
    for line in found:
        text = _ESCAPE.sub("", line.text)
        if header := _DURATION.match(text.strip()):
            rows, seconds = [], seconds_of(header[1])
        elif row := _ROW.fullmatch(text):
            words = row[3].split()
            if len(words) not in (len(_NAMES), _OF_HARDWARE):
                raise line.wrong(
                    f"{len(words)} figures, and a CPU has {len(_NAMES)}, or {_OF_HARDWARE} of hwnoise"
                )
            figures = dict(zip(_NAMES, words, strict=False))
            for name, word in figures.items():
                line.decimal(word) if name == "available" else line.whole(word)
            rows.append((line, int(row[1]), line.whole(row[2]), figures))
    return rows, seconds, line


def _series(thread: int, line: Line, cpu: int, periods: int, figures: Mapping[str, str]) -> ForeignSeries:
    mean = None if not periods else f"{Decimal(figures['noise']) / periods:.3f}"
    stated = Stated(
        COLUMN,
        thread,
        cpu,
        mean=mean,
        max=figures["max noise"] if periods else None,
        count=periods,
        beyond=periods,
    )
    return ForeignSeries(stated, {}, line.number)


IMPORTER = importer("osnoise-top", "the table of rtla osnoise (top) or hwnoise", recognises, read_file)
