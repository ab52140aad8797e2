"""The published layout: sides as rows; minimum, mean, maximum, deviation, overruns, period exceeded
(docs/compare.md). What terminal and page show is made here, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from howlate.model.columns import LATENCY, RESPONSE, column_title
from howlate.report.compare import Block, Comparison
from howlate.report.units import Unit, unit_for
from howlate.stats.sides import FIGURES, Row

HEADINGS = {
    "minimum": "min",
    "mean": "mean",
    "maximum": "max",
    "deviation": "std dev",
    "overruns": "overruns",
    "exceeded": "period exceeded",
}
TIMES = ("minimum", "mean", "maximum", "deviation")


@dataclass(frozen=True)
class Line:
    """A line of a table: a side's figures, or the smallest, median or largest of them over its repetitions."""

    side: str
    """Whose; "" where the line above says it."""
    what: str
    """"smallest", "median", "largest"; "" where there is one repetition; else what the line is instead."""
    values: tuple[float | None, ...]
    """In nanoseconds, and counts."""
    kind: str = "ours"
    notes: tuple[str, ...] = ()
    """For each value a mark behind it; empty for none."""


@dataclass(frozen=True)
class Sheet:
    """One table as it is shown."""

    title: str
    column: str
    """The samples' column."""
    unit: Unit
    figures: tuple[str, ...]
    """Of FIGURES, those that say something here."""
    lines: tuple[Line, ...]
    repeated: bool

    def text(self, figure: str, value: float | None, thousands: str = "") -> str:
        """As it is shown, without a mark; "-" for none."""
        if value is None:
            return "-"
        if figure in TIMES:
            return self.unit.text(value, thousands)
        return f"{value:,.0f}".replace(",", thousands) if value == int(value) else f"{value:.1f}"


def sheet(found: Comparison, block: Block) -> Sheet:
    """The table of one block."""
    columns = [once.column for row in block.rows for once in row.once.values()]
    figures = tuple(name for name in FIGURES if _says(name, block))
    repeated = any(row.planned > 1 for row in block.rows)
    lines = [line for row in block.rows for line in _lines(found.sides[row.side], row, figures, repeated)]
    return Sheet(_title(found, block), block.column, unit_for(columns), figures, tuple(lines), repeated)


def _title(found: Comparison, block: Block) -> str:
    several = len({b.column for b in found.blocks}) > 1
    return ": ".join(part for part in (block.title, column_title(block.column) if several else "") if part)


def _says(name: str, block: Block) -> bool:
    """Counts that a test does not have are left out; those of a periodic test are shown also where they are zero."""
    ranges = [its for row in block.rows if (its := row.range(name)) is not None]
    if name == "exceeded":
        return bool(ranges)
    if name == "overruns" and block.column not in (LATENCY, RESPONSE):
        return any(its.largest for its in ranges) or any(row.range("exceeded") for row in block.rows)
    return True


def _lines(side: str, row: Row, figures: Sequence[str], repeated: bool) -> list[Line]:
    if not row.once:
        return [Line(side, "no valid repetition" if repeated else "invalid", (None,) * len(figures))]
    ranges = [row.range(name) for name in figures]
    if row.planned == 1:
        return [Line(side, "", tuple(None if its is None else its.smallest for its in ranges))]
    return [
        Line(
            f"{side} ({row.of})" if i == 0 else "",
            what,
            tuple(None if its is None else float(getattr(its, what)) for its in ranges),
        )
        for i, what in enumerate(("smallest", "median", "largest"))
    ]
