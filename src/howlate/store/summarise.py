"""From a cell's Parquet to summary.json and bins.json. The samples stay in the file: DuckDB counts the
distinct values and the bins of each block of time, so that memory grows with the number of distinct values
only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import numpy as np

from howlate.errors import DamagedError
from howlate.model.bins import NO_BLOCKS, CellBins, ColumnBins, LoadCourse, Scatter, TimeBlocks
from howlate.model.columns import FLAGS, RELEASE, RESPONSE
from howlate.model.summary import MISSES, CellSummary, ColumnSummary, DeadlineSummary
from howlate.stats.describe import Int64s, ValueCounts, describe, exceedances
from howlate.stats.histogram import MANTISSA_BITS, histogram
from howlate.stats.pictures import BlockBins, block_width_ns, tail, time_blocks
from howlate.stats.scatter import Filled, grid, scatter
from howlate.stats.valid import failures, starved, warnings
from howlate.store.cell_record import CellFile
from howlate.store.duck import arrays, connection, reading, scan
from howlate.store.files import measure_again, remedied, write_json
from howlate.store.run_folder import BINS, CPUS, LOADS, SAMPLES, RunFolder, write_summary
from howlate.store.shape import Shape


def summarise(
    folder: Path, cell_id: str, labels: Mapping[str, str], starvation_expected: bool = False
) -> CellSummary:
    """Reads samples.parquet, cpus.parquet, loads.parquet and cell.json of a cell's folder, writes bins.json,
    then summary.json. `starvation_expected`: the study says so of the cell's loads. DamagedError where a file cannot
    be read."""
    with remedied(measure_again(folder)):
        return _summarise(folder, cell_id, labels, starvation_expected)


def _summarise(
    folder: Path, cell_id: str, labels: Mapping[str, str], starvation_expected: bool
) -> CellSummary:
    cell = CellFile.read(folder)
    with _samples(folder) as samples:
        counts = {name: samples.counts(name) for name in samples.measured()}
        columns = {name: samples.column(name, its, cell.period_ns()) for name, its in counts.items()}
        courses = samples.courses(cell)
        bins = samples.bins(counts, courses)
        before = samples.releases_in_warm_up()
    main = counts[bins.column]
    record = replace(
        cell.record(main.n, sum(course.name.endswith(" busy") for course in courses), starvation_expected),
        alone={name: its for name, its in columns.items() if its.alone is not None},
    )
    deadline = _deadline(cell, counts.get(RESPONSE, main), before)
    outcomes = cell.outcomes() | ({MISSES: deadline.misses} if deadline is not None else {})
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
        deadline=deadline,
        starved=starved(record),
        others=cell.others(),
    )
    write_json(folder / BINS, bins.to_json(), indent=None)
    write_summary(folder, summary)
    return summary


def _deadline(cell: CellFile, answers: ValueCounts, warm_up_releases: int) -> DeadlineSummary | None:
    """`answers`: latencies, or response times where the task works. `warm_up_releases`: those before the first
    activation that counts."""
    deadline_ns = cell.deadline_ns()
    if deadline_ns is None:
        return None
    account = cell.accounting()
    overruns_in_warm_up = max(0, warm_up_releases - account.warm_up)
    return DeadlineSummary(
        deadline_ns,
        account.releases - warm_up_releases,
        exceedances(answers, deadline_ns),
        max(0, account.overruns - overruns_in_warm_up),
    )


def bins_of(run: RunFolder, cell_id: str) -> CellBins:
    """The bins of a whole cell; made again from its samples where bins.json is missing or not readable."""
    try:
        return run.bins(cell_id)
    except DamagedError:
        run.check_samples(cell_id)
        return make_bins(run.cell_path(cell_id))


def make_bins(folder: Path) -> CellBins:
    """The bins of a cell's folder, made from its samples and not stored."""
    with remedied(measure_again(folder)):
        cell = CellFile.read(folder)
        with _samples(folder) as samples:
            counts = {name: samples.counts(name) for name in samples.measured()}
            return samples.bins(counts, samples.courses(cell))


@contextmanager
def _samples(folder: Path) -> Iterator[_Samples]:
    with connection(folder) as database, reading(folder / SAMPLES):
        described = database.execute(f"DESCRIBE SELECT * FROM {scan(folder / SAMPLES)}").fetchall()
        yield _Samples(folder, database, Shape.of((str(row[0]), str(row[1])) for row in described))


