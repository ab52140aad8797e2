"""The samples.raw of jitterdebugger (-s): 28 bytes a sample, the CPU, the time of the wake-up and its latency, as the
machine that measured lays them out (little-endian, 64 bits)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from howlate.errors import DamagedError, UsageError
from howlate.importers._foreign import Foreign, Raw, Rows
from howlate.importers._imports import importer
from howlate.importers._text import MOST, UNITS, head, unit_ns
from howlate.model.columns import LATENCY
from howlate.model.decode import UNREADABLE
from howlate.model.knowledge import Knowledge
from howlate.store.ingest import ACTIVATIONS
from howlate.store.stream import StreamColumn, StreamTable
from howlate.words.statement import rule

BAD_SAMPLE = rule(
    "import.bad-sample",
    "{path}, sample {number} (byte {byte}): {problem}",
    remedy="copy or measure it again: nothing of the file was imported",
)
CUT_SAMPLE = rule(
    "import.cut-sample",
    "{path} ends {bytes} bytes into sample {number}",
    remedy="copy it again, whole: nothing of the file was imported",
)
SAMPLE = np.dtype([("cpu", "<u4"), ("s", "<i8"), ("ns", "<i8"), ("latency", "<u8")])
PIECE = 1 << 15
MOST_CPUS = 8192
_COLUMNS = tuple(StreamColumn(name, "i64") for name in ("index", "time_ns", LATENCY))
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
    unit = _unit(path, mapping)
    counts: dict[int, int] = {}
    begin = None
    for _, samples in _pieces(path, unit):
        first = int((samples["s"] * UNITS["s"] + samples["ns"]).min())
        begin = first if begin is None else min(begin, first)
        for cpu, count in zip(*np.unique(samples["cpu"], return_counts=True), strict=True):
            counts[int(cpu)] = counts.get(int(cpu), 0) + int(count)
    if begin is None:
        raise DamagedError(CUT_SAMPLE(path=path, bytes=0, number=1))
    place = {cpu: number for number, cpu in enumerate(sorted(counts))}
    tables = [StreamTable(number, ACTIVATIONS, _COLUMNS, cpu, number) for cpu, number in place.items()]

    def rows() -> Iterator[tuple[int, Rows]]:
        seen = dict.fromkeys(place, 0)
        for _, samples in _pieces(path, unit):
            for cpu, number in place.items():
                own = samples[samples["cpu"] == cpu]
                if len(own):
                    yield number, _rows(own, seen[cpu], begin, unit)
                    seen[cpu] += len(own)

    return Foreign(
        path,
        "jitterdebugger",
        raw=Raw(tables, rows, {place[cpu]: count for cpu, count in counts.items()}),
        known=Knowledge(missed_releases=False, resolution_ns=unit),
        parameters={"late-policy": "backlog"},
    )


def _rows(own: npt.NDArray[Any], seen: int, begin: int, unit: int) -> Rows:
    return {
        "index": np.arange(seen, seen + len(own), dtype=np.int64),
        "time_ns": own["s"] * UNITS["s"] + own["ns"] - begin,
        LATENCY: own["latency"].astype(np.int64) * unit,
    }


def _unit(path: Path, mapping: Mapping[str, str]) -> int:
    """What results.json beside it says, else microseconds."""
    beside = head(path.parent / "results.json")
    return unit_ns(mapping, 1 if '"resolution_in_ns": 1\n' in beside else 1000)


def _pieces(path: Path, unit: int) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    number = 1
    try:
        with path.open("rb") as file:
            while piece := file.read(PIECE * SAMPLE.itemsize):
                samples = np.frombuffer(_whole(piece), SAMPLE)
                problem = _problem(samples, unit)
                if problem is not None:
                    at, what = problem
                    byte = (number - 1 + at) * SAMPLE.itemsize
                    raise DamagedError(BAD_SAMPLE(path=path, number=number + at, byte=byte, problem=what))
                number += len(samples)
                if rest := len(piece) % SAMPLE.itemsize:
                    raise DamagedError(CUT_SAMPLE(path=path, bytes=rest, number=number))
                yield number, samples
    except OSError as problem:
        raise UsageError(UNREADABLE(path=path, reason=problem.strerror or problem)) from None


def _whole(piece: bytes) -> bytes:
    return piece[: len(piece) - len(piece) % SAMPLE.itemsize]


def _problem(samples: npt.NDArray[Any], unit: int = 1) -> tuple[int, str] | None:
    """The first sample that cannot be one, and why."""
    checks = (
        ("its CPU is no CPU", samples["cpu"] >= MOST_CPUS),
        ("its time is no time since the start of a machine", (samples["s"] < 0) | (samples["s"] > _YEARS_S)),
        ("its nanoseconds are not below a second", (samples["ns"] < 0) | (samples["ns"] >= UNITS["s"])),
        ("its latency is too large", samples["latency"] >= np.uint64(MOST // UNITS["s"] * 1000 // unit)),
    )
    found = [(int(np.flatnonzero(bad)[0]), what) for what, bad in checks if bad.any()]
    return min(found, default=None)


IMPORTER = importer(
    "jitterdebugger-raw", "samples.raw of jitterdebugger (-s)", recognises, read_file, ("unit",)
)
