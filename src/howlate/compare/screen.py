"""The screen of a comparison: how many rows differ, and one table of them, the largest difference first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from rich.cells import cell_len

from howlate.compare.compare import NOT_INTERLEAVED, Block, Comparison, Pair
from howlate.compare.conclusions import without_starved
from howlate.compare.document import HEADINGS, OPTIONS, doubtful, every_caution
from howlate.document.first_screen.lines import (
    COLUMNS,
    FAINT,
    LEAST_COLUMNS,
    LINES,
    Line,
    copied,
    height,
    middle,
    note_lines,
    spaced,
    typed,
    under,
)
from howlate.document.first_screen.table import ScreenColumn, ScreenTable
from howlate.document.sheet import NOTHING
from howlate.figures.figure import title_of_column
from howlate.model.summary import MISSES
from howlate.sides.join_warnings import MACHINES, SETTING
from howlate.sides.joined import Joined, labels_that_vary
from howlate.sides.paired import RatioInterval
from howlate.sides.sides import DIRECTIONS, LEVEL, RUN, Decision, SideRow
from howlate.statistics.labels import axes_that_vary, row_names
from howlate.statistics.labels import heading as named
from howlate.words.language import N_, _, called
from howlate.words.printable import printable
from howlate.words.quantities import percent, ratio_interval, ratio_text, time_text
from howlate.words.say import Text, count_text, more_rows_text, text_of
from howlate.words.statement import Caption, Listed, Statement

FEW, FEW_LINES = 5, 15
"""Rows, and lines that they take at most."""
MOST_NOTES, LONGEST_SIDE, MOST_LINES = 3, 12, 12
MEANINGS = {
    "larger": N_("larger"),
    "smaller": N_("smaller"),
    "equal": N_("equal"),
    "indistinct": N_("not shown"),
    "unstated": N_("not shown"),
}
STYLES = {"larger": "bold red", "smaller": "bold green"}
FIGURES = ("max", "0.999", MISSES, "0.5", "stddev")
"""The first of what differs alike, and of what does not differ."""
PUBLISHED = ("maximum", "mean", "minimum")


class CompareRow(Struct, frozen=True):
    """A figure of one place on two sides."""

    name: str
    side: str
    """The second one."""
    figure: str
    values: tuple[float | None, float | None]
    """Medians over the repetitions."""
    decision: Decision
    """The direction of the second relative to the first."""
    repetitions: int = 1
    """The number of repetitions behind the medians."""

    @property
    def differs(self) -> bool:
        return self.decision.direction in STYLES

    @property
    def size(self) -> float:
        interval = self.decision.interval
        ratio = interval.ratio if interval is not None else self.decision.seen
        return abs(math.log(ratio)) if ratio else 0.0

    @property
    def shown(self) -> RatioInterval | None:
        return None if self.decision.direction == "unstated" else self.decision.interval

    @property
    def needs_reason(self) -> bool:
        """The figures look like a difference that could not be shown."""
        interval = self.decision.interval
        excludes = interval is not None and not interval.low <= 1 <= interval.high
        return self.decision.direction == "unstated" or (self.decision.direction == "indistinct" and excludes)

    @property
    def ratio(self) -> str:
        """Without its interval where no difference is stated: that would say more than the decision."""
        if self.figure == MISSES and 0 in self.values:
            return NOTHING
        interval = self.shown
        if interval is None:
            return ratio_text(self.decision.seen) if self.decision.seen else NOTHING
        return ratio_interval(interval.ratio, interval.low, interval.high)

    def text(self, value: float | None) -> str:
        if value is None:
            return NOTHING
        return count_text(round(value)) if self.figure == MISSES else time_text(value, space=" ")


def screen(
    found: Comparison,
    equal: Sequence[Statement],
    runs: str,
    width: int = COLUMNS,
    *,
    every: bool = False,
    letters: bool = False,
) -> list[Line]:
    """`equal`: sides whose samples are the same; `runs`: as a command takes them; `every` figure, on as many lines as
    it takes."""
    width = max(LEAST_COLUMNS, min(width, COLUMNS))
    compared, _left_out = without_starved(found)
    chosen, rows = (_sorted(_rows(compared, every=each)) for each in (False, every))
    head = [line for text in equal for line in under("", [text], width, 2)]
    if len(found.sides) > 1:
        word, told = _headline(chosen)
        head += under(word, [told], width, 3, style="bold")
    legend, sides = _sides(found)
    if len(legend) > 1:
        head += [((middle(text, width), ""),) for text in map(text_of, legend)]
    else:
        head += [line for text in legend for line in under("", [text], width, 2)]
    heading, lines = _table(compared, rows, sides).lines(width)
    said = list(_notes(found))
    notes = list(note_lines(list(map(text_of, said[:MOST_NOTES])), width))
    if every:
        notes = [line for text in said for line in under("", [text], width, MOST_LINES, indent=2)]
    page = list(copied(_("as a page"), f"{called()} report {runs}", width))
    rest = list(copied(_("all figures"), f"{called()} compare --all {runs}", width)) if not every else []
    most = FEW_LINES if len(rows) <= FEW and width == COLUMNS else LINES
    room = most - height([*head, heading, *notes, *rest, *page], width)
    kept = max(FEW, room - 1)
    if not every and len(lines) > max(kept, room):
        more = more_rows_text(len(lines) - kept)
        lines = [*lines[:kept], ((f"  {more}: --all", FAINT),)]
    blocks = [head, [heading, *lines] if rows else [], notes, [*rest, *page]]
    return typed(spaced(blocks, width, 10**9 if every else most), letters=letters)


def _sorted(rows: Iterable[CompareRow]) -> list[CompareRow]:
    return sorted(rows, key=lambda row: (not row.differs, -row.size))


def headline(found: Comparison) -> tuple[str, Text]:
    """How many rows differ; by which test, or why none can be shown to."""
    compared, _left_out = without_starved(found)
    return _headline(_sorted(_rows(compared, every=False)))


def _headline(rows: Sequence[CompareRow]) -> tuple[str, Text]:
    if not rows:
        return "", Caption("no row has a figure above zero on both sides")
    differ = sum(row.differs for row in rows)
    if all(row.decision.direction in ("indistinct", "unstated") for row in rows):
        word = _("not shown to differ")
    elif len(rows) == 1:
        direction = rows[0].decision.direction
        meaning = DIRECTIONS[direction] if direction == "equal" else MEANINGS[direction]
        word = _(meaning)
    else:
        word = text_of(Caption("{count} of {rows} rows differ", count=differ, rows=len(rows)))
    counts = sorted({row.repetitions for row in rows if row.repetitions > 1})
    margin: Text = ""
    medians: Text = ""
    if counts:
        span = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
        medians = Caption("medians of {count} repetitions", count=span)
    level = percent(1 - LEVEL) if any(row.shown for row in rows) else ""
    if differ:
        margin = Caption("by more than 10 %")
    untold = [row.decision.why for row in rows if row.needs_reason and row.decision.why is not None]
    reasons = [
        Caption("one run each: not shown to be the change") if why.rule == NOT_INTERLEAVED.id else why
        for why in {why.rule: why for why in untold}.values()
    ]
    return word, Listed((margin, medians, level, *reasons), "; ")


def _sides(found: Comparison) -> tuple[list[Text], tuple[str, str]]:
    """The headings of their columns, and where their names are too long what these stand for."""
    first, *others = found.sides
    old, new = _("old"), _("new")
    if not others:  # beside what its study's document prints
        others, first = [first], found.joined.runs[0].study.reference
    if len(others) != 1:
        listed = enumerate(others[: MOST_LINES // 2] if _are_long(found.sides) else (), 1)
        return [f"{old}: {first}", *(f"{_letter(place)}: {side}" for place, side in listed)], (old, new)
    names = (first, others[0])
    if not _are_long(names):
        return [], names
    return [f"{old}: {names[0]}; {new}: {names[1]}"], (old, new)


def _are_long(sides: Sequence[str]) -> bool:
    return max(map(cell_len, sides)) > LONGEST_SIDE


def _letter(side: int) -> str:
    return chr(ord("A") + side - 1) if side <= 26 else str(side)


def _table(found: Comparison, rows: Sequence[CompareRow], sides: tuple[str, str]) -> ScreenTable:
    axes = axes_that_vary([block.labels for block in found.blocks]) if found.blocks else ()
    several = len(found.sides) > 2
    columns = [
        ScreenColumn(_("side"), [row.side if several else "" for row in rows], 0, words=True),
        ScreenColumn(_("figure"), [_figure(row.figure) for row in rows], 3, words=True),
        ScreenColumn(sides[0], [row.text(row.values[0]) for row in rows], 5),
        ScreenColumn(sides[1], [row.text(row.values[1]) for row in rows], 4),
        ScreenColumn(_("ratio"), [row.ratio for row in rows], 0, words=True),
        ScreenColumn(
            "",
            [_(MEANINGS[row.decision.direction]) for row in rows],
            0,
            words=True,
            styles=[STYLES.get(row.decision.direction, "") for row in rows],
        ),
    ]
    return ScreenTable(named(axes[0]) if len(axes) == 1 else "", [row.name for row in rows], columns)


def _figure(figure: str) -> str:
    if figure.startswith(RUN):
        return figure.removeprefix(RUN).rpartition(".")[0]
    return _("misses") if figure == MISSES else _(HEADINGS[figure])


def _rows(found: Comparison, *, every: bool) -> Iterator[CompareRow]:
    """Of each pair the figure that differs most, or `every` one. Of several sides each against the first."""
    names = _names(found.blocks)
    for name, block in zip(names, found.blocks, strict=True):
        for pair in block.pairs:
            if every or len(found.sides) < 3 or pair.first == block.rows[0].side:
                told = [decision.turned() for decision in pair.decisions if decision.seen]
                told.sort(key=lambda one: _rank(one.figure))
                rows = [_row(found, block, pair, name, decision) for decision in told]
                rows.sort(key=lambda row: -row.size if row.differs else math.inf)
                yield from rows if every else rows[:1]
        if not block.pairs:
            yield from _beside_published(found, block, name)


def _rank(figure: str) -> int:
    return FIGURES.index(figure) if figure in FIGURES else len(FIGURES)


def _row(found: Comparison, block: Block, pair: Pair, name: str, told: Decision) -> CompareRow:
    sides = [block.row(side) for side in (pair.first, pair.second)]
    old, new = (_median(row, told.figure) for row in sides)
    repetitions = max(len(row.once) if row is not None else 0 for row in sides)
    side = _letter(pair.second) if _are_long(found.sides) else found.sides[pair.second]
    return CompareRow(name, side, told.figure, (old, new), told, repetitions)


def _median(row: SideRow | None, figure: str) -> float | None:
    spread = None if row is None else row.spread(figure)
    return None if spread is None else float(spread.median)


def _beside_published(found: Comparison, block: Block, name: str) -> Iterator[CompareRow]:
    """A single side next to the figures that its study's document prints."""
    for line, sides in zip(block.published, block.stand, strict=True):
        for row in (row for row in block.rows if row.side in sides):
            figure = next((name for name in PUBLISHED if line.values.get(name)), "")
            ours, printed = _median(row, figure) if figure else None, line.values.get(figure)
            if ours and printed:
                told = Decision(figure, "unstated", seen=ours / printed)
                yield CompareRow(name, found.sides[row.side], figure, (printed, ours), told)


