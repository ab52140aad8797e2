"""The strips of a run that is being measured: those of the first screen, and they fill."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from howlate.cli._options import limit_ns_of
from howlate.document.first_screen.lines import COLUMNS, LEAST_COLUMNS, Line, typed
from howlate.document.first_screen.strips import DrawnRows
from howlate.model.bins import Histogram, coarse_edges
from howlate.model.plan import Cell
from howlate.model.study import spell
from howlate.model.summary import CellSummary
from howlate.targets import CpuProgress, Progress

SGR = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}


class LiveRow(Struct):
    """One load, or one CPU, so far."""

    name: str
    labels: Mapping[str, str]
    deadline_ns: int = 0
    max_ns: int | None = None
    exact: int = 0
    """Misses of cells that are over."""
    counts: Counter[int] = field(default_factory=Counter)
    running: Counter[int] = field(default_factory=Counter)
    """Counts of the current cell."""
    letter: str = " "
    is_counted: bool = True
    at_least: bool = False

    @property
    def is_skipped(self) -> bool:
        return bool(self.later) and (self.max_ns or 0) <= self.deadline_ns

    @property
    def histograms(self) -> tuple[Histogram, ...]:
        counts = self.counts + self.running
        edges = [coarse_edges(place) for place in sorted(counts)]
        if not edges:
            return ()
        lower, upper = zip(*edges, strict=True)
        return (Histogram(lower, upper, tuple(counts[place] for place in sorted(counts))),)

    @property
    def low_ns(self) -> int | None:
        return min((coarse_edges(place)[0] for place in (*self.counts, *self.running)), default=self.max_ns)

    @property
    def later(self) -> int | None:
        """As far as bins show it, until the cell is over."""
        if not self.deadline_ns:
            return None
        late = (n for place, n in self.running.items() if coarse_edges(place)[0] > self.deadline_ns)
        return self.exact + sum(late)

    def take(self, told: CpuProgress) -> None:
        if told.latency_ns_max > 0:  # 0: no sample yet
            self.max_ns = max(self.max_ns or 0, told.latency_ns_max)
        self.running.update(dict(told.more))


class LiveStrips(Struct):
    """All rows; `by_cpu`: one for each CPU, else one for each point."""

    by_cpu: bool = False
    rows: list[LiveRow] = field(default_factory=list)
    deadline_ns: int = 0
    step_ns: int = 0

    def begins(self, cell: Cell, name: str) -> None:
        stated = cell.parameters.get("deadline")
        self.deadline_ns = limit_ns_of("deadline", spell(stated)) if stated else 0
        if not self.by_cpu:
            self._row(name, cell.labels)

    def _row(self, name: str, labels: Mapping[str, str]) -> LiveRow:
        row = next((each for each in self.rows if each.name == name), None)
        if row is None:
            row = LiveRow(name, labels, self.deadline_ns)
            self.rows.append(row)
        return row

    def progress(self, cell: Cell, name: str, progress: Progress) -> None:
        for told in progress.cpus:
            cpu = f"CPU {told.cpu}" if told.cpu >= 0 else "any CPU"
            labels = {"cpu": str(told.cpu)} if self.by_cpu else cell.labels
            self._row(cpu if self.by_cpu else name, labels).take(told)

    def whole(self, name: str, summary: CellSummary) -> None:
        """The figures of a cell that is over are exact: samples came after its last line of progress."""
        column = summary.columns.get(summary.latest)
        for row in self.rows:
            if self.by_cpu or row.name == name:
                largest = column and (column.max_by_cpu.get(row.labels["cpu"]) if self.by_cpu else column.max)
                row.max_ns = max(row.max_ns or 0, largest) if largest else row.max_ns
                row.exact += summary.deadline.misses if summary.deadline and not self.by_cpu else 0
                row.exact = row.later or 0 if self.by_cpu else row.exact
                row.counts += row.running
                row.running.clear()

    def lines(self, width: int, most: int, *, letters: bool) -> list[str]:
        """At most `most` lines, narrower than `width`. Where there are more rows, those with the largest
        latencies, the point that is being measured, and how many are left out."""
        left_out = len(self.rows) - (most - 2) if len(self.rows) >= most else 0
        has_any = any(row.counts or row.running for row in self.rows)
        if most < (3 if left_out else 2) or not has_any or width <= LEAST_COLUMNS:
            return []
        last = None if self.by_cpu else self.rows[-1]
        worst = sorted(self.rows, key=lambda row: (row is not last, -(row.max_ns or 0)))
        kept = {row.name for row in worst[: len(self.rows) - left_out]}
        shown = LiveStrips(self.by_cpu, [row for row in self.rows if row.name in kept], self.deadline_ns)
        axis, rows = DrawnRows(min(width, COLUMNS) - 1, letters, shown).lines()
        more: list[Line] = [((f"{left_out} more", "dim"),)] if left_out else []
        return coloured(typed([*axis, *rows, *more], letters=letters))


def coloured(lines: Sequence[Line]) -> list[str]:
    plain = "NO_COLOR" in os.environ
    return [
        "".join(text if plain or not style else _styled(text, style) for text, style in line)
        for line in lines
    ]


def _styled(text: str, style: str) -> str:
    codes = ";".join(str(SGR[word]) for word in style.split() if word in SGR)
    return f"\x1b[{codes}m{text}\x1b[0m" if codes else text
