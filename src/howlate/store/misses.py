"""Counts the releases of a cell against deadlines, by measuring thread: on samples, not on bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb
import numpy as np

from howlate.analysis.deadline import Skipped, ThreadReleases, against, ladder_steps
from howlate.analysis.describe import Int64s, ValueCounts, exceedances
from howlate.analysis.stated import late_at_least, more_may_be_late
from howlate.model.columns import FLAGS, RELEASE
from howlate.model.summary import DeadlineSummary
from howlate.store.cell_record import CellFile
from howlate.store.duck import arrays
from howlate.store.shape import BIGINT, Shape

MOST = 10_000_000
"""Of more releases it is not asked which of them a late activation skipped: all of them count as never answered."""


@dataclass(frozen=True)
class Answers:
    """One judged column of a cell's samples."""

    database: duckdb.DuckDBPyConnection
    rows: str
    """All of them, as SQL."""
    shape: Shape
    cell: CellFile
    column: str
    counts: ValueCounts

    def against(self, *deadlines_ns: int) -> list[DeadlineSummary]:
        """The releases outside warm-up against each deadline."""
        threads = self._threads()
        late = self._late(threads, deadlines_ns)
        step_ns = self.cell.swallowed_step_ns()
        above = step_ns is not None and max(deadlines_ns, default=0) > step_ns
        skipped = self._skipped(threads, step_ns or 1) if above else Skipped.none()
        stated = [entry for entry in self.cell.stated() if entry.column == self.column]
        found = []
        for deadline_ns, by_thread in zip(deadlines_ns, late, strict=True):
            known = late_at_least(by_thread, stated, deadline_ns)
            counted = against(deadline_ns, threads, known, skipped, step_ns)
            more = more_may_be_late(self.counts, stated, deadline_ns)
            found.append(replace(counted, at_least=more))
        return found

    def ladder(self, largest_ns: int | None) -> tuple[DeadlineSummary, ...]:
        """The releases against deadlines in decades, up to the largest answer."""
        if not self.counts.n or largest_ns is None:
            return ()
        return tuple(replace(step, by_cpu={}) for step in self.against(*ladder_steps(largest_ns)))

    def _threads(self) -> list[ThreadReleases]:
        before = self._in_warm_up()
        found = []
        for entry in self.cell.account_of(self.column):
            thread = entry.integer("thread", 0)
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
        rows = self.database.execute(
            f"""SELECT {self._thread}, coalesce(min({RELEASE}) FILTER ({self.shape.counted}), max({RELEASE}) + 1)
                FROM {self.rows} GROUP BY 1"""
        ).fetchall()
        return {int(thread): int(first) for thread, first in rows}

    @property
    def _thread(self) -> str:
        return "thread" if "thread" in self.shape.columns else "0"

    @property
    def _counted(self) -> str:
        return f"{self.rows} WHERE {self.shape.counted} AND {self.column} IS NOT NULL"

    def _late(
        self, threads: Sequence[ThreadReleases], deadlines_ns: Sequence[int]
    ) -> list[Mapping[int, int]]:
        """For each deadline, by thread, the answers that are later."""
        if len(threads) == 1:
            return [{threads[0].thread: exceedances(self.counts, ns)} for ns in deadlines_ns]
        number = self.shape.number.removesuffix(BIGINT)
        late = ", ".join(f"({number} FILTER ({self.column} > {ns})){BIGINT}" for ns in deadlines_ns)
        query = f"SELECT {self._thread}, {late} FROM {self._counted} GROUP BY 1"
        rows = self.database.execute(query).fetchall()
        return [{int(row[0]): int(row[at] or 0) for row in rows} for at in range(1, len(deadlines_ns) + 1)]

    def _skipped(self, threads: Sequence[ThreadReleases], step_ns: int) -> Skipped:
        """The releases that late activations skipped. With dither two of them may be half a period apart."""
        due = {
            entry.integer("thread", 0): entry.integer("releases")
            for entry in self.cell.account_of(self.column)
        }
        if RELEASE not in self.shape.columns or not any(of.overruns for of in threads):
            return Skipped.none()
        least_ns = step_ns // 2 if self.cell.parameters.get("dither") is True else step_ns
        late = arrays(
            self.database,
            f"""SELECT {self._thread}::BIGINT AS t, {RELEASE} AS r, {self.column} AS v FROM {self._counted}
                AND {self.column} >= {least_ns} ORDER BY t, r LIMIT {MOST}""",
        )
        thread, release, value = (late[name].astype(np.int64) for name in ("t", "r", "v"))
        ends = np.array([due.get(int(one), 0) for one in np.unique(thread)], np.int64)
        left = ends[np.searchsorted(np.unique(thread), thread)] - release - 1 if len(thread) else release
        reach = np.clip(value // least_ns, 0, np.maximum(left, 0))
        if not reach.sum() or reach.sum() > MOST:
            return Skipped.none()
        return Skipped.of(thread, value, self._until_next(thread, release, reach), step_ns)

    def _until_next(self, thread: Int64s, release: Int64s, reach: Int64s) -> Int64s:
        """How many releases lie between each of these and the next one that was answered, `reach` at most."""
        row = np.repeat(np.arange(len(reach)), reach)
        first = np.cumsum(reach) - reach
        number = np.arange(int(reach.sum()), dtype=np.int64) - first[row] + 1
        asked = {"t": thread[row], "r": release[row] + number}
        self.database.register("asked", asked)
        try:
            served = arrays(
                self.database,
                f"""SELECT DISTINCT {RELEASE} AS r, {self._thread}::BIGINT AS t FROM {self.rows} AS s
                    SEMI JOIN asked ON s.{RELEASE} = asked.r AND {self._thread} = asked.t""",
            )
        finally:
            self.database.unregister("asked")
        wide = int(thread.max()) + 1
        is_served = np.isin(asked["r"] * wide + asked["t"], served["r"] * wide + served["t"])
        before = np.where(is_served, number - 1, np.iinfo(np.int64).max)
        found = reach.copy()
        with_reach = np.flatnonzero(reach)
        nearest = np.minimum.reduceat(before, first[with_reach])
        found[with_reach] = np.minimum(reach[with_reach], nearest)
        return found
