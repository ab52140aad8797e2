"""Computes summary.json and bins.json from a cell's Parquet files. The samples stay in the file: DuckDB
counts the distinct values and the bins of each block of time, so that memory grows only with the number of
distinct values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import DamagedError
from howlate.model.bins import NO_BLOCKS, CellBins, ColumnBins, Scatter, TimeBlocks
from howlate.model.columns import FLAGS, RELEASE_NS, RESPONSE
from howlate.model.summary import (
    MISSES,
    CellSummary,
    ColumnSummary,
    DeadlineSummary,
    JudgedColumn,
    judged_of,
    latest_of,
)
from howlate.model.tail import TailSummary
from howlate.statistics.bins.drawn import BlockBins, block_width_ns, tail, time_blocks
from howlate.statistics.bins.histogram import histogram, shift_of
from howlate.statistics.bins.scatter import Filled, grid, row_of, scatter
from howlate.statistics.describe import Int64s, ValueCounts, at_rank, exceedances
from howlate.statistics.peaks import MOST_PEAKS, Peaks
from howlate.statistics.stated import as_stated, samples_of, with_left_out
from howlate.statistics.statistics import describe
from howlate.statistics.tail import (
    MANY_MISSES,
    clusters_by_thread,
    clusters_of_misses,
    summary_of_tail,
    theta_by_cpu,
    threshold,
    with_clusters,
    with_swallowed,
)
from howlate.statistics.valid import failures, starved, warnings
from howlate.store.cell_record import CellFile
from howlate.store.counted import counters_in, courses_in
from howlate.store.duck import arrays, connection, disbelieve, not_a_number, reading, scan
from howlate.store.files import measure_again, remedied, unreadable, write_json
from howlate.store.misses import Answers
from howlate.store.run_folder import BINS, MEASURED, SAMPLES, CellFiles, write_summary
from howlate.store.shape import SQL_TYPE, Shape
from howlate.store.tables import LIMITS, Extremes, extremes_in, rows_problem
from howlate.system.interrupts import result_of

KEY_BITS = 15
"""Of a bin: its shift (at most 56), and what that leaves of a value (-256 to 255)."""
PLACE_BITS, ROW_BITS = 9, 8
"""Columns (400 at most) and rows (240) of the scatter's grid."""
VALUES = "distinct_values"
"""The name under which a query reads them."""
PASS_BYTES = 1 << 22
"""One pass of a smaller file takes less time than a query for the extremes of each column that its footer has."""


def summarise(
    folder: Path,
    cell_id: str,
    labels: Mapping[str, str],
    *,
    starvation_expected: bool = False,
    repetition: int = 1,
) -> CellSummary:
    """Read samples.parquet, cpus.parquet, loads.parquet and cell.json of a cell's folder, write bins.json,
    then summary.json. `starvation_expected`: the study says so of the cell's loads. `repetition`: the cell's.
    DamagedError if a file cannot be read."""
    with remedied(measure_again(folder)):
        summary, bins = computed(
            folder,
            cell_id,
            labels,
            starvation_expected=starvation_expected,
            repetition=repetition,
            fresh=True,
        )
    write_json(folder / BINS, bins.to_json(), indent=None)
    write_summary(folder, summary)
    return summary


def computed(
    folder: Path,
    cell_id: str,
    labels: Mapping[str, str],
    *,
    starvation_expected: bool,
    repetition: int,
    fresh: bool = False,
) -> tuple[CellSummary, CellBins]:
    """What `summarise` writes. `fresh`: this howlate has just written the samples."""
    cell = CellFile.read(folder)
    with _samples(folder, fresh=fresh) as samples:
        counts = {name: samples.counts(name) for name in samples.measured()}
        columns = {name: samples.column(name, column, cell.period_ns()) for name, column in counts.items()}
        bins = with_left_out(samples.bins(counts, cell, columns), counts, cell.stated())
        columns = as_stated(columns, counts, cell.stated(), cell.period_ns())
        judged = {
            name: samples.judged(cell, name, counts[name], columns[name], bins)
            for name in judged_of(cell.answers(), columns)
        }
    main = counts[bins.column]
    record = replace(
        cell.record(
            samples_of(main, columns[bins.column]),
            sum(course.name.endswith(" busy") for course in bins.loads),
            starvation_expected=starvation_expected,
        ),
        alone={name: column for name, column in columns.items() if column.alone is not None},
    )
    latest = judged.get(latest_of(tuple(judged), columns), JudgedColumn())
    deadline = latest.deadline
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
        repetition=repetition,
        known=cell.known(),
        tail=latest.tail if len(judged) == 1 else None,
        answers=cell.answers(),
        ladder=latest.ladder,
        by_column=judged if len(judged) > 1 else {},
        failed_checks=len(failed) or None,
    )
    return summary, bins


