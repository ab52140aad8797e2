"""The counters of a cell: counters.parquet once a second, and the trailer's sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from howlate.model.counted import OF_THREADS, Counted, read_each_second
from howlate.store.duck import arrays, scan
from howlate.store.run_folder import COUNTERS

Key = tuple[int, int, int]
"""Index of the name, CPU, thread."""
Int64s = npt.NDArray[np.int64]
COLUMNS = ("time_ns", "cpu", "thread", "counter", "rise")


def counted_in(
    database: duckdb.DuckDBPyConnection, folder: Path, trailer: Mapping[str, Any], max_ns: int | None
) -> tuple[Counted, ...]:
    """Every counter that rose or was looked at. `max_ns`: when the largest sample was, as an offset from t0; None if
    it is not known. Empty for cells of older probes."""
    told = trailer.get("counters")
    if not isinstance(told, dict):
        return ()
    names = _entries(told.get("names"))
    each_second = read_each_second(trailer)
    over_cell = dict(_sums(told.get("over_cell")))
    seconds = _Seconds.read(database, folder / COUNTERS)
    return tuple(
        _counted(name, key, over_cell.get(key), seconds if name.get("kind") in each_second else None, max_ns)
        for key in sorted({*over_cell, *seconds.rows})
        if 0 <= key[0] < len(names)
        for name in (names[key[0]],)
    )


def _sums(value: object) -> Iterator[tuple[Key, int]]:
    """The sums over the cell that the trailer tells. What is none is left out."""
    for one in _entries(value):
        counter, cpu, rise = one.get("counter"), one.get("cpu"), one.get("rise")
        if isinstance(counter, int) and isinstance(cpu, int) and isinstance(rise, int):
            yield (counter, cpu, -1), rise


def _counted(
    name: Mapping[str, Any],
    key: Key,
    over_cell: int | None,
    seconds: _Seconds | None,
    max_ns: int | None,
) -> Counted:
    """`seconds`: None where this kind was not read each second."""
    kind, total = str(name.get("kind", "")), over_cell
    usual = most = at_max = None
    if seconds is not None:
        looked_at, rises = seconds.of(key, only_told=kind in OF_THREADS)
        at_largest = looked_at == seconds.second_of(max_ns)
        usual = float(np.median(rises)) if len(rises) else None
        most = max(rises[~at_largest].tolist(), default=None)
        at_max = next(iter(rises[at_largest].tolist()), None)
        if total is None and kind not in OF_THREADS:
            total = int(rises.sum())
    label, described = str(name.get("label", "")), str(name.get("name", ""))
    return Counted(kind, label, described, key[1], key[2], total, usual, most, at_max)


class _Seconds:
    """The rows of the table. A second is named by its end."""

    def __init__(self, rows: Mapping[str, Int64s]) -> None:
        self.ends = np.unique(rows["time_ns"])
        keys, group = np.unique(
            np.stack([rows[name] for name in ("counter", "cpu", "thread")]), axis=1, return_inverse=True
        )
        self.rows = {
            (int(counter), int(cpu), int(thread)): (rows["time_ns"][own], rows["rise"][own])
            for number, (counter, cpu, thread) in enumerate(keys.T)
            for own in (group.ravel() == number,)
        }

    @classmethod
    def read(cls, database: duckdb.DuckDBPyConnection, path: Path) -> _Seconds:
        none = np.empty(0, np.int64)
        rows = arrays(database, f"SELECT * FROM {scan(path)} ORDER BY time_ns") if path.is_file() else {}
        return cls({name: rows.get(name, none).astype(np.int64) for name in COLUMNS})

    def second_of(self, at_ns: int | None) -> int:
        """The end of the second in which this was; -1 after the last, and for None."""
        later = self.ends[self.ends >= at_ns] if at_ns is not None else self.ends[:0]
        return int(later[0]) if len(later) else -1

    def of(self, key: Key, only_told: bool) -> tuple[Int64s, Int64s]:
        """The seconds in which it was looked at, and by how much it rose in each: a second without a row had none.
        `only_told`: such a second was not looked at."""
        none = np.empty(0, np.int64)
        ends, rises = self.rows.get(key, (none, none))
        if only_told:
            return ends, rises
        every = np.zeros(len(self.ends), np.int64)
        every[np.searchsorted(self.ends, ends)] = rises
        return self.ends, every


def _entries(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
