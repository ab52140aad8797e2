"""What oslat writes with --json."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from howlate.imports.formats._foreign import Foreign, importer
from howlate.imports.formats._rt_tests import (
    RtTestsFile,
    ended_with,
    is_json_of,
    options_of,
    started,
    threads_of,
    version_of,
)
from howlate.imports.formats._text import at_place, figures, json_bins, line_of, read_object, typed
from howlate.imports.formats.oslat import COLUMN, Core, foreign_of

BUCKETS, WIDTH_NS = 32, 1000
"""oslat's own, unless its command line says otherwise."""


class OslatThread(Struct, frozen=True):
    cpu: int
    min: int
    avg: float
    max: int
    duration: float
    histogram: dict[str, int]


def recognises(path: Path) -> bool:
    return is_json_of(path, "oslat")


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    value, text = read_object(path)
    file = typed(RtTestsFile, value, path, text)
    threads = threads_of(OslatThread, file, path, text)
    options = options_of(value)
    buckets, width = (
        _option(options, "b", "bucket-size", BUCKETS),
        _option(options, "W", "bucket-width", WIDTH_NS),
    )
    cores = [_core(name, thread, path, text, buckets * width, width) for name, thread in threads.items()]
    return foreign_of(
        path,
        cores,
        Foreign(
            path,
            "oslat",
            (COLUMN,),
            facts=file.sysinfo.facts(),
            version=version_of(value),
            notes=ended_with(file, path),
            started=started(file.start_time),
        ),
    )


def _option(options: list[str], short: str, long: str, fallback: int) -> int:
    text = " ".join(options)
    match = re.search(rf"(?:^| )(?:-{short} ?|--{long}[ =])([0-9]{{1,9}})", text)
    return int(match[1]) or fallback if match else fallback


def _core(name: str, thread: OslatThread, path: Path, text: str, end_ns: int, width: int) -> Core:
    place = f"thread.{name}"
    bins = json_bins(thread.histogram, path, text, f"{place}.histogram", 1000)
    end = max((label for label in bins if label >= end_ns), default=end_ns)
    last = bins.pop(end, 0)
    figures(path, text, place, min=thread.min, max=thread.max, avg=thread.avg, duration=thread.duration)
    if min(thread.min, thread.max, thread.cpu) < 0:
        raise at_place(path, text, place, "a figure is below zero")
    return Core(
        thread.cpu,
        min=str(thread.min),
        mean=f"{thread.avg:.6f}",
        max=str(thread.max),
        bins=bins,
        last=last,
        last_from_ns=end - width,
        width_ns=width,
        line=line_of(text, place),
        seconds=thread.duration,
    )


IMPORTER = importer("oslat-json", "the JSON of oslat (--json)", recognises, read_file)
