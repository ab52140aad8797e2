"""How busy the CPUs were and how much each load ran, second by second, from cpus.parquet and loads.parquet."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np

from howlate.model.bins import LoadCourse
from howlate.statistics.describe import Int64s
from howlate.store.cell_record import CellFile
from howlate.store.duck import numbers, scan
from howlate.store.run_folder import CPUS, LOADS


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
