"""What a comparison shows besides its screen, made once for page, JSON and Markdown: the tables in the published
layout (sides as rows; minimum, mean, maximum, deviation, overruns, period exceeded), the ratios of sides, and the
sentences around them (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from statistics import median
from typing import Any

from msgspec import Struct

from howlate.compare.compare import Block, Comparison, Pair
from howlate.compare.conclusions import conclusions
from howlate.document import cautions
from howlate.document import sheet as sheets
from howlate.document.document import Folded, Item, Section, Texts, texts
from howlate.document.kernels import differences
from howlate.document.sheet import NOTHING, Column, Sheet, SheetCell, Unit, unit_for
from howlate.document.text import every_note
from howlate.figures.figure import title_of_column
from howlate.model.columns import LATENCY, RESPONSE
from howlate.model.summary import MISSES
from howlate.rooms import hooks
from howlate.sides.gravity import stated
from howlate.sides.joined import described, labels_that_vary
from howlate.sides.printed_figures import PrintedLine
from howlate.sides.sides import DIRECTIONS, FIGURES, LOAD, RUN, Decision, SideRow
from howlate.words.language import N_, _
from howlate.words.quantities import NARROW_SPACE, percent, ratio_interval, ratio_text, sentence_case
from howlate.words.say import Text, say, text_of
from howlate.words.statement import Caption, Listed, Statement, message

HEADINGS = {
    "minimum": N_("min"),
    "mean": N_("mean"),
    "maximum": N_("max"),
    "deviation": N_("std dev"),
    "overruns": N_("overruns"),
    "exceeded": N_("period exceeded"),
    "p99": "p99",
    MISSES: N_("deadline misses"),
    LOAD: N_("load achieved"),
    "0.5": N_("median"),
    "0.999": "p99.9",
    "max": N_("max"),
    "stddev": N_("std dev"),
}
TIMES = ("minimum", "mean", "p99", "maximum", "deviation")
OPTIONS = message(
    "comparison.options",
    "{count} option of the kernels that differs and is known to matter for lateness",
    "{count} options of the kernels that differ and are known to matter for lateness",
    by="count",
)
MOST_GROUPS = 3
"""Values whose conclusions the page shows; it folds the rest away."""
NAMED = 8
"""Sides that the first sentence names."""
OPEN, MOST_ROWS = 4, 45
"""Tables that the page shows, and their rows; it folds the rest away."""


def heading(figure: str) -> str:
    """A figure as a column's heading: "max", "load achieved", "hackbench run (ms)"."""
    if figure.startswith(RUN):
        return _("{load} run (ms)").format(load=figure.removeprefix(RUN).rpartition(".")[0])
    return _(HEADINGS[figure])


def section(found: Comparison, most: int) -> Section:
    """For the page and for programs: the conclusions first; at most `most` tables, of which the first are open."""
    tables = [_sheets(found, block, i) for i, block in enumerate(found.blocks[:most])]
    rows = accumulate(sum(len(sheet.rows) for sheet in block) for block in tables)
    is_open = max(1, sum(count <= MOST_ROWS for count in list(rows)[:OPEN]))
    left = len(found.blocks) - len(tables)
    groups = conclusions(found)
    items: list[Item] = [
        Texts("reading", (_reading(found),)),
        *texts("caution", [*filter(None, [every_caution(found)])]),
    ]
    before: set[str] = set()
    concluded: list[Item] = []
    for title, said in groups:
        new = {say(each): each for each in said if say(each) not in before}
        before.update(new)
        concluded += [
            *texts("heading", [title] if len(groups) > 1 else []),
            Texts("said", tuple(new.values())),
        ]
    shown = 2 * MOST_GROUPS if len(groups) > 1 else len(concluded)
    items += concluded[:shown]
    if rest := concluded[shown:]:
        named = text_of(Listed(tuple(title for title, _said in groups[MOST_GROUPS:]), "; "))
        items.append(Folded(named, tuple(rest)))
    unlike = [sentence_case(say(warning)) for warning in found.joined.warnings]
    items += texts("cautions", unlike, _("What does not match"))
    items += layouts(found)
    items += (sheet for block in tables[:is_open] for sheet in block)
    if folded := [sheet for block in tables[is_open:] for sheet in block]:
        title_of_rest = _("{count} more tables").format(count=len(tables) - is_open)
        items.append(Folded(title_of_rest, tuple(folded), "cells"))
    no_room = Caption("{count} more tables have no room here: `howlate compare --json` has them.", count=left)
    items += texts("lead", [no_room] if left > 0 else [])
    if (
        len(found.joined.runs) > 1 and found.differences
    ):  # of one run the page says it where it tells of the kernels
        options = differences(found.differences, found.names)
        items.append(Folded(say(OPTIONS(count=len(found.differences))), (options,)))
    return Section("compare", tuple(items), _("Side by side") if len(found.sides) > 1 else _("As published"))


