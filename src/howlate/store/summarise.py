"""From a cell's Parquet to summary.json and bins.json. The samples stay in the file: DuckDB counts the
distinct values and the bins of each block of time, so that memory grows with the number of distinct values
only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from howlate.errors import DamagedError
from howlate.model.bins import CellBins, LoadCourse
from howlate.model.summary import CellSummary, ColumnSummary
from howlate.stats.describe import ValueCounts, describe, exceedances
from howlate.stats.histogram import MANTISSA_BITS, histogram
from howlate.stats.pictures import BlockBins, block_width_ns, tail, time_blocks
from howlate.stats.valid import failures, warnings
from howlate.store.audit import WARM_UP
from howlate.store.cell_record import CellFile
from howlate.store.duck import arrays, connection, reading, scan
from howlate.store.files import measure_again, remedied, write_json
from howlate.store.run_folder import BINS, CPUS, LOADS, SAMPLES, RunFolder, write_summary

LATENCY, RESPONSE = "latency_ns", "response_ns"


def summarise(folder: Path, cell_id: str, labels: Mapping[str, str]) -> CellSummary:
    """Reads samples.parquet, cpus.parquet, loads.parquet and cell.json of a cell's folder, writes bins.json,
    then summary.json. DamagedError where one of them cannot be read."""
    with remedied(measure_again(folder)):
        return _summarise(folder, cell_id, labels)


def _summarise(folder: Path, cell_id: str, labels: Mapping[str, str]) -> CellSummary:
    cell = CellFile.read(folder)
    with _samples(folder) as samples:
        counts = samples.counts(LATENCY)
        columns = {LATENCY: samples.column(LATENCY, counts, cell.period_ns())}
        judged = counts
        if samples.has_response():
            judged = samples.counts(RESPONSE)
            columns[RESPONSE] = samples.column(RESPONSE, judged, cell.period_ns())
        courses = samples.courses(cell)
        bins = samples.bins(counts, courses)
    record = cell.record(counts.n, sum(course.name.endswith(" busy") for course in courses))
    deadline = cell.deadline_ns()
    outcomes = {} if deadline is None else {"deadline_misses": exceedances(judged, deadline)}
    failed = failures(record)
    summary = CellSummary(
        id=cell_id,
        test=cell.test,
        labels=dict(labels),
        accounting=cell.accounting(),
        stop_reason=cell.stop_reason(),
        clocksource=cell.clocksource(),
        valid=not failed,
        columns=columns,
        outcomes=outcomes,
        loads=cell.loads(),
        warnings=tuple(failed + warnings(record)),
    )
    write_json(folder / BINS, bins.to_json(), indent=None)
    write_summary(folder, summary)
    return summary


def bins_of(run: RunFolder, cell_id: str) -> CellBins:
    """The bins of a whole cell; made again from its samples where bins.json is missing or not readable."""
    try:
        return run.bins(cell_id)
    except DamagedError:
        return make_bins(run.cell_path(cell_id))


def make_bins(folder: Path) -> CellBins:
    """The bins of a cell's folder, made from its samples and not stored."""
    with remedied(measure_again(folder)):
        cell = CellFile.read(folder)
        with _samples(folder) as samples:
            return samples.bins(samples.counts(LATENCY), samples.courses(cell))


@contextmanager
def _samples(folder: Path) -> Iterator[_Samples]:
    with connection(folder) as database, reading(folder / SAMPLES):
        yield _Samples(folder, database)


