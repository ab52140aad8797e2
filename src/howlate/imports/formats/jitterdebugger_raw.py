"""The samples.raw of jitterdebugger (-s): 28 bytes a sample, the CPU, the time of the wake-up and its latency, as the
machine that measured lays them out (little-endian, 64 bits)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from howlate.errors import DamagedError, UsageError
from howlate.imports.formats._checks import UnitEvidence, unit_of
from howlate.imports.formats._foreign import Foreign, Raw, Rows, importer
from howlate.imports.formats._text import MOST, UNITS, bad_file, head
from howlate.model.columns import LATENCY
from howlate.model.decode import UNREADABLE
from howlate.model.knowledge import Knowledge
from howlate.store.ingest import ACTIVATIONS
from howlate.store.stream import StreamColumn, StreamTable

SAMPLE = np.dtype([("cpu", "<u4"), ("s", "<i8"), ("ns", "<i8"), ("latency", "<u8")])
ENDS = "the file ends here"
PIECE = 1 << 15
MOST_CPUS = 8192
_COLUMNS = tuple(StreamColumn(name, "i64") for name in ("index", "time_ns", LATENCY))
_RESOLUTION = re.compile(r'"resolution_in_ns": *(1000|1)[^0-9]')
_YEARS_S = 10 * 366 * 86400


def recognises(path: Path) -> bool:
    """By its name, or by samples that make sense: the file begins with nothing that says what it is."""
    try:
        with path.open("rb") as file:
            first = np.frombuffer(_whole(file.read(SAMPLE.itemsize * 64)), SAMPLE)
        return len(first) > 0 and _problem(first) is None
    except (OSError, ValueError):
        return False


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    seen = _look(path)
    counts, begin = seen.counts, seen.begin
    unit = _unit(path, mapping, seen)
    place = {cpu: number for number, cpu in enumerate(sorted(counts))}
    tables = [StreamTable(number, ACTIVATIONS, _COLUMNS, cpu, number) for cpu, number in place.items()]

    def rows() -> Iterator[tuple[int, Rows]]:
        seen = dict.fromkeys(place, 0)
        for _, samples in _pieces(path):
            for cpu, number in place.items():
                own = samples[samples["cpu"] == cpu]
                if len(own):
                    yield number, _rows(own, seen[cpu], begin, unit)
                    seen[cpu] += len(own)

    return Foreign(
        path,
        "jitterdebugger",
        (LATENCY,),
        raw=Raw(tables, rows, {place[cpu]: count for cpu, count in counts.items()}),
        known=Knowledge(missed_releases=False, resolution_ns=unit),
        parameters={"late-policy": "backlog"},
    )


class _SamplesSeen(Struct):
    counts: dict[int, int] = field(default_factory=dict)
    """Samples by CPU."""
    last: dict[int, int] = field(default_factory=dict)
    """The last time by CPU."""
    begin: int = MOST
    total: float = 0.0
    """The sum of the latencies, in the file's unit."""
    largest: int = 0


def _look(path: Path) -> _SamplesSeen:
    seen = _SamplesSeen()
    for number, samples in _pieces(path):
        times = samples["s"] * UNITS["s"] + samples["ns"]
        seen.begin = min(seen.begin, int(times.min()))
        for cpu in map(int, np.unique(samples["cpu"])):
            at = np.flatnonzero(samples["cpu"] == cpu)
            back = np.flatnonzero(np.diff(times[at], prepend=seen.last.get(cpu, -1)) <= 0)
            if len(back):
                raise _bad(
                    path,
                    number + int(at[back[0]]),
                    f"its time is not after that of the one before it of CPU {cpu}",
                )
            seen.last[cpu] = int(times[at[-1]])
            seen.counts[cpu] = seen.counts.get(cpu, 0) + len(at)
        seen.total += float(samples["latency"].astype(np.float64).sum())
        seen.largest = max(seen.largest, int(samples["latency"].max()))
    if not seen.counts:
        raise _bad(path, 1, ENDS)
    return seen


def _bad(path: Path, number: int, problem: str) -> DamagedError:
    return bad_file(path, f"sample {number} (byte {(number - 1) * SAMPLE.itemsize})", problem)


def _rows(own: npt.NDArray[Any], seen: int, begin: int, unit: int) -> Rows:
    return {
        "index": np.arange(seen, seen + len(own), dtype=np.int64),
        "time_ns": own["s"] * UNITS["s"] + own["ns"] - begin,
        LATENCY: own["latency"].astype(np.int64) * unit,
    }


def _unit(path: Path, mapping: Mapping[str, str], seen: _SamplesSeen) -> int:
    """From results.json in the same folder, else from the samples."""
    resolution = _RESOLUTION.search(head(path.parent / "results.json"))
    stated = None if resolution is None else int(resolution[1])
    means = [seen.total / sum(seen.counts.values())]
    unit = unit_of(mapping, path, UnitEvidence(stated=stated, means=means))
    if seen.largest * unit >= MOST // 1000:
        raise _bad(path, 1, "the latency of this sample or a later one is too large")
    return unit


def _pieces(path: Path) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Samples, and the number of the first of them."""
    number = 1
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE * SAMPLE.itemsize):
                samples = np.frombuffer(_whole(piece), SAMPLE)
                problem = _problem(samples)
                if problem is not None:
                    raise _bad(path, number + problem[0], problem[1])
                if len(piece) % SAMPLE.itemsize:
                    raise _bad(path, number + len(samples), ENDS)
                yield number, samples
                number += len(samples)
    except OSError as problem:
        raise UsageError(UNREADABLE(path=path, reason=problem.strerror or problem)) from None


def _whole(piece: bytes) -> bytes:
    return piece[: len(piece) - len(piece) % SAMPLE.itemsize]


def _problem(samples: npt.NDArray[Any]) -> tuple[int, str] | None:
    """The first sample that cannot be one, and why."""
    checks = (
        ("its CPU is out of range", samples["cpu"] >= MOST_CPUS),
        ("its time is out of range", (samples["s"] < 0) | (samples["s"] > _YEARS_S)),
        ("its nanoseconds are not below a second", (samples["ns"] < 0) | (samples["ns"] >= UNITS["s"])),
        ("its latency is too large", samples["latency"] >= np.uint64(MOST // UNITS["s"] * 1000)),
    )
    problems = [(int(np.flatnonzero(bad)[0]), what) for what, bad in checks if bad.any()]
    return min(problems, default=None)


IMPORTER = importer(
    "jitterdebugger-raw", "samples.raw of jitterdebugger (-s)", recognises, read_file, ("unit",)
)