def published(found: Comparison) -> list[Sheet]:
    """The tables that are shown with a study's document."""
    return [of_block(found, block, i) for i, block in enumerate(found.blocks) if block.published]


def _sheets(found: Comparison, block: Block, number: int) -> list[Sheet]:
    ratios_ = ratios(found, block, number)
    return [of_block(found, block, number), *([] if ratios_ is None else [ratios_])]


def every_caution(found: Comparison, gravity: Statement | None = None) -> Text:
    return every_note(virtual=found.joined.virtual, labels=found.joined.modes, gravity=gravity)


def doubtful(found: Comparison) -> list[Statement]:
    places = found.joined.places
    labels = labels_that_vary(places)
    return cautions.of_figures(
        [
            (", ".join([found.sides[side], *([described(place, labels)] if labels else [])]), counted)
            for place in places
            for side, member in sorted(place.members.items())
            if (counted := member.group.counted)
        ]
    )


def _reading(found: Comparison) -> Caption:
    if len(found.sides) == 1:
        return Caption(
            "{side} in the layout of the published study, with its figures below ours.", side=found.sides[0]
        )
    return Caption(
        "{count} sides: {sides}. A table for each combination of everything else. A difference is stated where its "
        "exact paired interval lies outside a margin of 10 %; without one, the sides are not claimed to be equal.",
        count=len(found.sides),
        sides=", ".join([*found.sides[:NAMED], *(["…"] if len(found.sides) > NAMED else [])]),
    )


class SideLine(Struct, frozen=True):
    """A line of a table: a side's figures, or the smallest, median or largest of them over its repetitions."""

    side: str
    """Whose; "" where the line above names it."""
    what: str
    """"smallest", "median", "largest"; whose published figures these are; why there are none; "" for nothing."""
    values: tuple[float | None, ...]
    """In nanoseconds, and counts."""
    kind: str = "ours"
    signs: tuple[str, ...] = ()
    """For each value a sign behind it; empty for none."""
    printed: tuple[str, ...] = ()
    """Of published values the digits that the document has, where it has them in the table's unit."""


def of_block(found: Comparison, block: Block, number: int) -> Sheet:
    """The table of one block, the `number`-th."""
    figures = (*(name for name in FIGURES if _has(name, block)), *_load(block), *block.runs)
    repeated = any(row.planned > 1 for row in block.rows)
    unit = unit_for([once.column for row in block.rows for once in row.once.values()])
    lines = _all_lines(found, block, figures, unit, repeated=repeated)
    over = _("of seeds") if found.joined.virtual else _("of repetitions")
    names = [sheets.labels("side", _("side"), [line.side for line in lines])]
    if all(not (line.side and line.what) for line in lines) and not repeated:
        names = [sheets.labels("side", _("side"), [line.side or line.what for line in lines])]
    else:
        names.append(sheets.labels("what", over if repeated else "", [line.what for line in lines]))
    return Sheet(
        f"side-{number}",
        _title(block, unit, repeated=repeated, virtual=found.joined.virtual),
        (*names, *(_column(figure, i, lines, unit) for i, figure in enumerate(figures))),
        tuple(sheets.Row(kind=line.kind) for line in lines),
        tuple(_notes(block)),
        every_caution(found, stated(block.gravities(found.sides))),
        "sides",
        block.column,
    )