@dataclass(frozen=True)
class _Samples:
    """The queries. `counted` leaves warm-up out."""

    folder: Path
    database: duckdb.DuckDBPyConnection
    shape: Shape

    @property
    def counted(self) -> str:
        return f"{scan(self.folder / SAMPLES)} WHERE {self.shape.counted}"

    def measured(self) -> tuple[str, ...]:
        """The columns that say anything: response times are 0 where the activations had no work."""
        found = self.shape.measured
        if self.shape.has_response and not self._has_response():
            found = tuple(name for name in found if name != RESPONSE)
        if not found:
            raise DamagedError(f"{self.folder / SAMPLES} has no column that is measured (i64, ending in _ns)")
        return found

    def counts(self, column: str) -> ValueCounts:
        """How often each value of a column occurs."""
        found = arrays(
            self.database, f"SELECT {column} AS v, count(*) AS n FROM {self.counted} GROUP BY v ORDER BY v"
        )
        return ValueCounts(found["v"].astype(np.int64, copy=False), found["n"].astype(np.int64, copy=False))

    def column(self, column: str, counts: ValueCounts, period_ns: int | None) -> ColumnSummary:
        """Everything that is said of one column."""
        time, index = self._of_largest(column, int(counts.values[-1])) if counts.n else (None, None)
        described = describe(counts, period_ns, time, index)
        return replace(described, max_by_cpu=self.max_by_cpu(column))

    def _of_largest(self, column: str, largest: int) -> tuple[int | None, int | None]:
        """When the first sample of this value was due or taken, and its index; None where the samples do not say."""
        names = (self.shape.time, self.shape.index)
        wanted = ", ".join("NULL" if name is None else f"min({name})" for name in names)
        query = f"SELECT {wanted} FROM {self.counted} AND {column} = {largest}"
        time, index = self.database.execute(query).fetchone() or (None, None)
        return (None if time is None else int(time), None if index is None else int(index))

    def max_by_cpu(self, column: str) -> dict[str, int]:
        """The largest value of each CPU; empty where one alone measured."""
        if "cpu" not in self.shape.columns:
            return {}
        query = f"SELECT cpu, max({column}) FROM {self.counted} GROUP BY cpu ORDER BY cpu"
        found = self.database.execute(query).fetchall()
        return {str(cpu): int(largest) for cpu, largest in found} if len(found) > 1 else {}

    def _has_response(self) -> bool:
        query = f"SELECT min({RESPONSE}), max({RESPONSE}) FROM {scan(self.folder / SAMPLES)}"
        return self.database.execute(query).fetchone() not in ((0, 0), (None, None), None)

    def releases_in_warm_up(self) -> int:
        """Releases before the first activation that counts, over all threads."""
        if RELEASE not in self.shape.columns or FLAGS not in self.shape.columns:
            return 0
        thread = "thread" if "thread" in self.shape.columns else "0"
        found = self.database.execute(
            f"""SELECT coalesce(sum(first), 0) FROM (
                    SELECT coalesce(min({RELEASE}) FILTER ({self.shape.counted}), max({RELEASE}) + 1) AS first
                    FROM {scan(self.folder / SAMPLES)} GROUP BY {thread})"""
        ).fetchone()
        return int(found[0]) if found is not None else 0

    def bins(self, counts: Mapping[str, ValueCounts], courses: tuple[LoadCourse, ...]) -> CellBins:
        """Everything that the charts draw: of the first column all, of the others histogram, scatter and time."""
        main, *others = counts
        return CellBins(
            main,
            histogram(counts[main]),
            self.blocks(main),
            tail(counts[main]),
            courses,
            self.scatter(main, counts[main]),
            tuple(
                ColumnBins(name, histogram(counts[name]), self.scatter(name, counts[name]), self.blocks(name))
                for name in others
            ),
        )

    def blocks(self, column: str) -> TimeBlocks:
        """The column against time; empty where the samples do not say when they were taken."""
        time = self.shape.time
        if time is None:
            return NO_BLOCKS
        last = self._largest(time)
        width = block_width_ns(1 if last is None else last + 1)
        # bit length less 8, at least 0: it leaves 7 mantissa bits behind the leading one
        shift = f"greatest(0, floor(log2(greatest(abs({column}::DOUBLE), 1)))::INTEGER - {MANTISSA_BITS})"
        found = self._whole(
            f"""SELECT b, max({column}) AS largest, count(*) AS n FROM (
                    SELECT {time} // {width} AS b, {shift} AS s, {column} >> s AS k, {column}
                    FROM {self.counted})
                GROUP BY b, s, k ORDER BY b, largest""",
        )
        return time_blocks(BlockBins(found["b"], found["largest"], found["n"]), width)

    def scatter(self, column: str, counts: ValueCounts) -> Scatter | None:
        """The column against its index; None where the samples have none."""
        index = self.shape.index
        last = None if index is None else self._largest(index)
        where = grid(counts, 0 if last is None else last + 1)
        if where is None:
            return None
        found = self._whole(
            f"""SELECT c, r, count(*) AS n, min(v) AS smallest, max(v) AS largest FROM (
                    SELECT {index} // {where.per_column} AS c, ({where.row(column)})::BIGINT AS r, {column} AS v
                    FROM {self.counted})
                GROUP BY c, r ORDER BY c, r""",
        )
        return scatter(where, Filled(found["c"], found["r"], found["n"], found["smallest"], found["largest"]))

    def _largest(self, column: str) -> int | None:
        query = f"SELECT max({column}) FROM {scan(self.folder / SAMPLES)}"
        found = self.database.execute(query).fetchone()
        return None if found is None or found[0] is None else int(found[0])

    def _whole(self, query: str) -> dict[str, Int64s]:
        return {name: its.astype(np.int64, copy=False) for name, its in arrays(self.database, query).items()}

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
