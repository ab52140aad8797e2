"""What a page shows before anything is opened: each caution once, of a long list or table the worst few, and no more
than four printed pages. The rest is folded, never left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from msgspec.structs import replace

from howlate.document.document import ChartItem, Document, Folded, Item, Section, Texts, present
from howlate.document.sheet import NO_TABLES, Row, Sheet
from howlate.figures.figure import Figure
from howlate.words.language import _, ngettext
from howlate.words.say import Text, more_rows_text, text_of
from howlate.words.statement import Listed, Statement

HIGHEST = 5_000
"""Pixels of a page that is 1280 wide: more do not fit on four sheets of A4."""
MOST_WORDS = 1_430
TALLEST = 1_000
"""Of a chart, likewise."""
MOST_SEEN = 12
"""Rows of a table."""
MOST_SAID = 5
"""Sentences of one kind."""
FIRST = ("overview", "causes", "versions")
"""Charts that are never folded for lack of room."""
FOLDED_FIRST = ("ratios", "differences")
"""Kinds of sheets that repeat an answer in figures."""


def in_room(document: Document) -> Document:
    told: set[str] = set()
    sections = [
        replace(section, items=tuple(_told_once(items, told)), title=section.title if items else "")
        if section.items
        else section
        for section in document.sections
        for items in [tuple(present(section.items))]
    ]
    for shorten in (_worst_rows, _worst_said, _first_panels):
        if not _fits(*_room(sections)):
            sections = [
                replace(section, items=tuple(new for item in section.items for new in shorten(item)))
                for section in sections
            ]
    return replace(document, sections=tuple(_folded(sections)))


def _told_once(items: Sequence[Item], told: set[str]) -> Iterator[Item]:
    """`told`: the cautions shown so far. Not everybody opens what is folded."""
    for item in items:
        if isinstance(item, Folded):
            yield replace(item, items=tuple(_told_once(item.items, set(told))))
        elif isinstance(item, Sheet):
            yield replace(item, caution=_untold(item.caution, told))
        elif isinstance(item, ChartItem):
            yield item._replace(caution=_untold(item.caution, told))
        elif item.kind != "caution":
            yield item
        elif left := [new for text in item.texts if (new := _untold(text, told))]:
            yield replace(item, texts=tuple(left))


def _untold(caution: Text, told: set[str]) -> Text:
    parts = [part for part in (caution.texts if isinstance(caution, Listed) else (caution,)) if part]
    left = tuple(part for part in parts if text_of(part) not in told)
    told.update(map(text_of, left))
    return Listed(left, "; ") if left else ""


def _worst_rows(sheet: Item) -> Iterator[Item]:
    """Of a long table the rows with the largest maxima, or what differs, with those below that belong to them."""
    if not isinstance(sheet, Sheet) or len(sheet.rows) <= MOST_SEEN or sheet.kind.split()[0] in NO_TABLES:
        yield sheet
        return
    starts = [i for i, cell in enumerate(sheet.columns[0].cells) if cell.text or i == 0]
    blocks = [range(*ends) for ends in zip(starts, [*starts[1:], len(sheet.rows)], strict=True)]
    marked = [cell for column in sheet.columns for cell in column.cells if cell.strong or cell.state]
    if not marked:
        order = blocks
    else:
        order = sorted(blocks, key=lambda block: max(_weight(sheet, row) for row in block), reverse=True)
    kept = order[: max(1, MOST_SEEN * len(blocks) // len(sheet.rows))]
    shown = [row for block in blocks if block in kept for row in block]
    rest = [row for block in blocks if block not in kept for row in block]
    yield replace(_only(sheet, shown), notes=())
    yield Folded(more_rows_text(len(rest)), (_only(sheet, rest),))


def _weight(sheet: Sheet, row: int) -> tuple[int, float]:
    cells = [column.cells[row] for column in sheet.columns]
    differ = sum(cell.state in ("smaller", "larger") for cell in cells)
    return differ, max((cell.value or 0 for cell in cells if cell.strong), default=0)


def _only(sheet: Sheet, rows: Sequence[int]) -> Sheet:
    columns = (replace(column, cells=tuple(column.cells[i] for i in rows)) for column in sheet.columns)
    own: tuple[Row, ...] = tuple(sheet.rows[i] for i in rows)
    return replace(sheet, columns=tuple(columns), rows=own)


def _worst_said(item: Item) -> Iterator[Item]:
    if not isinstance(item, Texts) or item.kind != "said":
        yield item
        return
    kinds: dict[str, list[Text]] = {}
    for text in item.texts:
        kinds.setdefault(text.rule if isinstance(text, Statement) else "", []).append(text)
    kept = [text for texts in kinds.values() for text in sorted(texts, key=_size, reverse=True)[:MOST_SAID]]
    yield replace(item, texts=tuple(text for text in item.texts if text in kept))
    if rest := tuple(text for text in item.texts if text not in kept):
        count = len(rest)
        name = ngettext("{count} more note", "{count} more notes", count).format(count=count)
        yield Folded(name, (replace(item, texts=rest),))


def _size(value: object, key: str = "") -> float:
    if isinstance(value, Statement):
        return max((_size(each, name) for name, each in value.values.items()), default=0)
    if isinstance(value, tuple):
        return max(map(_size, value), default=0)
    return value if isinstance(value, int | float) and key.endswith("ns") else 0


def _first_panels(item: Item) -> Iterator[Item]:
    """As many panels as are not too tall; a chart of one tall panel is folded."""
    if not isinstance(item, ChartItem) or not isinstance(item.figure, Figure):
        yield item
        return
    figure = item.figure
    across = _across(figure)
    kept = across * max(1, TALLEST // (max(panel.height for panel in figure.panels) + PANEL))
    first, rest = replace(figure, panels=figure.panels[:kept]), figure.panels[kept:]
    if _figure_height(first) > TALLEST:
        yield _fold([item])
        return
    yield item._replace(figure=first)
    if rest:
        more = item._replace(figure=replace(figure, panels=rest), column=f"{item.column}more")
        yield Folded(more_rows_text(len(rest)), (more,), "charts")


def _room(sections: Sequence[Section]) -> tuple[int, int]:
    """What it takes: pixels and words."""
    items = [item for section in sections for item in section.items]
    titles = 60 * sum(bool(section.title) for section in sections)
    return titles + sum(map(_height, items)), sum(map(_words, items))


def _fits(high: int, many: int) -> bool:
    return high <= HIGHEST and many <= MOST_WORDS


def _folded(sections: list[Section]) -> Iterator[Section]:
    """What does not fit is folded, the last before the others: `FOLDED_FIRST`, then charts, then tables."""
    high, many = _room(sections)
    places = [(s, i) for s, section in enumerate(sections) for i in range(len(section.items))][::-1]
    folds: set[tuple[int, int]] = set()
    for turn in range(3):
        for s, i in places:
            item = sections[s].items[i]
            if _fits(high, many):
                break
            if _turn(item) == turn:
                folds.add((s, i))
                high, many = high - _height(item), many - _words(item)
    for s, section in enumerate(sections):
        away = [i for i in range(len(section.items)) if (s, i) in folds]
        yield replace(section, items=_with_folded(section, away)) if away else section


def _with_folded(section: Section, away: Sequence[int]) -> tuple[Item, ...]:
    """What is folded stands where the first of it stood. Where no more than sentences are left, the first of them
    names it."""
    items, first = section.items, section.items[0]
    left = [item for i, item in enumerate(items) if i not in away]
    if section.title or not isinstance(first, Texts) or not all(isinstance(item, Texts) for item in left):
        return (*left[: away[0]], _fold([items[i] for i in away]), *left[away[0] :])
    return (Folded(text_of(first.texts[0]), items[1:]),)


def _turn(item: Item) -> int | None:
    """In which turn it is folded; None: never."""
    if isinstance(item, ChartItem):
        return None if not isinstance(item.figure, Figure) or item.figure.name in FIRST else 1
    if not isinstance(item, Sheet):
        return None
    kind = item.kind.split()[0]
    if kind in FOLDED_FIRST:
        return 0
    return None if kind in NO_TABLES else 2


def _fold(items: Sequence[Item]) -> Folded:
    """By their titles."""
    titles = dict.fromkeys(
        item.title
        if isinstance(item, Sheet)
        else text_of(item.figure.title)
        if isinstance(item, ChartItem) and isinstance(item.figure, Figure)
        else ""
        for item in items
    )
    named = text_of(Listed(tuple(filter(None, titles)), ", "))
    charts = all(isinstance(item, ChartItem) for item in items)
    return Folded(
        _("More charts: {titles}").format(titles=named) if charts else named,
        tuple(items),
        "charts" if charts else "",
    )


PANEL = 62
"""What a panel is taller than its plot."""
TICKS = 4
"""Numbers below a panel."""


def _height(item: Item) -> int:
    if isinstance(item, Folded):
        return 38
    if isinstance(item, ChartItem):
        return _figure_height(item.figure) if isinstance(item.figure, Figure) else 60
    if isinstance(item, Sheet):
        rows = len(item.rows)
        cards = {"findings": 130, "list": 18, "shares": 60, "meaning": 60, "differences": 50}
        each = cards.get(item.kind.split()[0])
        below = sum(26 * ceil(len(row.why) / 150) for row in item.rows)
        return 130 + 37 * rows + 32 * bool(item.caution) + below if each is None else 40 + each * rows
    return sum(6 + 26 * ceil(len(text_of(text)) / 120) for text in item.texts)


def _figure_height(figure: Figure) -> int:
    across = _across(figure)
    rows = [figure.panels[i : i + across] for i in range(0, len(figure.panels), across)]
    return 150 + sum(PANEL + max(panel.height for panel in row) for row in rows)


def _across(figure: Figure) -> int:
    return figure.columns or (2 if len(figure.panels) > 8 else 1)


def _words(item: Item) -> int:
    if isinstance(item, Folded):
        return len(item.title.split())
    if isinstance(item, ChartItem):
        return _figure_words(item.figure) if isinstance(item.figure, Figure) else 10
    if isinstance(item, Sheet):
        cells = (cell.text for column in item.columns for cell in column.cells)
        below = (text for row in item.rows for text in (*row.marks, row.why))
        return sum(len(text.split()) for text in (*cells, *below, *item.notes)) + 2 * len(item.columns)
    return sum(len(text_of(text).split()) for text in item.texts)


def _figure_words(figure: Figure) -> int:
    texts = [figure.title, figure.reading, *(key.text for key in figure.keys)]
    for panel in figure.panels:
        texts += [panel.label, panel.aside, *(note.text for note in panel.picture.notes)]
    ticks = sum(TICKS + len(panel.picture.y_ticks) for panel in figure.panels)
    return ticks + sum(len(text_of(text).split()) for text in texts)