def recounted(files: CellFiles, summary: CellSummary, deadline_ns: int) -> CellSummary:
    """The summary of a whole cell, of which one column is judged, with its releases against another deadline, and
    with its tail where nobody kept it. Reads its samples."""
    (column,) = summary.judged
    with _unchanged(files), remedied(measure_again(files.folder)):
        cell = CellFile.read(files.folder)
        with _samples(files.folder) as samples:
            counts = samples.counts(column)
            tail = summary.tail
            if tail is None:
                tail = samples.tail(cell, column, counts, bins_of(files).of(column))
            deadline = samples.against(cell, column, counts, deadline_ns)
    return replace(summary, deadline=deadline, tail=tail)


def peaks_of(files: CellFiles, summary: CellSummary, column: str) -> Peaks:
    """The largest answers of a whole cell, in the order in which they came."""
    with _unchanged(files), remedied(measure_again(files.folder)), _samples(files.folder) as samples:
        return samples.peaks(column, ordered=summary.known.time_order)


@contextmanager
def _unchanged(files: CellFiles) -> Iterator[None]:
    """The checksum of the samples, computed while they are read: DamagedError if they have changed."""
    with ThreadPoolExecutor(1) as beside:
        told = beside.submit(files.must_be_unchanged, SAMPLES)
        try:
            yield
        finally:
            result_of(told)


def bins_of(files: CellFiles) -> CellBins:
    """The bins of a whole cell; made again from its samples if bins.json is missing or cannot be read."""
    try:
        return files.bins()
    except DamagedError:
        files.must_be_unchanged(*MEASURED)
        return make_bins(files.folder)


def make_bins(folder: Path) -> CellBins:
    """The bins of a cell's folder, made from its samples and not stored."""
    with remedied(measure_again(folder)):
        cell = CellFile.read(folder)
        with _samples(folder) as samples:
            counts = {name: samples.counts(name) for name in samples.measured()}
            main = _main(cell, counts)
            columns = {main: samples.column(main, counts[main], cell.period_ns())}
            return with_left_out(samples.bins(counts, cell, columns), counts, cell.stated())


def _main(cell: CellFile, counts: Mapping[str, ValueCounts]) -> str:
    return next((name for name in cell.answers() or () if name in counts), next(iter(counts)))


@contextmanager
def _samples(folder: Path, *, fresh: bool = False) -> Iterator[_Samples]:
    with connection(folder) as database, reading(folder / SAMPLES):
        if not fresh:
            disbelieve(database)
        source = scan(database, folder / SAMPLES)
        described = database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        kinds = {str(row[0]): str(row[1]) for row in described}
        shape = Shape.of(kinds.items())
        looked: dict[str, Extremes] = {}
        lacking: list[str] = []
        if not fresh or (folder / SAMPLES).stat().st_size < PASS_BYTES:
            limited = [name for name in shape.columns if name in LIMITS]
            looked, lacking = extremes_in(database, source, limited)
        samples = _Samples(folder, database, shape, looked)
        for column in shape.always:
            if kinds[column] not in SQL_TYPE.values() or column in lacking:
                raise not_a_number(folder / SAMPLES, column)
            query = f"SELECT 1 FROM {source} WHERE {column} IS NULL LIMIT 1"
            if column not in looked and database.execute(query).fetchone():
                raise not_a_number(folder / SAMPLES, column)
        if not fresh and (problem := rows_problem(database, source, shape.columns, looked)):
            raise unreadable(folder / SAMPLES, problem)
        flagged = FLAGS in shape.columns and samples.extremes(FLAGS) != (0, 0)
        yield replace(samples, shape=replace(shape, flagged=flagged))