def _title(block: Block, unit: Unit, *, repeated: bool, virtual: bool) -> str:
    what: Text = Caption("Duration of the load's own runs")
    if block.column:
        what = Caption("{what} in {unit}", what=title_of_column(block.column), unit=unit.sign)
    if block.title:
        what = Listed((block.title, what), ": ")
    if repeated:
        seeds = Caption("{what}; smallest, median and largest over seeds", what=what)
        repetitions = Caption("{what}; smallest, median and largest over repetitions", what=what)
        what = seeds if virtual else repetitions
    return text_of(what)


def _column(figure: str, place: int, lines: Sequence[SideLine], unit: Unit) -> Column:
    cells = []
    for line in lines:
        value = line.values[place]
        sign = line.signs[place] if line.signs else ""
        if value is None:
            cells.append(SheetCell(NOTHING, sign=sign))
            continue
        printed = line.printed[place] if line.printed else ""
        strong = figure == "maximum" and line.what in ("", _("largest"))
        text = printed or _text(figure, value, unit)
        cells.append(SheetCell(text, value, sign=sign, strong=strong))
    short = _("over-\nruns") if figure == "overruns" else ""
    return Column(figure, heading(figure), tuple(cells), short=short)


def _text(figure: str, value: float, unit: Unit) -> str:
    if figure in TIMES:
        return unit.text(value)
    if figure == LOAD:
        return percent(value)
    if figure.startswith(RUN):
        return f"{value / 1e6:,.1f}".replace(",", NARROW_SPACE)
    return f"{value:,.0f}".replace(",", NARROW_SPACE) if value == int(value) else f"{value:.1f}"


def _all_lines(
    found: Comparison, block: Block, figures: Sequence[str], unit: Unit, *, repeated: bool
) -> list[SideLine]:
    lines: list[SideLine] = []
    left = list(zip(block.published, block.stand, strict=True))
    for row in block.rows:
        lines += _lines(found.sides[row.side], row, figures, repeated=repeated)
        here = [each for each in left if row.side in each[1] and each[0].preemption]
        lines += [_published(line, figures, unit) for line, _sides in here]
        left = [each for each in left if each not in here]
    return [*lines, *(_published(line, figures, unit) for line, _sides in left)]


def _lines(side: str, row: SideRow, figures: Sequence[str], *, repeated: bool) -> list[SideLine]:
    if row.not_loaded:
        share = float(median(row.not_loaded))
        return [SideLine(side, _("not loaded"), tuple(share if name == LOAD else None for name in figures))]
    if row.starved:
        side = _("{side}, starved (expected)").format(side=side)
    if not row.once:
        return [
            SideLine(side, _("no valid repetition") if repeated else _("invalid"), (None,) * len(figures))
        ]
    ranges = [row.spread(name) for name in figures]
    if row.planned == 1:
        return [SideLine(side, "", tuple(None if each is None else each.smallest for each in ranges))]
    return [
        SideLine(
            f"{side} ({row.of})" if i == 0 else "",
            _(what),
            tuple(None if each is None else float(getattr(each, what)) for each in ranges),
        )
        for i, what in enumerate((N_("smallest"), N_("median"), N_("largest")))
    ]


def _published(line: PrintedLine, figures: Sequence[str], unit: Unit) -> SideLine:
    printed = [line.figures.get(name) for name in figures]
    texts = []
    for name, figure in zip(figures, printed, strict=True):
        size = unit.size if name in TIMES else 1
        texts.append(figure.text if figure is not None and figure.value == figure.number * size else "")
    name = _("published: {label}").format(label=line.label)
    return SideLine(
        "",
        _("published: {label} (cannot be measured here)").format(label=line.label) if line.why else name,
        tuple(line.values.get(name) for name in figures),
        "published",
        tuple("" if figure is None else f"{figure.sign}{figure.about}" for figure in printed),
        tuple(texts),
    )


def _notes(block: Block) -> list[str]:
    """The source of the published lines, their number of samples, and their signs."""
    if not block.published:
        return []
    where = dict.fromkeys(f"{line.title} ({line.place})" for line in block.published)
    samples = {line.samples for line in block.published} - {0}
    ours = {
        once.column.count for row in block.rows for once in row.once.values() if once.column.count is not None
    }
    texts = [_("Published: {where}.").format(where="; ".join(where))]
    if samples and ours:
        sentence = _("The published figures are of {samples} samples each, ours of {ours}.")
        texts.append(sentence.format(samples=_span(samples), ours=_span(ours)))
    signs = {own.sign: own.meaning for line in block.published for own in line.figures.values() if own.sign}
    return [*texts, *(f"{sign} {_(meaning)}." for sign, meaning in sorted(signs.items()))]