def _names(blocks: Sequence[Block]) -> list[str]:
    columns = len({block.column for block in blocks}) > 1
    tests = len({block.test for block in blocks}) > 1
    told = [
        {
            **({"test": block.test} if tests else {}),
            **block.labels,
            **({"column": text_of(title_of_column(block.column))} if columns and block.column else {}),
        }
        for block in blocks
    ]
    return list(map(printable, row_names(told))) if len(blocks) > 1 else ["" for _block in blocks]


def _not_valid(joined: Joined) -> Iterator[str]:
    names = labels_that_vary(joined.places)
    for place in joined.matched:
        if any(not member.group.counted and not member.group.starved for member in place.members.values()):
            yield ", ".join(place.labels[name] for name in names if name in place.labels) or place.test


def _notes(found: Comparison) -> Iterator[Text]:
    """The first warning of each kind and side, then the others."""
    if caution := every_caution(found):
        yield caution
    if rows := tuple(_not_valid(found.joined)):
        yield Caption("not valid on a side: {rows}", rows=Listed(rows))
    kinds: dict[tuple[str, str], Statement] = {}
    others = []
    for warning in (*found.joined.warnings, *doubtful(found)):
        what = warning.values.get("what", warning.values.get("name"))
        kind = what.template if isinstance(what, Caption) and warning.rule != MACHINES.id else ""
        if warning.rule == SETTING.id and what == found.joined.by:
            continue
        if kinds.setdefault((warning.rule, kind or warning.values.get("side", "")), warning) is not warning:
            others.append(warning)
    yield from (*kinds.values(), *others)
    if found.differences:
        options = tuple(each.option for each in found.differences)
        yield Listed((OPTIONS(count=len(options)), Listed(options)), ": ")
