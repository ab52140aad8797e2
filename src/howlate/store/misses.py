"""Counts the releases of a cell against deadlines, by measuring thread: on samples, not on bins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import duckdb
from msgspec import Struct
from msgspec.structs import replace

from howlate.model.columns import FLAGS, RELEASE
from howlate.model.decode import Table
from howlate.model.summary import DeadlineSummary
from howlate.statistics.deadline import Skipped, ThreadReleases, against, ladder_steps
from howlate.statistics.describe import ValueCounts, exceedances
from howlate.statistics.stated import late_at_least, more_may_be_late
from howlate.store.cell_record import CellFile
from howlate.store.shape import BIGINT, Shape
from howlate.store.tables import Extremes

FEWER_CPUS = 1 << 16
"""A machine has fewer."""


class Answers(Struct, frozen=True):
    """One judged column of a cell's samples."""

    database: duckdb.DuckDBPyConnection
    rows: str
    """All of them, as SQL."""
    shape: Shape
    cell: CellFile
    column: str
    counts: ValueCounts
    extremes: Callable[[str], Extremes]
    """The smallest and the largest value of a column of all rows."""

    def against(self, *deadlines_ns: int) -> list[DeadlineSummary]:
        """The releases outside warm-up against each deadline."""
        threads = self._threads()
        late = self._late(threads, deadlines_ns)
        skipped = self._skipped(threads, deadlines_ns)
        stated = [entry for entry in self.cell.stated() if entry.column == self.column]
        found = []
        for deadline_ns, by_thread, passed in zip(deadlines_ns, late, skipped, strict=True):
            known = late_at_least(by_thread, stated, deadline_ns)
            counted = against(deadline_ns, threads, known, passed)
            more = more_may_be_late(self.counts, stated, deadline_ns)
            found.append(replace(counted, at_least=more))
        return found

    def ladder(self, largest_ns: int | None) -> tuple[DeadlineSummary, ...]:
        """The releases against deadlines in decades, up to the largest answer."""
        if not self.counts.n or largest_ns is None:
            return ()
        *steps, last = self.against(*ladder_steps(largest_ns))
        return (*(replace(step, by_cpu={}) for step in steps), last)  # the last one has each CPU's releases

    def _threads(self) -> list[ThreadReleases]:
        before = self._in_warm_up()
        found = []
        for entry in self.cell.account_of(self.column):
            thread = self._number(entry)
            warm_up = before.get(thread, 0)
            unserved_before = max(0, warm_up - entry.integer("warm_up"))
            found.append(
                ThreadReleases(
                    thread,
                    entry.integer("cpu"),
                    entry.integer("releases") - warm_up,
                    max(0, entry.integer("overruns") - unserved_before),
                )
            )
        return found

    def _in_warm_up(self) -> dict[int, int]:
        """The releases before the first activation that counts, by thread."""
        if RELEASE not in self.shape.columns or FLAGS not in self.shape.columns:
            return {}
        if not self.shape.flagged and self._thread == "thread":
            thread, last = self.extremes("thread")
            if thread is None or thread == last:  # each of its releases counts, from the first on
                return {} if thread is None else {thread: self.extremes(RELEASE)[0] or 0}
        rows = self.database.execute(
            f"""SELECT {self._thread}, coalesce(min({RELEASE}) FILTER ({self.shape.counted}), max({RELEASE}) + 1)
                FROM {self.rows} GROUP BY 1"""
        ).fetchall()
        return {int(thread): int(first) for thread, first in rows}

    @property
    def _thread(self) -> str:
        """What tells the threads apart, as SQL: their numbers, or, where an older import gave one number to several
        CPUs, these too."""
        if "thread" not in self.shape.columns:
            return "0"
        return f"thread * {FEWER_CPUS} + cpu" if self._share_numbers else "thread"

    @property
    def _share_numbers(self) -> bool:
        numbers = [entry.integer("thread", 0) for entry in self.cell.account_of(self.column)]
        return len(set(numbers)) < len(numbers) and not self.cell.stated() and "cpu" in self.shape.columns

    def _number(self, entry: Table) -> int:
        thread = entry.integer("thread", 0)
        return thread * FEWER_CPUS + entry.integer("cpu") if self._share_numbers else thread

    @property
    def _counted(self) -> str:
        return f"{self.rows} WHERE {self.shape.counted} AND {self.column} IS NOT NULL"

    def _late(
        self, threads: Sequence[ThreadReleases], deadlines_ns: Sequence[int]
    ) -> list[Mapping[int, int]]:
        if len(threads) == 1:
            return [{threads[0].thread: exceedances(self.counts, ns)} for ns in deadlines_ns]
        number = self.shape.number.removesuffix(BIGINT)
        late = ", ".join(f"({number} FILTER ({self.column} > {ns})){BIGINT}" for ns in deadlines_ns)
        query = f"SELECT {self._thread}, {late} FROM {self._counted} GROUP BY 1"
        rows = self.database.execute(query).fetchall()
        return [{int(row[0]): int(row[at] or 0) for row in rows} for at in range(1, len(deadlines_ns) + 1)]

    def _skipped(
        self, threads: Sequence[ThreadReleases], deadlines_ns: Sequence[int]
    ) -> list[Mapping[int, Skipped]]:
        """For each deadline, by thread, the releases that late activations skipped: L late at gaps of g answers the
        first of them L - g late, the second L - 2g, up to the next one that was served. With dither g may be half a
        period, so none of them is taken for less late than it was. Up to the period a deadline holds for none of
        them."""
        step_ns = self.cell.swallowed_step_ns()
        above = [step_ns is not None and deadline_ns > step_ns for deadline_ns in deadlines_ns]
        if step_ns is None or not any(above) or RELEASE not in self.shape.columns:
            return [{} for _ in deadlines_ns]
        if not any(of.overruns for of in threads):
            return [{} for _ in deadlines_ns]
        least_ns = max(1, step_ns // 2 if self.cell.parameters.get("dither") is True else step_ns)
        late = ", ".join(
            f"sum(least(k, greatest(0, (v - {deadline_ns} - 1) // {least_ns}))){BIGINT}"
            for deadline_ns in deadlines_ns
        )
        rows = self.database.execute(
            f"SELECT t, sum(k){BIGINT}, {late} FROM ({self._reaching(least_ns)}) GROUP BY t"
        ).fetchall()
        return [
            {int(row[0]): Skipped(int(row[1]), int(row[2 + at])) for row in rows if is_above}
            for at, is_above in enumerate(above)
        ]

    def _reaching(self, least_ns: int) -> str:
        """Each late answer: its thread, how late it was, and how many releases it skipped (`k`), as SQL. The file has
        the threads one after the other, each in the order of its releases, so no row waits for another but the
        next."""
        due = {self._number(entry): entry.integer("releases") for entry in self.cell.account_of(self.column)}
        ends = " ".join(f"WHEN {thread} THEN {releases}" for thread, releases in due.items())
        return f"""
            SELECT t, v, least(v // {least_ns}, greatest(0,
                CASE WHEN next_t = t THEN next_r ELSE CASE t {ends} ELSE 0 END END - r - 1)) AS k
            FROM (
                SELECT {self._thread} AS t, {RELEASE} AS r, {self.column} AS v, {self.shape.counted} AS is_counted,
                    lead({self._thread}) OVER () AS next_t, lead({RELEASE}) OVER () AS next_r
                FROM {self.rows})
            WHERE is_counted AND v >= {least_ns}"""
