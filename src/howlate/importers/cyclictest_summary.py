"""The line that cyclictest prints of each thread (-q, or the last of a screen): cycles, minimum, mean, maximum."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from howlate.importers._checks import checked
from howlate.importers._foreign import Foreign, ForeignSeries, histogram_known
from howlate.importers._imports import importer
from howlate.importers._text import Line, cut, head, lines, unit_ns
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated
from howlate.model.units import format_duration

_THREAD = re.compile(
    r"T: *([0-9]{1,6}) \( *[0-9]{1,10}\) P: *([0-9]{1,3}) I:([0-9]{1,12}) C: *([0-9]{1,18}) "
    r"Min: *(-?[0-9]{1,18}) Act: *-?[0-9]{1,18} Avg: *(-?[0-9]{1,18}) Max: *(-?[0-9]{1,18})"
)
_BEGINS = re.compile(r"^(?:\x1b\[[0-9]*[A-Z])*T: *[0-9]{1,6} \(", re.MULTILINE)
_ESCAPE = re.compile(r"\x1b\[[0-9]*[A-Z]")


def recognises(path: Path) -> bool:
    text = head(path)
    return bool(_BEGINS.search(text)) and " P:" in text and "# Histogram" not in text


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    """Of a thread's lines the last: the screen prints it over and over."""
    unit, last = unit_ns(mapping), None
    threads: dict[int, tuple[ForeignSeries, int, int]] = {}
    for last in lines(path):
        text = _ESCAPE.sub("", last.text).strip()
        if text.startswith("T:"):
            entry = _of_thread(last, text, unit)
            threads[entry[0].stated.thread] = entry
    if last is None or not threads:
        raise cut(path, last.number if last else 1, "no line of a thread stands there")
    if not last.ended:
        raise cut(path, last.number, "its last line is not whole")
    series, contradictions = checked([entry for entry, _, _ in threads.values()], path)
    priorities = {priority for _, priority, _ in threads.values()}
    periods = {period for _, _, period in threads.values()}
    period = {"period": format_duration(1000 * min(periods))} if len(periods) == 1 and min(periods) else {}
    return Foreign(
        path,
        "cyclictest",
        series,
        known=histogram_known(series, unit),
        parameters={**period, "late-policy": "skip"},
        policy=f"fifo:{max(priorities)}" if max(priorities) else "other",
        contradictions=contradictions,
    )


def _of_thread(line: Line, text: str, unit: int) -> tuple[ForeignSeries, int, int]:
    """The thread's figures, its priority and its period in microseconds."""
    found = _THREAD.fullmatch(text)
    if found is None:
        raise line.wrong(f'"{text[:60]}" is not the line of a thread')
    thread, priority, period, cycles = (int(word) for word in found.groups()[:4])
    smallest, mean, largest = found.groups()[4:]
    if not cycles:
        raise line.wrong(f"thread {thread} has measured nothing")
    stated = Stated(
        LATENCY, thread, -1, unit, min=smallest, mean=mean, max=largest, count=cycles, beyond=cycles
    )
    return ForeignSeries(stated, {}, line.number), priority, period


IMPORTER = importer(
    "cyclictest-summary", "the lines of cyclictest's threads (-q)", recognises, read_file, ("unit",)
)