class _Samples(Struct, frozen=True):
    """The queries. `counted` excludes warm-up."""

    folder: Path
    database: duckdb.DuckDBPyConnection
    shape: Shape
    looked: Mapping[str, Extremes] = field(default_factory=dict)
    """The extremes of columns that were read before."""

    @property
    def counted(self) -> str:
        return f"{scan(self.database, self.folder / SAMPLES)} WHERE {self.shape.counted}"

    def measured(self) -> tuple[str, ...]:
        """The columns with information: response times are 0 if the activations had no work."""
        names = self.shape.measured
        if RESPONSE in names and self.extremes(RESPONSE) in ((0, 0), (None, None)):
            names = tuple(name for name in names if name != RESPONSE)
        if not names:
            raise unreadable(self.folder / SAMPLES, "it has no column of i64 whose name ends in _ns")
        return names

    def counts(self, column: str) -> ValueCounts:
        frequencies = arrays(
            self.database,
            f"SELECT {column} AS v, {self.shape.number} AS n FROM {self.counted} AND {column} IS NOT NULL "
            "GROUP BY v ORDER BY v",
        )
        return ValueCounts(
            frequencies["v"].astype(np.int64, copy=False), frequencies["n"].astype(np.int64, copy=False)
        )

    def column(self, column: str, counts: ValueCounts, period_ns: int | None) -> ColumnSummary:
        time, index = self._of_largest(column, int(counts.values[-1])) if counts.n else (None, None)
        described = describe(counts, period_ns, time, index)
        return replace(described, max_by_cpu=self.max_by_cpu(column))

    def _of_largest(self, column: str, largest: int) -> tuple[int | None, int | None]:
        """When the first sample of this value was due or taken, and its index; None if the samples do not
        say."""
        names = (self.shape.time, self.shape.index)
        wanted = ", ".join("NULL" if name is None else f"min({name})" for name in names)
        query = f"SELECT {wanted} FROM {self.counted} AND {column} = {largest} LIMIT 1"
        [(time, index)] = self.database.execute(query).fetchall()
        return (None if time is None else int(time), None if index is None else int(index))

    def _end_of_largest(self, column: ColumnSummary) -> int | None:
        """When the largest value ended: a latency begins with its release."""
        if column.max_at_s is None:
            return None
        begun_ns = round(column.max_at_s * 1e9)
        return begun_ns + (column.max or 0) if self.shape.time == RELEASE_NS else begun_ns

    def max_by_cpu(self, column: str) -> dict[str, int]:
        """The largest value of each CPU; empty if only one measured."""
        if "cpu" not in self.shape.columns or len(set(self.extremes("cpu"))) == 1:
            return {}
        there = f"{self.counted} AND {column} IS NOT NULL"
        query = f"SELECT cpu, max({column}) FROM {there} GROUP BY cpu ORDER BY cpu"
        maxima = self.database.execute(query).fetchall()
        return {str(cpu): int(largest) for cpu, largest in maxima} if len(maxima) > 1 else {}

    def extremes(self, column: str) -> Extremes:
        """The smallest and the largest value of all rows. Parquet's footer has them, or they were looked at: no row
        is read."""
        if column in self.looked:
            return self.looked[column]
        query = f"SELECT min({column}), max({column}) FROM {scan(self.database, self.folder / SAMPLES)}"
        [(low, high)] = self.database.execute(query).fetchall()
        return low, high

    def judged(
        self, cell: CellFile, column: str, counts: ValueCounts, described: ColumnSummary, bins: CellBins
    ) -> JudgedColumn:
        """The releases against the stated deadline, the tail that diagnostics need, and the ladder."""
        deadline_ns = cell.deadline_ns()
        return JudgedColumn(
            None if deadline_ns is None else self.against(cell, column, counts, deadline_ns),
            self.tail(cell, column, counts, bins.of(column)),
            self._answers(cell, column, counts).ladder(described.max),
        )

    def against(self, cell: CellFile, column: str, counts: ValueCounts, deadline_ns: int) -> DeadlineSummary:
        (counted,) = self._answers(cell, column, counts).against(deadline_ns)
        return self._clustered(cell, column, counts, counted)

    def _answers(self, cell: CellFile, column: str, counts: ValueCounts) -> Answers:
        source = scan(self.database, self.folder / SAMPLES)
        return Answers(self.database, source, self.shape, cell, column, counts, self.extremes)

    def bins(
        self, counts: Mapping[str, ValueCounts], cell: CellFile, columns: Mapping[str, ColumnSummary]
    ) -> CellBins:
        """Everything that the charts draw: all for the first column; histogram, scatter and time for the
        others."""
        main = _main(cell, counts)
        pictures = {name: self.pictures(name, counts[name]) for name in counts}
        blocks, of_index = pictures.pop(main)
        return CellBins(
            main,
            histogram(counts[main]),
            blocks,
            tail(counts[main]),
            courses_in(self.database, self.folder, cell),
            of_index,
            tuple(
                ColumnBins(name, histogram(counts[name]), against_index, against_time)
                for name, (against_time, against_index) in pictures.items()
            ),
            counters_in(
                self.database,
                self.folder,
                cell.header.values,
                cell.trailer.values,
                self._end_of_largest(columns[main]),
            ),
        )

    def pictures(self, column: str, counts: ValueCounts) -> tuple[TimeBlocks, Scatter | None]:
        """The column against time (empty if the samples have no time stamps) and against its index (None if they lack
        one), of one pass. Bin and row are looked up: they are computed once for each distinct value."""
        time, index = self.shape.time, self.shape.index
        last = None if index is None else self.extremes(index)[1]
        ended = None if time is None else self.extremes(time)[1]
        where = grid(counts, 0 if last is None else last + 1)
        width = block_width_ns(1 if ended is None else ended + 1)
        block = "0" if time is None else f"({time} // {width})"
        place, row = ("0", "0") if where is None else (f"({index} // {where.per_column})", row_of(where, "v"))
        self.database.register(VALUES, {"v": counts.values})
        groups = self._whole(
            f"""WITH known AS MATERIALIZED (
                    SELECT v, ((s * 512 + 256 + (v >> s)) << {ROW_BITS}) + ({row})::BIGINT AS k FROM (
                        SELECT v, ({shift_of("v", counts)})::BIGINT AS s FROM {VALUES}))
                SELECT k, count(*) AS n, min(v) AS smallest, max(v) AS largest FROM (
                    SELECT there * {1 << (KEY_BITS + ROW_BITS)} + k AS k, v FROM (
                        SELECT {block} * {1 << PLACE_BITS} + {place} AS there, {column} AS v FROM {self.counted})
                    JOIN known USING (v))
                GROUP BY k"""
        )
        self.database.unregister(VALUES)
        bins, rows = groups["k"] >> ROW_BITS, groups["k"] & ((1 << ROW_BITS) - 1)
        places = (bins >> KEY_BITS) & ((1 << PLACE_BITS) - 1)
        blocks = NO_BLOCKS
        if time is not None:
            in_blocks = bins >> (KEY_BITS + PLACE_BITS)
            key, n, _, largest = _merged((in_blocks << KEY_BITS) | (bins & ((1 << KEY_BITS) - 1)), groups)
            order = np.lexsort((largest, key >> KEY_BITS))
            blocks = time_blocks(
                BlockBins((key >> KEY_BITS)[order], largest[order], n[order]),
                width,
            )
        if where is None:
            return blocks, None
        key, *of_each = _merged((places << ROW_BITS) | rows, groups)
        return blocks, scatter(where, Filled(key >> ROW_BITS, key & ((1 << ROW_BITS) - 1), *of_each))

    def tail(
        self, cell: CellFile, column: str, answers: ValueCounts, bins: CellBins | None
    ) -> TailSummary | None:
        """What diagnostics need of the answers; None where the samples have no order."""
        if bins is None or self.shape.index is None or not cell.known().time_order:
            return None
        above = threshold(answers)
        if above is None:
            return summary_of_tail(
                int(answers.values[-1]) if answers.n else 0, np.empty(0, np.int64), 0, bins.blocks
            )
        positions, values, threads = self._beyond(column, above)
        length = self._length(cell, threads)
        every = with_swallowed(positions, values, length, cell.swallowed_step_ns(), threads)
        of_cpus = theta_by_cpu(every, threads, cell.cpus_of(column))
        return replace(summary_of_tail(above, every, length, bins.blocks), theta_by_cpu=of_cpus)

    def peaks(self, column: str, *, ordered: bool) -> Peaks:
        """The largest MOST_PEAKS values and those equal to the smallest of them. `ordered`: their order is known."""
        counts = self.counts(column)
        limit = at_rank(counts, max(1, counts.n - MOST_PEAKS)) if counts.n else 0
        if not ordered or self.shape.index is None:
            beyond = counts.values >= limit
            return Peaks(np.repeat(counts.values[beyond], counts.counts[beyond]), None, 0, counts.n)
        positions, values, threads = self._beyond(column, limit - 1)
        last = self.extremes(self.shape.index)[1] or 0
        return Peaks(values, positions, (last + 1) * threads, counts.n)

    def _clustered(
        self, cell: CellFile, column: str, answers: ValueCounts, counted: DeadlineSummary
    ) -> DeadlineSummary:
        """With the clusters of the late answers, of all and of each CPU; as it is where none missed, or too many to
        look."""
        late = exceedances(answers, counted.deadline_ns)
        is_many = late > max(MANY_MISSES, answers.n // 100)
        if self.shape.index is None or not counted.misses or is_many:
            return counted
        positions, values, threads = self._beyond(column, counted.deadline_ns)
        length, step_ns = self._length(cell, threads), cell.swallowed_step_ns()
        limit_ns = counted.deadline_ns
        every = clusters_of_misses(positions, values, length, step_ns, threads, limit_ns)
        of_threads = clusters_by_thread(positions, values, length, step_ns, threads, limit_ns)
        cpus, of_thread = cell.cpus_of(column), -(-length // threads)
        by_cpu = {
            cpu: with_clusters(
                count, [c for t, c in of_threads.items() if str(cpus.get(t)) == cpu], of_thread
            )
            for cpu, count in counted.by_cpu.items()
        }
        return replace(with_clusters(counted, [every], length), by_cpu=by_cpu)

    def _length(self, cell: CellFile, threads: int) -> int:
        """Of the series, in releases of all threads; a stall may last beyond the last sample."""
        last = self.extremes(self.shape.index)[1] or 0 if self.shape.index is not None else 0
        return max((last + 1) * threads, cell.accounting().releases)

    def _beyond(self, column: str, limit: int) -> tuple[Int64s, Int64s, int]:
        """The places and values of the samples above a limit, in the order in which they came; and how many threads
        take turns in these places."""
        thread = "thread" if "thread" in self.shape.columns else "0"
        threads = (self.extremes("thread")[1] or 0) + 1 if thread == "thread" else 1
        samples = self._whole(
            f"""SELECT {self.shape.index} * {threads} + {thread} AS place, {column} AS value
                FROM {self.counted} AND {column} > {limit} ORDER BY place"""
        )
        return samples["place"], samples["value"], threads

    def _whole(self, query: str) -> dict[str, Int64s]:
        return {
            name: values.astype(np.int64, copy=False) for name, values in arrays(self.database, query).items()
        }


def _merged(key: Int64s, groups: Mapping[str, Int64s]) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """The groups of each key together, by key: the keys, counts, smallest and largest values."""
    order = np.argsort(key, kind="stable")
    keys, first = np.unique(key[order], return_index=True)
    if not len(keys):
        return key, key, key, key
    ways = {"n": np.add, "smallest": np.minimum, "largest": np.maximum}
    n, smallest, largest = (way.reduceat(groups[name][order], first) for name, way in ways.items())
    return keys, n, smallest, largest
