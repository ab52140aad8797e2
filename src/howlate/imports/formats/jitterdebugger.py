"""The results.json of jitterdebugger (-o): each CPU's extremes and histogram. What lies beyond the histogram is in
the count alone: jitterdebugger leaves it out without a word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from howlate.imports.formats._checks import believable, checked
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._rt_tests import SysInfo
from howlate.imports.formats._text import (
    MOST,
    at_place,
    figures,
    head,
    json_bins,
    line_of,
    read_object,
    typed,
)
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated


class JitterdebuggerSystem(SysInfo, frozen=True):
    """`sysinfo`, of version 3 of the format on."""

    resolution_in_ns: int = 1000


class JitterdebuggerCpu(Struct, frozen=True):
    histogram: dict[str, int]
    count: int
    min: int
    max: int
    avg: float


class JitterdebuggerFile(Struct, frozen=True):
    cpu: dict[str, dict[str, Any]]
    version: int = 0
    """Absent of jitterdebugger 0.1, 1 from 0.2 on; 3 has the resolution."""
    sysinfo: JitterdebuggerSystem = JitterdebuggerSystem()


def recognises(path: Path) -> bool:
    """The CPUs, each with a histogram first, in an object that no program of rt-tests wrote."""
    before, _, after = head(path).partition('"cpu": {')
    return before.lstrip().startswith("{") and bool(_CPU.match(after)) and '"file_version"' not in before


_CPU = re.compile(r'\s*"[0-9]{1,6}": \{\s*"histogram": \{')


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    value, text = read_object(path)
    file = typed(JitterdebuggerFile, value, path, text)
    unit = file.sysinfo.resolution_in_ns
    if unit not in (1, 1000):
        raise at_place(path, text, "sysinfo.resolution_in_ns", f"{unit} ns is not a unit of jitterdebugger's")
    if not file.cpu:
        raise at_place(path, text, "cpu", "there is no CPU")
    series_read = _series(file, path, text, unit)
    believable(series_read, path)
    series, contradictions = checked(series_read, path)
    return Foreign(
        path,
        "jitterdebugger",
        (LATENCY,),
        series,
        known=histogram_known(series, unit, missed_releases=True),
        parameters={"late-policy": "backlog"},
        facts=file.sysinfo.facts(),
        version=f"format {file.version}",
        contradictions=contradictions,
    )


def _series(file: JitterdebuggerFile, path: Path, text: str, unit: int) -> Sequence[ForeignSeries]:
    series = []
    for number, (name, entry) in enumerate(file.cpu.items()):
        place = f"cpu.{name}"
        cpu = typed(JitterdebuggerCpu, entry, path, text, place)
        if not name.isdecimal() or len(name) > 6 or not 0 <= cpu.count < MOST:
            raise at_place(path, text, place, "this is not the account of a CPU")
        bins = json_bins(cpu.histogram, path, text, f"{place}.histogram", unit)
        figures(path, text, place, min=cpu.min, max=cpu.max, avg=cpu.avg)
        stated = Stated(
            LATENCY,
            number,
            int(name),
            unit,
            min=str(cpu.min) if cpu.count else None,
            mean=f"{cpu.avg:.2f}" if cpu.count else None,
            max=str(cpu.max) if cpu.count else None,
            count=cpu.count,
            beyond=max(cpu.count - sum(bins.values()), 0),
            beyond_from_ns=max(bins, default=-unit) + unit,
        )
        series.append(ForeignSeries(stated, bins, line_of(text, place)))
    return series


IMPORTER = importer("jitterdebugger", "results.json of jitterdebugger (-o)", recognises, read_file)
