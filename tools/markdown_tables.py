"""A comparison as Markdown: a line for each place and side, the published figures in the same line.

Pure: from a Comparison (compare/compare.py) to a sheet, and from a sheet to lines of text. tools/pages.py makes the
pages of docs/studies of these.
"""

from collections.abc import Iterable, Mapping
from statistics import median

from msgspec import Struct, field

from howlate.compare.compare import Block, Comparison
from howlate.compare.conclusions import conclusions
from howlate.compare.document import heading
from howlate.document.sheet import Row, Sheet, labels, texts
from howlate.model.capabilities import MODE
from howlate.model.summary import MISSES
from howlate.sides.printed_figures import PrintedLine
from howlate.sides.sides import LOAD, RUN, SideRow
from howlate.words.quantities import percent, significant
from howlate.words.say import english, english_text

MIDDLE = ("mean", "deviation", "0.5")
"""Figures of which the median over the seeds is shown; of all others the smallest and the largest."""
COUNTS = ("overruns", "exceeded", MISSES)
NOTHING = "-"


class Wanted(Struct, frozen=True):
    """What a table shows."""

    column: str
    """The samples' column: "latency_ns"; "" for the loads' own runs alone."""
    by: tuple[str, ...]
    """Labels that become columns, in this order, before the kernel's; the mode comes after it where cells say it."""
    figures: tuple[str, ...]
    """Of sides.sides.FIGURES, "0.5" (the median), LOAD, or RUN with what a load says of its own runs."""
    published: tuple[str, ...] = ()
    """Of FIGURES: what the study's document prints for the same."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Labels that a place must have."""


def table(found: Comparison, wanted: Wanted) -> Sheet:
    """A row a place and side; ValueError where no place has the column."""
    blocks = [block for block in found.blocks if block.column == wanted.column and _fits(block, wanted)]
    if not blocks:
        raise ValueError(f"no place has the column {wanted.column!r} with the labels {dict(wanted.only)}")
    rows = [(block, row, _beside(found, block, row.side)) for block in blocks for row in block.rows]
    mode = (MODE,) if MODE not in wanted.by and any(MODE in block.labels for block in blocks) else ()
    return Sheet(
        "places",
        "",
        (
            *(labels(by, by, [block.labels.get(by, NOTHING) for block, *_ in rows]) for by in wanted.by),
            labels("kernel", "kernel", [found.sides[row.side] for _block, row, _line in rows]),
            *(labels(name, name, [block.labels.get(name, NOTHING) for block, *_ in rows]) for name in mode),
            *(
                texts(name, _heading(name), [figure_text(row, name) for _block, row, _line in rows])
                for name in wanted.figures
            ),
            *(
                texts(name, f"published {heading(name)}", [_published_text(line, name) for *_, line in rows])
                for name in wanted.published
            ),
        ),
        tuple(Row() for _row in rows),
    )


def sheet_markdown(sheet: Sheet) -> list[str]:
    """The lines of a table, its head among them."""
    rows = zip(*([cell.text for cell in column.cells] for column in sheet.columns), strict=True)
    heads = [column.heading for column in sheet.columns]
    return [_line(heads), _line("---" for _ in heads), *map(_line, rows)]


def summary(found: Comparison, about: str = "") -> list[str]:
    """The generated sentences as a list; those of one heading alone where `about` names it."""
    chosen = [
        (name, statements)
        for title, statements in conclusions(found)
        if about in (name := english_text(title))
    ]
    if not chosen:
        raise ValueError(f"no sentence is about {about!r}")
    lines: list[str] = []
    for title, sentences in chosen:
        lines += [f"**{title}**", ""] if len(chosen) > 1 else []
        lines += [*(f"- {english(sentence)}" for sentence in sentences), ""]
    return lines[:-1]


def figure_text(row: SideRow, name: str) -> str:
    """One figure of a side at a place: a number, or the smallest "to" the largest over the seeds."""
    if row.not_loaded:
        return percent(median(row.not_loaded)) if name == LOAD else "not loaded"
    if not row.once:
        return "invalid"
    over_seeds = row.spread(name)
    if over_seeds is None:
        return NOTHING
    if name in MIDDLE:
        return number_text(over_seeds.median, name)
    low, high = number_text(over_seeds.smallest, name), number_text(over_seeds.largest, name)
    return low if low == high else f"{low} to {high}"


def number_text(value: float, name: str) -> str:
    """Times in microseconds, a load's own runs in milliseconds, with three significant digits; counts whole."""
    if name == LOAD:
        return percent(value)
    if name in COUNTS:
        return f"{value:,.0f}"
    shown = value / (1e6 if name.startswith(RUN) else 1e3)
    return f"{shown:,.0f}" if abs(shown) >= 999.5 else significant(shown)


def _heading(name: str) -> str:
    if name.startswith(RUN) or name in (*COUNTS, LOAD):
        return heading(name)
    return "median, us" if name == "0.5" else f"{heading(name)}, us"


def _fits(block: Block, wanted: Wanted) -> bool:
    return all(block.labels.get(name) == value for name, value in wanted.only.items())


def _beside(found: Comparison, block: Block, side: int) -> PrintedLine | None:
    """The published line that stands beside this side, as the terminal's table places it."""
    lines = zip(block.published, block.stand, strict=True)
    return next((line for line, sides in lines if side in sides and line.preemption), None)


def _published_text(line: PrintedLine | None, name: str) -> str:
    value = None if line is None else line.values.get(name)
    return NOTHING if value is None else number_text(value, name)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