def _span(values: set[int]) -> str:
    low, high = f"{min(values):,}", f"{max(values):,}"
    return text_of(Caption("{low} to {high}", low=low, high=high))


def _has(name: str, block: Block) -> bool:
    """Counts that a test does not have are left out; those of a periodic test are shown also where they are zero."""
    ranges = [each for row in block.rows if (each := row.spread(name)) is not None]
    if not block.column:
        return False
    if name in ("exceeded", MISSES, "p99"):
        return bool(ranges)
    if name == "overruns" and block.column not in (LATENCY, RESPONSE):
        return any(each.largest for each in ranges) or any(row.spread("exceeded") for row in block.rows)
    return True


def _load(block: Block) -> tuple[str, ...]:
    known = any(
        row.not_loaded or any(once.load_share is not None for once in row.once.values()) for row in block.rows
    )
    return (LOAD,) if known else ()


def ratios(found: Comparison, block: Block, number: int) -> Sheet | None:
    """A row a pair of sides: the ratio of each figure, the second's to the first's, with its interval, and whether it
    is told apart; None where nothing has a ratio."""
    pairs = [pair for pair in block.pairs if any(decision.seen for decision in pair.decisions)]
    if not pairs:
        return None
    names = [
        _("{first} to {second}").format(first=found.sides[p.first], second=found.sides[p.second])
        for p in pairs
    ]
    figures = list(dict.fromkeys(decision.figure for pair in pairs for decision in pair.decisions))
    return Sheet(
        f"ratios-{number}",
        _("Ratios of the sides"),
        (
            sheets.labels("pair", _("ratio [interval] of"), names),
            *(_ratio_column(figure, pairs) for figure in figures),
        ),
        kind="ratios",
    )


def _ratio_column(figure: str, pairs: Sequence[Pair]) -> Column:
    found = [next((v for v in pair.decisions if v.figure == figure), None) for pair in pairs]
    turned = (None if decision is None else decision.turned() for decision in found)
    return Column(figure, heading(figure), tuple(map(_ratio, turned)), words=True)


def _ratio(decision: Decision | None) -> SheetCell:
    if decision is None or decision.seen is None:
        return SheetCell(
            _("not stated"), why="" if decision is None or decision.why is None else say(decision.why)
        )
    interval, told = decision.interval, _(DIRECTIONS[decision.direction])
    whys = [] if decision.why is None else [say(decision.why)]
    if interval is None:
        return SheetCell(ratio_text(decision.seen), sign=told, state=decision.direction, why="; ".join(whys))
    why = _("{confidence} interval of {pairs} pairs").format(
        confidence=f"{interval.confidence:.1%}", pairs=interval.pairs
    )
    return SheetCell(
        ratio_interval(interval.ratio, interval.low, interval.high),
        sign=told,
        state=decision.direction,
        why="; ".join([why, *whys]),
    )


def layouts(found: Comparison) -> list[Sheet]:
    """Tables as a document prints them, with ours above each of its rows, each followed by the one below it. A room
    that knows documents makes them (howlate/rooms.py)."""
    return [sheet for make in hooks("layouts") for sheet in make(found)]


def layouts_json(found: Comparison) -> list[dict[str, Any]]:
    return [_layout_json(sheet) for sheet in layouts(found)]


def _layout_json(sheet: Sheet) -> dict[str, Any]:
    *parts, side = (column for column in sheet.columns if column.label)
    figures = [column for column in sheet.columns if not column.label]
    return {
        "table": sheet.about,
        "title": sheet.title,
        "columns": [column.heading for column in figures],
        "lines": [
            {
                "row": [part.cells[i].text for part in parts if part.cells[i].text],
                "who": who.text,
                "values": [column.cells[i].text for column in figures],
            }
            for i, who in enumerate(side.cells)
        ],
        "below": sheet.kind.endswith(" below"),
    }