@dataclass(frozen=True)
class _Samples:
    """The queries. `counted` leaves warm-up out."""

    folder: Path
    database: duckdb.DuckDBPyConnection

    @property
    def counted(self) -> str:
        return f"{scan(self.folder / SAMPLES)} WHERE flags & {WARM_UP} = 0"

    def counts(self, column: str) -> ValueCounts:
        """How often each value of a column occurs."""
        found = arrays(
            self.database, f"SELECT {column} AS v, count(*) AS n FROM {self.counted} GROUP BY v ORDER BY v"
        )
        return ValueCounts(found["v"].astype(np.int64, copy=False), found["n"].astype(np.int64, copy=False))

    def column(self, column: str, counts: ValueCounts, period_ns: int | None) -> ColumnSummary:
        """Everything that is said of one column."""
        at = None
        if counts.n:
            largest = int(counts.values[-1])
            query = f"SELECT min(release_ns) FROM {self.counted} AND {column} = {largest}"
            found = self.database.execute(query).fetchone()
            at = int(found[0]) if found is not None else None
        return describe(counts, period_ns, at)

    def has_response(self) -> bool:
        """Whether the activations had work (response times are 0 without)."""
        query = f"SELECT min({RESPONSE}), max({RESPONSE}) FROM {scan(self.folder / SAMPLES)}"
        return self.database.execute(query).fetchone() not in ((0, 0), (None, None), None)

    def bins(self, counts: ValueCounts, courses: tuple[LoadCourse, ...]) -> CellBins:
        """Everything that the charts draw."""
        last = self.database.execute(f"SELECT max(release_ns) FROM {scan(self.folder / SAMPLES)}").fetchone()
        width = block_width_ns(int(last[0]) + 1 if last is not None and last[0] is not None else 1)
        # bit length less 8, at least 0: it leaves 7 mantissa bits behind the leading one
        shift = f"greatest(0, floor(log2(greatest(abs({LATENCY}::DOUBLE), 1)))::INTEGER - {MANTISSA_BITS})"
        found = arrays(
            self.database,
            f"""SELECT b, max({LATENCY}) AS largest, count(*) AS n FROM (
                    SELECT release_ns // {width} AS b, {shift} AS s, {LATENCY} >> s AS k, {LATENCY}
                    FROM {self.counted})
                GROUP BY b, s, k ORDER BY b, largest""",
        )
        blocks = BlockBins(
            found["b"].astype(np.int64, copy=False),
            found["largest"].astype(np.int64, copy=False),
            found["n"].astype(np.int64, copy=False),
        )
        return CellBins(LATENCY, histogram(counts), time_blocks(blocks, width), tail(counts), courses)

    def courses(self, cell: CellFile) -> tuple[LoadCourse, ...]:
        """Busy and stolen share of each CPU, and the share that each load achieved, second by second."""
        found: list[LoadCourse] = []
        if (self.folder / CPUS).is_file():
            rows = arrays(self.database, f"SELECT * FROM {scan(self.folder / CPUS)} ORDER BY cpu, time_ns")
            for cpu in np.unique(rows.get("cpu", np.array([]))):
                own = rows["cpu"] == cpu
                times = tuple(float(t) for t in rows["time_ns"][own] / 1e9)
                for what in ("busy", "steal"):
                    share = np.clip(rows[f"{what}_permille"][own] / 1000, 0.0, 1.0)
                    if what == "busy" or share.any():
                        found.append(LoadCourse(f"cpu {cpu} {what}", times, tuple(float(s) for s in share)))
        if (self.folder / LOADS).is_file():
            found += self._load_courses(cell)
        return tuple(found)

    def _load_courses(self, cell: CellFile) -> list[LoadCourse]:
        rows = arrays(self.database, f"SELECT * FROM {scan(self.folder / LOADS)} ORDER BY load, time_ns")
        names = cell.load_cpus()
        found = []
        for load in np.unique(rows.get("load", np.array([]))):
            name, cpus = names[int(load)] if 0 <= int(load) < len(names) else (f"load {int(load)}", 1)
            own = rows["load"] == load
            times, used = rows["time_ns"][own], rows["cpu_ns"][own]
            passed = np.diff(times)
            some = passed > 0
            share = np.diff(used)[some] / passed[some] / cpus
            found.append(
                LoadCourse(
                    name,
                    tuple(float(t) for t in times[1:][some] / 1e9),
                    tuple(float(s) for s in np.clip(share, 0.0, 1.0)),
                )
            )
        return found
