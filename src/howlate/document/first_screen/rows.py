"""The rows of the first screen: of each point its strip and figures, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from howlate.document.results import rulings_of
from howlate.model.bins import Histogram
from howlate.model.loaded import RunContent
from howlate.model.summary import CellSummary, DeadlineSummary
from howlate.statistics.deadline import together
from howlate.statistics.groups import Group, groups_of
from howlate.statistics.labels import row_names
from howlate.statistics.ladder import at_step
from howlate.statistics.valid import holds
from howlate.words.printable import printable

LETTERS = {"FAIL": "F", "INCONCLUSIVE": "?", "PASS": "P"}
"""Before a row, the worst first."""
INVALID = "!"
"""Before a row that is not valid, behind the letter of its outcome."""


class ScreenRow(Struct, frozen=True):
    """One point with its repetitions."""

    name: str
    """"" where it is the only one."""
    group: Group
    cells: tuple[CellSummary, ...]
    """Those that the figures are of: those that count (statistics/valid.py), else all."""
    histograms: tuple[Histogram, ...]
    seconds: float
    """How long these were measured; 0 where that is not known."""
    outcome: str = ""
    """PASS, FAIL or INCONCLUSIVE; "" where no deadline was stated."""
    limit: DeadlineSummary | None = None
    """Its releases against the deadline, or the rows' step of the ladder; None where that is not known."""

    @property
    def title(self) -> str:
        return self.name or printable(row_names([self.group.labels])[0])

    @property
    def column(self) -> str:
        return self._worst.latest

    @property
    def _worst(self) -> CellSummary:
        return max(self.cells, key=lambda cell: _max(cell) or 0)

    @property
    def max_ns(self) -> int | None:
        return max((ns for cell in self.cells if (ns := _max(cell)) is not None), default=None)

    @property
    def p99_ns(self) -> float | None:
        """That of the repetition with the largest value; None where it is not stated."""
        column = self._worst.columns.get(self._worst.latest)
        return None if column is None else column.quantiles.get("0.99")

    @property
    def later(self) -> int | None:
        """How many were later than the limit; of what may be none or any, nothing is known."""
        counts = self.limit
        return None if counts is None or (counts.at_least and not counts.misses) else counts.misses

    @property
    def at_least(self) -> bool:
        return self.limit is not None and self.limit.at_least

    @property
    def counts(self) -> DeadlineSummary | None:
        return together([cell.deadline for cell in self.cells if cell.deadline is not None])

    @property
    def is_skipped(self) -> bool:
        counts = self.limit
        return counts is not None and not counts.late and counts.unserved > 0

    @property
    def labels(self) -> Mapping[str, str]:
        return self.group.labels

    @property
    def is_counted(self) -> bool:
        """Of what is not, nothing is certain."""
        return bool(self.group.seen)

    @property
    def mark(self) -> str:
        """The mark of a row whose largest value or misses are a repetition's that is not valid."""
        missed = [cell for cell in self.cells if cell.deadline is not None and cell.deadline.misses]
        return "" if self.group.counted and all(cell.valid for cell in (self._worst, *missed)) else INVALID

    @property
    def letter(self) -> str:
        return LETTERS.get(self.outcome, "") + self.mark or " "

    @property
    def low_ns(self) -> int | None:
        if self.histograms:
            return min(each.lower_ns[0] for each in self.histograms)
        return self.max_ns


def _max(cell: CellSummary) -> int | None:
    column = cell.columns.get(cell.latest)
    return None if column is None else column.max


class ScreenRows(Struct, frozen=True):
    """All of them, the worst first, and what `later` counts."""

    rows: tuple[ScreenRow, ...]
    deadline_ns: int = 0
    """The one that is marked; 0: none was stated, or several."""
    step_ns: int = 0
    """Of the ladder, where no deadline was stated; 0: none."""

    @property
    def judged(self) -> tuple[ScreenRow, ...]:
        return tuple(row for row in self.rows if row.outcome)

    @property
    def unjudged(self) -> int:
        """How many have no deadline, where others have one."""
        rest = [row for row in self.rows if not row.outcome and any(cell.judged for cell in row.cells)]
        return len(rest) if self.judged else 0


def totalled(rows: Sequence[ScreenRow]) -> tuple[ScreenRow, ...]:
    """Those that the head, totals and causes are of: those that count, else all."""
    return tuple(row for row in rows if row.is_counted) or tuple(rows)


def screen_rows(
    runs: Sequence[RunContent],
    rulings: Mapping[str, str] | None = None,
    labels: Sequence[Mapping[str, str]] = (),
) -> ScreenRows:
    """`rulings`: of one run by cell and by point, else those on the deadlines that were stated. `labels`: of all
    cells of several runs, which tell them apart."""
    alone = rulings if len(runs) == 1 else None
    of_runs = [list(_rows(content, rulings_of(content) if alone is None else alone)) for content in runs]
    found = [row for rows in of_runs for row in rows]
    if len(runs) > 1:
        starts = accumulate((len(content.cells) for content in runs), initial=0)
        places = [at + row.group.places[0] for at, rows in zip(starts, of_runs, strict=False) for row in rows]
        names = map(printable, row_names([labels[place] for place in places]))
        found = [replace(row, name=name) for row, name in zip(found, names, strict=True)]
    deadlines = {counts.deadline_ns for row in found if (counts := row.counts) is not None}
    step_ns = 0 if deadlines else _step_ns(found)
    told = [replace(row, limit=row.counts or _at_step(row, step_ns)) for row in found]
    order = [*LETTERS, ""]
    told.sort(
        key=lambda row: (
            order.index(row.outcome),
            not row.is_counted,
            not any(cell.judged for cell in row.cells),
            -(row.max_ns or -1),
        )
    )
    return ScreenRows(tuple(told), deadlines.pop() if len(deadlines) == 1 else 0, step_ns)


def _rows(content: RunContent, rulings: Mapping[str, str]) -> Iterator[ScreenRow]:
    groups = groups_of(content.summaries, content.run)
    names = row_names([group.labels for group in groups]) if len(groups) > 1 else [""] * len(groups)
    for group, name in zip(groups, map(printable, names), strict=True):
        cells = group.seen or group.cells
        whole = [content.cells[place] for place in group.places]
        whole = [cell for cell in whole if holds(cell.summary) or not group.seen]
        held = [(cell.bins, cell.summary.latest) for cell in whole]
        drawn = [of for own, column in held if own is not None and (of := own.of(column)) is not None]
        ruling = rulings.get(group.point, "")
        if not ruling and any(cell.deadline is not None for cell in cells):
            ruling = "INCONCLUSIVE"  # a deadline was stated, and nobody judges it
        histograms = tuple(each.histogram for each in drawn if each.histogram.counts)
        yield ScreenRow(name, group, cells, histograms, sum(cell.looked_s for cell in whole), ruling)


def _step_ns(rows: Sequence[ScreenRow]) -> int:
    """The longest step of the ladders that an answer of any row is later than; of rows that answered nothing, the
    longest of all."""
    steps = [step for row in rows for cell in row.cells for step in cell.ladder if step.misses]
    return max((step.deadline_ns for step in [s for s in steps if s.late] or steps), default=0)


def _at_step(row: ScreenRow, step_ns: int) -> DeadlineSummary | None:
    if not step_ns or not all(cell.ladder for cell in row.cells):
        return None
    return together(at_step(cell.ladder, step_ns) for cell in row.cells)
