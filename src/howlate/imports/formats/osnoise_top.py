"""The table of `rtla osnoise top` and `rtla hwnoise`: per CPU how much noise there was in all periods, and the most
of one period. Of a file with several tables (without -q a new one each second) the last counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

from howlate.imports.formats._checks import checked
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._rtla import Tables, seconds_of
from howlate.imports.formats._text import Line, log_head
from howlate.model.stated import Stated

COLUMN, SINGLE = "period_noise_ns", "single_noise_ns"
_DURATION = re.compile(r"duration: *([0-9: ]{0,40}?) *[|] time is in (\w{1,20})")
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
_LIKE_A_ROW = re.compile(r" *[0-9]{1,5} #")
_TITLES = {"Operating System Noise": "osnoise", "Hardware-related Noise": "hwnoise"}
_OF_HARDWARE = 7
"""The number that hwnoise prints."""


def recognises(path: Path) -> bool:
    text = log_head(path)
    return "| time is in " in text and "Max Noise" in text


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    table = _read(path)
    rows: list[Row] = table.rows
    series, contradictions = checked(
        [of_cpu for n, row in enumerate(rows) for of_cpu in _series(n, *row)], path
    )
    single = max(int(figures["max single"]) for _, _, _, figures in rows)
    return Foreign(
        path,
        table.test,
        (SINGLE,),
        series,
        known=replace(histogram_known(series, 1000, missed_releases=True), threshold_ns=None),
        seconds=table.seconds,
        contradictions=contradictions,
        outcomes={"largest_single_noise_ns": single * 1000},
    )


Row = tuple[Line, int, int, Mapping[str, str]]
"""Where it stands, the CPU, its periods, its figures."""


class _OsnoiseTop(Tables):
    test: str = "osnoise"


def _read(path: Path) -> _OsnoiseTop:
    top = _OsnoiseTop()
    for line, text in top.texts(path):
        if text.strip() in _TITLES:
            top.test = _TITLES[text.strip()]
        elif header := _DURATION.match(text.strip()):
            if header[2] != "us":
                raise line.wrong(f"{header[2]} is not a unit of this table")
            top.begin(line)
            top.seconds = seconds_of(header[1])
        elif row := _ROW.fullmatch(text):
            _row(top, line, row)
        elif _LIKE_A_ROW.match(text):
            raise line.wrong(f'"{text[:60].strip()}" is not the row of a CPU')
    return top


def _row(top: _OsnoiseTop, line: Line, row: re.Match[str]) -> None:
    words = row[3].split()
    if len(words) not in (len(_NAMES), _OF_HARDWARE):
        raise line.wrong(f"{len(words)} figures, and a CPU has {len(_NAMES)}, or {_OF_HARDWARE} of hwnoise")
    figures = dict(zip(_NAMES, words, strict=False))
    numbers = {name: 0 if name == "available" else line.whole(word) for name, word in figures.items()}
    line.decimal(figures["available"])
    if numbers["max single"] > numbers["max noise"] or numbers["noise"] > numbers["runtime"]:
        raise line.wrong(f"the columns of CPU {row[1]} are not those of the header")
    cpu, periods = int(row[1]), line.whole(row[2])
    grows = (periods, *(numbers[name] for name in ("runtime", "noise", "max noise", "max single")))
    top.add(line, cpu, grows, [(line, cpu, periods, figures)])


def _series(
    thread: int, line: Line, cpu: int, periods: int, figures: Mapping[str, str]
) -> Sequence[ForeignSeries]:
    """The noise of a period altogether, and the longest single one, which alone says how late a task would be."""
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
    single = Stated(SINGLE, thread, cpu, max=figures["max single"] if periods else None, beyond=None)
    return [ForeignSeries(stated, {}, line.number), ForeignSeries(single, {}, line.number)]


IMPORTER = importer("osnoise-top", "the table of rtla osnoise (top) or hwnoise", recognises, read_file)
