"""What cyclictest writes with --json: each thread's extremes, and its histogram where -h was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from howlate.importers._checks import checked
from howlate.importers._foreign import Foreign, ForeignSeries, histogram_known
from howlate.importers._imports import importer
from howlate.importers._rt_tests import (
    RtTestsFile,
    is_json_of,
    options_of,
    period_and_policy,
    started,
    version_of,
)
from howlate.importers._text import at_place, figures, json_bins, line_of, read_object, typed, unit_ns
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated


@dataclass(frozen=True)
class CyclictestThread:
    """An entry of `thread`."""

    cycles: int
    min: int
    max: int
    avg: float
    cpu: int = -1
    histogram: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class CyclictestFile(RtTestsFile):
    """The whole file."""

    thread: dict[str, CyclictestThread] = field(default_factory=dict)


def recognises(path: Path) -> bool:
    return is_json_of(path, "cyclictest")


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    value, text = read_object(path)
    file = typed(CyclictestFile, value, path, text)
    if len(file.thread) != file.num_threads or not file.thread:
        raise at_place(
            path, text, "num_threads", f"{file.num_threads} threads, and {len(file.thread)} follow"
        )
    options = options_of(value)
    unit = 1 if {"-N", "--nsecs"} & set(options) else unit_ns(mapping)
    series, contradictions = checked(_series(file, path, text, unit), path)
    parameters, policy = period_and_policy(options)
    return Foreign(
        path,
        "cyclictest",
        series,
        known=histogram_known(series, unit),
        parameters={**parameters, "late-policy": "skip"},
        policy=policy,
        facts=file.sysinfo.facts(),
        version=version_of(value),
        contradictions=contradictions,
        started=started(file.start_time),
    )


def _series(file: CyclictestFile, path: Path, text: str, unit: int) -> Sequence[ForeignSeries]:
    found = []
    for number, (name, thread) in enumerate(file.thread.items()):
        place = f"thread.{name}"
        bins = json_bins(thread.histogram, path, text, f"{place}.histogram", unit)
        counted = sum(bins.values())
        figures(path, text, place, min=thread.min, max=thread.max, avg=thread.avg)
        # the file is written while the threads still run: a thread may be a sample ahead of its histogram
        beyond = max(thread.cycles - counted, 0) if thread.histogram else thread.cycles
        some = thread.cycles > 0
        stated = Stated(
            LATENCY,
            number,
            thread.cpu,
            unit,
            min=str(thread.min) if some else None,
            mean=f"{thread.avg:.2f}" if some else None,
            max=str(thread.max) if some else None,
            count=max(thread.cycles, counted),
            beyond=beyond,
            beyond_from_ns=max(bins, default=-unit) + unit if thread.histogram else None,
        )
        found.append(ForeignSeries(stated, bins, line_of(text, place)))
    return found


IMPORTER = importer("cyclictest-json", "the JSON of cyclictest (--json)", recognises, read_file, ("unit",))
