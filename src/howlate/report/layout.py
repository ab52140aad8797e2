"""The published layout: sides as rows; minimum, mean, maximum, deviation, overruns, period exceeded
(docs/compare.md). What terminal and page show is made here, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from howlate.language import N_, _
from howlate.model.columns import LATENCY, RESPONSE
from howlate.model.summary import MISSES
from howlate.reference.beside import Line as Beside
from howlate.reference.shown import ABOUT, LEGEND, SIGNS
from howlate.report.compare import Block, Comparison
from howlate.report.units import Unit, unit_for
from howlate.stats.loaded import percent
from howlate.stats.sides import FIGURES, LOAD, RUN, Row

HEADINGS = {
    "minimum": N_("min"),
    "mean": N_("mean"),
    "maximum": N_("max"),
    "deviation": N_("std dev"),
    "overruns": N_("overruns"),
    "exceeded": N_("period exceeded"),
    "p99": "p99",
    MISSES: N_("deadline misses"),
}
TIMES = ("minimum", "mean", "p99", "maximum", "deviation")
SIGN_OF_MS = " (ms)"


def heading(figure: str) -> str:
    """A figure as a column's heading: "max", "load achieved", "hackbench run (ms)"."""
    if figure == LOAD:
        return _("load achieved")
    if figure.startswith(RUN):
        return _("{load} run{unit}").format(load=figure.removeprefix(RUN).rpartition(".")[0], unit=SIGN_OF_MS)
    return _(HEADINGS[figure])


@dataclass(frozen=True)
class Line:
    """A line of a table: a side's figures, or the smallest, median or largest of them over its repetitions."""

    side: str
    """Whose; "" where the line above says it."""
    what: str
    """"smallest", "median", "largest"; "" where there is one repetition; whose published figures these are; else why
    there are none."""
    values: tuple[float | None, ...]
    """In nanoseconds, and counts."""
    kind: str = "ours"
    """"ours" or "published"."""
    notes: tuple[str, ...] = ()
    """For each value a sign behind it (reference/shown.py); empty for none."""
    printed: tuple[str, ...] = ()
    """Of published values the digits that the document has, where it has them in the table's unit; else empty."""


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
    notes: tuple[str, ...] = ()
    """What is to be known of published lines: where they stand, and by how much ours are fewer."""

    def shown(self, line: Line, place: int, thousands: str = "") -> str:
        """A line's value: a published one with the digits that it is printed with."""
        if line.printed and line.printed[place]:
            return line.printed[place]
        return self.text(self.figures[place], line.values[place], thousands)

    def text(self, figure: str, value: float | None, thousands: str = "") -> str:
        """As it is shown, without a mark; "-" for none."""
        if value is None:
            return "-"
        if figure in TIMES:
            return self.unit.text(value, thousands)
        if figure == LOAD:
            return percent(value)
        if figure.startswith(RUN):
            return f"{value / 1e6:,.1f}".replace(",", thousands)
        return f"{value:,.0f}".replace(",", thousands) if value == int(value) else f"{value:.1f}"


def sheet(found: Comparison, block: Block) -> Sheet:
    """The table of one block."""
    columns = [once.column for row in block.rows for once in row.once.values()]
    figures = (*(name for name in FIGURES if _says(name, block)), *_load(block), *block.runs)
    repeated = any(row.planned > 1 for row in block.rows)
    unit = unit_for(columns)
    lines = []
    left = list(zip(block.published, block.stand, strict=True))
    for row in block.rows:
        lines += _lines(found.sides[row.side], row, figures, repeated)
        model = found.joined.sides[row.side].preemption
        here = [one for one in left if row.side in one[1] and model in one[0].preemption]
        lines += [_published(line, figures, unit) for line, _ in here]
        left = [one for one in left if one not in here]
    lines += [_published(line, figures, unit) for line, _ in left]
    notes = tuple(_notes(found, block))
    return Sheet(block.title, block.column, unit, figures, tuple(lines), repeated, notes)


def _published(line: Beside, figures: Sequence[str], unit: Unit) -> Line:
    why = _(" (not to be measured here)") if line.why else ""
    printed = [line.figures.get(name) for name in figures]
    signs = ["" if its is None else f"{SIGNS[its.mark]}{ABOUT if its.about else ''}" for its in printed]
    values = tuple(line.values.get(name) for name in figures)
    texts = []
    for name, its in zip(figures, printed, strict=True):
        size = unit.size if name in TIMES else 1
        same = its is not None and its.number is not None and line.values[name] == float(its.number) * size
        texts.append(its.printed if its is not None and same else "")
    return Line(
        "",
        _("published: {label}{why}").format(label=line.label, why=why),
        values,
        "published",
        tuple(signs),
        tuple(texts),
    )


def _notes(found: Comparison, block: Block) -> list[str]:
    """Where the published lines stand, of how many samples they are, what their signs mean."""
    if not block.published:
        return []
    tables = {table.id: table for reference in found.references for table in reference.tables}
    used = dict.fromkeys(line.table for line in block.published)
    said = [f"{tables[name].title} ({tables[name].place})" for name in used if name in tables]
    samples = {tables[name].samples for name in used if name in tables} - {0}
    ours = {once.column.count for row in block.rows for once in row.once.values()}
    count = (
        _(", {samples} samples each; ours are of {ours}").format(samples=_span(samples), ours=_span(ours))
        if samples and ours
        else ""
    )
    signs = {s for line in block.published for its in line.figures.values() for s in SIGNS[its.mark]}
    meanings = [f"{sign} {_(LEGEND[sign])}" for sign in sorted(signs) if sign in LEGEND]
    return [
        _("Published: {said}{count}.").format(said="; ".join(said), count=count),
        *(_("{sentence}.").format(sentence=text) for text in meanings),
    ]


def _span(values: set[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else _("{low:,} to {high:,}").format(low=low, high=high)


def _says(name: str, block: Block) -> bool:
    """Counts that a test does not have are left out; those of a periodic test are shown also where they are zero."""
    ranges = [its for row in block.rows if (its := row.range(name)) is not None]
    if not block.column:
        return False
    if name in ("exceeded", MISSES, "p99"):
        return bool(ranges)
    if name == "overruns" and block.column not in (LATENCY, RESPONSE):
        return any(its.largest for its in ranges) or any(row.range("exceeded") for row in block.rows)
    return True


def _load(block: Block) -> tuple[str, ...]:
    """The loads' share, where any row has one."""
    known = any(
        row.not_loaded or any(its.load_share is not None for its in row.once.values()) for row in block.rows
    )
    return (LOAD,) if known else ()


def _lines(side: str, row: Row, figures: Sequence[str], repeated: bool) -> list[Line]:
    if row.not_loaded:
        share = float(median(row.not_loaded))
        return [Line(side, _("not loaded"), tuple(share if name == LOAD else None for name in figures))]
    if row.starved:
        side = _("{side}, starved (expected)").format(side=side)
    if not row.once:
        return [Line(side, _("no valid repetition") if repeated else _("invalid"), (None,) * len(figures))]
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
