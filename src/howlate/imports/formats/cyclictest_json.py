"""What cyclictest writes with --json: each thread's extremes, and its histogram where -h was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from howlate.imports.formats._checks import NS, US, UnitEvidence, checked, unit_of
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._rt_tests import (
    RtTestsFile,
    command_of,
    ended_with,
    is_json_of,
    options,
    period_and_policy,
    started,
    threads_of,
    version_of,
)
from howlate.imports.formats._text import at_place, figures, json_bins, line_of, read_object, typed
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated


class CyclictestThread(Struct, frozen=True):
    cycles: int
    min: int
    max: int
    avg: float
    cpu: int = -1
    histogram: dict[str, int] = field(default_factory=dict)


class CyclictestFile(RtTestsFile, frozen=True):
    resolution_in_ns: int | None = None
    """1 where it ran with -N, else 0."""


def recognises(path: Path) -> bool:
    return is_json_of(path, "cyclictest")


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    value, text = read_object(path)
    file = typed(CyclictestFile, value, path, text)
    threads = threads_of(CyclictestThread, file, path, text)
    command = command_of(value)
    unit = _unit(mapping, file, threads, JsonSource(path, text, command))
    some = {name: thread for name, thread in threads.items() if thread.cycles > 0}
    if not some:
        raise at_place(path, text, "thread", "no thread has measured anything")
    series, contradictions = checked(_series(some, path, text, unit), path)
    parameters, policy = period_and_policy(command, len(threads))
    return Foreign(
        path,
        "cyclictest",
        (LATENCY,),
        series,
        known=histogram_known(series, unit),
        parameters={**parameters, "late-policy": "skip"},
        policy=policy,
        facts=file.sysinfo.facts(),
        version=version_of(value),
        contradictions=contradictions,
        notes=(*ended_with(file, path), *_asleep(threads, path, text)),
        started=started(file.start_time),
    )


class JsonSource(Struct, frozen=True):
    """The file, and the command line that it names."""

    path: Path
    text: str
    command: str


def _unit(
    mapping: Mapping[str, str],
    file: CyclictestFile,
    threads: Mapping[str, CyclictestThread],
    source: JsonSource,
) -> int:
    path, text, command = source.path, source.text, source.command
    resolution = file.resolution_in_ns
    if resolution not in (None, 0, 1):
        raise at_place(path, text, "resolution_in_ns", f"{resolution} is neither 0 nor 1")
    if resolution is not None and command and bool(resolution) != ("nsecs" in options(command)):
        problem = "the command line has" + (" no -N" if resolution else " -N")
        raise at_place(path, text, "resolution_in_ns", f"it is {resolution}, and {problem}")
    known = UnitEvidence(
        stated=None if resolution is None else NS if resolution else US,
        command=command,
        means=[thread.avg for thread in threads.values()],
    )
    return unit_of(mapping, path, known)


def _series(
    threads: Mapping[str, CyclictestThread], path: Path, text: str, unit: int
) -> Sequence[ForeignSeries]:
    series = []
    for name, thread in threads.items():
        place = f"thread.{name}"
        bins = json_bins(thread.histogram, path, text, f"{place}.histogram", unit)
        counted = sum(bins.values())
        figures(path, text, place, min=thread.min, max=thread.max, avg=thread.avg)
        # the file is written while the threads still run: a thread may be a sample ahead of its histogram
        beyond = max(thread.cycles - counted, 0) if thread.histogram else thread.cycles
        stated = Stated(
            LATENCY,
            int(name),
            thread.cpu,
            unit,
            min=str(thread.min),
            mean=f"{thread.avg:.2f}",
            max=str(thread.max),
            count=max(thread.cycles, counted),
            beyond=beyond,
            beyond_from_ns=max(bins, default=-unit) + unit if thread.histogram else None,
        )
        series.append(ForeignSeries(stated, bins, line_of(text, place)))
    return series


def _asleep(threads: Mapping[str, CyclictestThread], path: Path, text: str) -> list[str]:
    return [
        f"{path}, line {line_of(text, f'thread.{name}')}: thread {name} never woke and has no latency: it is left out"
        for name, thread in threads.items()
        if thread.cycles <= 0
    ]


IMPORTER = importer("cyclictest-json", "the JSON of cyclictest (--json)", recognises, read_file, ("unit",))
