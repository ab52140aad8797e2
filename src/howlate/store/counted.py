"""What was counted once a second while a cell was measured: counters.parquet and the SMIs of cpus.parquet with the
trailer's sums, and how busy the CPUs were and how much each load ran (cpus.parquet, loads.parquet)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from msgspec import Struct

from howlate.model.bins import LoadCourse
from howlate.model.counted import OF_THREADS, SMI, Counted, Counters
from howlate.statistics.describe import Int64s
from howlate.store.cell_record import CellFile
from howlate.store.duck import numbers, scan
from howlate.store.run_folder import COUNTERS, CPUS, LOADS

Key = tuple[int, int, int]
"""Index of the name, CPU, thread."""
COLUMNS = ("time_ns", "cpu", "thread", "counter", "rise")
WHOLE = 0.9, 1.5
"""A second is as long as its row says: from the row before, of which a busy machine may have left one out."""
NONE = np.empty(0, np.int64)


def counters_in(
    database: duckdb.DuckDBPyConnection,
    folder: Path,
    header: Mapping[str, Any],
    trailer: Mapping[str, Any],
    max_ns: int | None,
) -> Counters:
    """`max_ns`: when the largest sample ended, as an offset from t0; None if it is not known. Nothing for cells of
    older probes. A stream without a trailer has names in its header, and no sums over the cell."""
    in_force = header.get("in_force")
    begun = in_force.get("counters") if isinstance(in_force, dict) else None
    ended = trailer.get("counters")
    described = ended if isinstance(ended, dict) else begun if isinstance(begun, dict) else {}
    names = _tables(described.get("names"))
    each_second = tuple(kind for kind in _items(described.get("each_second")) if isinstance(kind, str))
    seconds = _Seconds.read(database, folder / COUNTERS, max_ns)
    over_cell = dict(_sums(described.get("over_cell")))
    counted = [
        _counted(names[key[0]], key, over_cell.get(key), seconds, each_second)
        for key in sorted({*over_cell, *seconds.rows})
        if 0 <= key[0] < len(names)
    ]
    return Counters(seconds.own_s, each_second, (*counted, *_smis(database, folder / CPUS, max_ns)))


def _counted(
    name: Mapping[str, Any],
    key: Key,
    total: int | None,
    seconds: _Seconds,
    each_second: tuple[str, ...],
) -> Counted:
    kind, label, described = (str(name.get(member, "")) for member in ("kind", "label", "name"))
    _, cpu, thread = key
    if kind not in each_second:
        return Counted(kind, label, described, cpu, thread, total, None, None, None)
    is_thread = kind in OF_THREADS
    figures = seconds.figures(*seconds.rows.get(key, (NONE, NONE)), only_told=is_thread)
    if total is None and not is_thread:
        total = figures.total
    return Counted(kind, label, described, cpu, thread, total, figures.usual, figures.most, figures.at_max)


def _smis(database: duckdb.DuckDBPyConnection, path: Path, max_ns: int | None) -> Iterator[Counted]:
    """The counts of the CPUs on which it was read each second. What came before the first reading is not known."""
    rows = (
        numbers(database, path, f"SELECT * FROM {scan(database, path)} ORDER BY cpu, time_ns")
        if path.is_file()
        else {}
    )
    if "smi_count" not in rows:
        return
    for cpu in np.unique(rows["cpu"][rows["smi_count"] >= 0]):
        own = (rows["cpu"] == cpu) & (rows["smi_count"] >= 0)
        times, counts = rows["time_ns"][own].astype(np.int64), rows["smi_count"][own].astype(np.int64)
        seconds = _Seconds(times[1:], {}, int(times[0]), max_ns)
        figures = seconds.figures(times[1:], np.diff(counts) % 2**32, only_told=True)
        yield Counted(SMI, "", "", int(cpu), -1, figures.total, figures.usual, figures.most, figures.at_max)


class _Figures(Struct, frozen=True):
    total: int
    usual: float | None
    most: int | None
    at_max: int | None


class _Seconds:
    """The seconds of a table, each named by its end."""

    def __init__(
        self, ends: Int64s, rows: Mapping[Key, tuple[Int64s, Int64s]], begin_ns: int, max_ns: int | None
    ) -> None:
        """`rows`: ends and rises of each counter. `begin_ns`: of the first second."""
        self.ends, self.rows = ends, rows
        self._lengths_s = np.diff(ends, prepend=begin_ns) / 1e9
        later = np.flatnonzero(ends >= max_ns) if max_ns is not None and max_ns >= begin_ns else NONE
        self._own = int(later[0]) if len(later) else None
        self.own_s = float(self._lengths_s[self._own]) if self._own is not None else None

    @classmethod
    def read(cls, database: duckdb.DuckDBPyConnection, path: Path, max_ns: int | None) -> _Seconds:
        query = f"SELECT * FROM {scan(database, path)} ORDER BY time_ns" if path.is_file() else ""
        found = numbers(database, path, query) if query else {}
        time_ns, cpu, thread, counter, rise = (found.get(name, NONE).astype(np.int64) for name in COLUMNS)
        keys, group = np.unique(np.stack([counter, cpu, thread]), axis=1, return_inverse=True)
        places = np.argsort(group.ravel(), kind="stable")
        bounds = np.searchsorted(group.ravel()[places], np.arange(keys.shape[1] + 1))
        rows = {
            (int(key[0]), int(key[1]), int(key[2])): (time_ns[own], rise[own])
            for number, key in enumerate(keys.T)
            for own in (places[bounds[number] : bounds[number + 1]],)
        }
        return cls(np.unique(time_ns), rows, 0, max_ns)

    def figures(self, ends: Int64s, rises: Int64s, *, only_told: bool) -> _Figures:
        """The counts of a counter. Without a row a second is 0; `only_told`: there it was not looked at."""
        every = np.zeros(len(self.ends), np.int64)
        is_told = np.full(len(self.ends), not only_told)
        places = np.searchsorted(self.ends, ends)
        every[places], is_told[places] = rises, True
        others = is_told.copy()
        at_max = None
        if self._own is not None:
            others[self._own] = False
            at_max = int(every[self._own]) if is_told[self._own] else None
        least_s, most_s = WHOLE
        whole = every[others & (self._lengths_s >= least_s) & (self._lengths_s < most_s)]
        usual = float(np.median(whole)) if len(whole) else None
        return _Figures(int(every.sum()), usual, max(every[others].tolist(), default=None), at_max)


def _sums(value: object) -> Iterator[tuple[Key, int]]:
    """The sums over the cell that the trailer tells. What is none is left out."""
    for entry in _tables(value):
        counter, cpu, rise = entry.get("counter"), entry.get("cpu"), entry.get("rise")
        if isinstance(counter, int) and isinstance(cpu, int) and isinstance(rise, int):
            yield (counter, cpu, -1), rise


def _tables(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in _items(value) if isinstance(entry, dict)]


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def courses_in(database: duckdb.DuckDBPyConnection, folder: Path, cell: CellFile) -> tuple[LoadCourse, ...]:
    """Busy and stolen share of each CPU, and the share that each load achieved, second by second."""
    every: list[LoadCourse] = []
    if (folder / CPUS).is_file():
        rows = _rows(database, folder / CPUS, "cpu")
        for cpu in np.unique(rows.get("cpu", np.array([]))):
            own = rows["cpu"] == cpu
            times = tuple(float(t) for t in rows["time_ns"][own] / 1e9)
            for what in ("busy", "steal"):
                share = np.clip(rows[f"{what}_permille"][own] / 1000, 0.0, 1.0)
                if what == "busy" or share.any():
                    every.append(LoadCourse(f"cpu {cpu} {what}", times, tuple(float(s) for s in share)))
    if (folder / LOADS).is_file():
        every += _of_loads(_rows(database, folder / LOADS, "load"), cell)
    return tuple(every)


def _rows(database: duckdb.DuckDBPyConnection, path: Path, by: str) -> dict[str, Int64s]:
    return numbers(database, path, f"SELECT * FROM {scan(database, path)} ORDER BY {by}, time_ns")


def _of_loads(rows: dict[str, Int64s], cell: CellFile) -> list[LoadCourse]:
    names = cell.load_cpus()
    every = []
    for load in np.unique(rows.get("load", np.array([]))):
        name, cpus = names[int(load)] if 0 <= int(load) < len(names) else (f"load {int(load)}", 1)
        own = rows["load"] == load
        times, used = rows["time_ns"][own], rows["cpu_ns"][own]
        passed = np.diff(times)
        later = passed > 0
        share = np.diff(used)[later] / passed[later] / cpus
        every.append(
            LoadCourse(
                name,
                tuple(float(t) for t in times[1:][later] / 1e9),
                tuple(float(s) for s in np.clip(share, 0.0, 1.0)),
            )
        )
    return every
