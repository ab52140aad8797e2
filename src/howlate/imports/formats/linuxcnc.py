"""What LinuxCNC's `latency-histogram --nox` prints of each thread, a line each time: minimum, maximum and deviation.

It measures the jitter of the period, early as well as late, not the latency to a release. Of a thread's lines the
last counts. How many samples there were it does not say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from howlate.imports.formats._checks import checked
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._text import Line, ended, log_head, log_lines
from howlate.model.stated import Stated

_NUMBER = r" *(-?[0-9]{1,12}(?:\.[0-9]{1,6})?) uS"
_LINE = re.compile(rf" *([0-9]{{1,9}}) secs +(base|servo) min:{_NUMBER} max:{_NUMBER} sdev:{_NUMBER} *")
_BEGINS = re.compile(r"^ *[0-9]{1,9} secs +(?:base|servo) min:", re.MULTILINE)


def recognises(path: Path) -> bool:
    return bool(_BEGINS.search(log_head(path)))


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    threads: dict[str, tuple[Line, re.Match[str]]] = {}
    last = None
    for last in log_lines(path):
        if _BEGINS.match(last.text):
            found = _LINE.fullmatch(last.text)
            if found is None:
                raise last.wrong(f'"{last.text[:60].strip()}" is not the line of a thread')
            if found[2] in threads:
                _goes_on(threads[found[2]][1], last, found)
            threads[found[2]] = last, found
    ended(path, last, "" if threads else "it has no line of a thread")
    series, contradictions = checked(_series(threads), path)
    return Foreign(
        path,
        "linuxcnc",
        tuple(entry.stated.column for entry in series),
        series,
        known=histogram_known(series, 1),
        seconds=float(max(int(found[1]) for _, found in threads.values())),
        contradictions=contradictions,
    )


def _goes_on(before: re.Match[str], line: Line, now: re.Match[str]) -> None:
    """A later line of the same measurement: more seconds, and no narrower extremes."""
    low, high = Decimal(now[3]), Decimal(now[4])
    narrower = low <= high and (low > Decimal(before[3]) or high < Decimal(before[4]))
    if int(now[1]) <= int(before[1]) or narrower:
        raise line.second()


def _series(threads: Mapping[str, tuple[Line, re.Match[str]]]) -> Sequence[ForeignSeries]:
    return [
        ForeignSeries(
            Stated(
                f"{name}_jitter_ns",
                number,
                min=match[3],
                max=match[4],
                stddev=match[5],
                beyond=None,
            ),
            {},
            line.number,
        )
        for number, (name, (line, match)) in enumerate(threads.items())
    ]


IMPORTER = importer("linuxcnc", "LinuxCNC's latency-histogram (--nox)", recognises, read_file)
