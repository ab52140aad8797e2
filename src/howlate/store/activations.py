"""The activations of a whole cell, one by one: as they were recorded, or from a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

from msgspec import Struct

from howlate.errors import DamagedError, UsageError
from howlate.store.duck import connection, numbers, reading, scan
from howlate.store.run_folder import SAMPLES, CellFiles
from howlate.store.stream import StreamReader
from howlate.words.statement import message


class Activation(Struct, frozen=True):
    thread: int
    release: int
    """The index of the release that it served."""
    release_ns: int
    """Since the first release."""
    latency_ns: int
    warm_up: bool = False


class Activations(Struct, frozen=True):
    t0_ns: int
    """The first release, by the machine's CLOCK_MONOTONIC."""
    each: tuple[Activation, ...]

    def worst(self, count: int) -> list[Activation]:
        """Those with the largest latencies, without the warm-up."""
        counted = [activation for activation in self.each if not activation.warm_up]
        return sorted(counted, key=lambda activation: -activation.latency_ns)[:count]


NO_ACTIVATIONS = message(
    "store.no-activations",
    "the samples of {cell} are not latencies of releases",
    remedy="choose a cell of the test cyclic",
)
_COLUMNS = ("release", "release_ns", "latency_ns", "flags")
_WARM_UP = 1


def recorded_activations(files: CellFiles) -> Activations:
    """Those of a cell in a run folder; UsageError if its test has no releases."""
    path = files.folder / SAMPLES
    t0_ns = files.record().get("header", {}).get("t0_ns")
    with connection(files.folder) as database, reading(path):
        names = [
            row[0] for row in database.execute(f"DESCRIBE SELECT * FROM {scan(database, path)}").fetchall()
        ]
        if not set(_COLUMNS) <= set(names) or not isinstance(t0_ns, int):
            raise UsageError(NO_ACTIVATIONS(cell=files.folder.name))
        columns = numbers(database, path, f"SELECT thread, {', '.join(_COLUMNS)} FROM {scan(database, path)}")
    return Activations(t0_ns, tuple(_rows(columns["thread"].tolist(), columns)))


def streamed_activations(stream: bytes) -> Activations:
    """Those of a stream, thread by thread."""
    reader = StreamReader(BytesIO(stream))
    found: list[Activation] = []
    for batch in reader.batches():
        if set(_COLUMNS) <= set(batch.columns):
            found += _rows([batch.table.thread or 0] * batch.rows, batch.columns)
    t0_ns = reader.header.raw.get("t0_ns")
    if not isinstance(t0_ns, int):
        raise DamagedError(NO_ACTIVATIONS(cell="stream"))
    return Activations(t0_ns, tuple(sorted(found, key=lambda each: each.thread)))


def _rows(threads: Iterable[int], columns: Mapping[str, Any]) -> Iterable[Activation]:
    rows = zip(threads, *(columns[name].tolist() for name in _COLUMNS), strict=True)
    for thread, release, release_ns, latency_ns, flags in rows:
        yield Activation(thread, release, release_ns, latency_ns, bool(flags & _WARM_UP))
