"""A document in the terminal: readable at 80 columns, piped as well as on a screen. Where a console is too narrow for
a table, its less important columns are left out, so that no number is cut off.

Nothing here prints by itself: the command gives its console."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from rich.console import Console
from rich.text import Text

from howlate.document.document import ChartItem, Document, Item, Texts, present
from howlate.document.first_screen.lines import Line, cut
from howlate.document.sheet import Column, Sheet
from howlate.document.table_terminal import Column as ColumnTexts
from howlate.document.table_terminal import print_bars, table_lines
from howlate.document.text import wrapped
from howlate.words.printable import without_controls
from howlate.words.say import Text as SayText
from howlate.words.say import text_of


def print_document(console: Console, document: Document) -> None:
    """Section after section; only a part of a study has a heading here."""
    for section in document.sections:
        if section.kind == "part":
            console.print()
            print_bold(console, section.title, "bold underline")
        print_items(console, section.items)


def print_items(console: Console, items: Iterable[Item]) -> None:
    """Prints everything but charts."""
    for item in present(items):
        if isinstance(item, Sheet):
            SHEETS.get(item.kind, print_sheet)(console, item.plain())
        elif isinstance(item, Texts):
            TEXTS.get(item.kind, LINES)(console, item)
        elif not isinstance(item, ChartItem):
            print_items(console, item.items)


def print_sheet(console: Console, sheet: Sheet) -> None:
    console.print()
    if sheet.title:
        print_bold(console, sheet.title)
        console.print()
    for line, style in _lines_of(sheet, console.width):
        console.print(Text(line, style=style), soft_wrap=True)
    for note in sheet.notes:
        print_note(console, note, "")
    if sheet.caution:
        print_note(console, _shown(sheet.caution))


def sheet_lines(sheet: Sheet, width: int) -> list[Line]:
    shown = sheet.present()
    if shown is None:
        return []
    plain = shown.plain()
    title = [((cut(plain.title, width), "bold"),)] if plain.title else []
    return [*title, *(((line, style),) for line, style in _lines_of(plain, width))]


def _lines_of(sheet: Sheet, width: int) -> list[tuple[str, str]]:
    names = [_texts(column) for column in sheet.columns if column.label]
    for i, row in enumerate(sheet.rows):
        if row.kind == "published" and len(names) == 1:
            names[0][1][i] = f"  {names[0][1][i]}"
        names[0][1][i] += "".join(f" ({mark})" for mark in row.marks)
    figures = [_texts(column) for column in sheet.columns if not column.label]
    kept = [column.is_kept for column in sheet.columns if not column.label]
    return table_lines(width, names, figures, [row.valid for row in sheet.rows], kept)


def _print_rows(console: Console, sheet: Sheet) -> None:
    """A table of words, whose rows are wide: a line each."""
    names, *others = sheet.columns
    console.print()
    for i in range(len(sheet.rows)):
        cells = [(column.heading, column.cells[i]) for column in others]
        words = [" ".join(filter(None, (heading, cell.text, cell.sign))) for heading, cell in cells]
        print_wrapped(console, f"{names.cells[i].text}: {'; '.join(words)}", "  ")


def _texts(column: Column) -> ColumnTexts:
    heading = column.short or (column.heading if column.label else column.heading.replace(" ", "\n", 2))
    return heading, [without_controls(c.text + c.sign) for c in column.cells]


def _print_differences(console: Console, sheet: Sheet) -> None:
    if sheet.title:
        console.print()
        console.print(Text(sheet.title, style="bold"), soft_wrap=True)
    before = ""
    for row in sheet.records():
        if row["why"] != before:
            if not sheet.title:
                console.print()
            print_wrapped(console, row["why"])
        print_wrapped(console, f"{row['option']}: {row['values']}", "  ")
        before = row["why"]


def _print_records(console: Console, sheet: Sheet) -> None:
    name, *others = sheet.columns
    for i, cell in enumerate(name.cells):
        console.print(Text(cell.text, style="bold"), soft_wrap=True)
        for column in others:
            print_wrapped(console, f"{column.heading}: {column.cells[i].text}", "  ")


def _print_findings(console: Console, sheet: Sheet) -> None:
    """What was found; below it why it matters and how to change it, where the sheet says that."""
    for words in sheet.records():
        level = f"{words['level']}: " if words["level"] else ""
        about = f" ({words['about']})" if words["about"] else ""
        text = f"{level}{words['title']}: {words['found']}{about}"
        print_wrapped(console, f"- {text}", style="bold" if words["why"] else "")
        change = f"{sheet.columns[-1].heading}: {words['change']}" if words["change"] else ""
        for below in filter(None, (words["why"], change)):
            for line in wrapped(below, max(30, console.width - 2)):
                console.print(Text(f"  {line}"), soft_wrap=True)


def _print_histogram(console: Console, sheet: Sheet) -> None:
    edges, *counts = sheet.columns
    console.print()
    print_bold(console, sheet.title)
    console.print()
    values = [(column.heading, [int(cell.value or 0) for cell in column.cells]) for column in counts]
    print_bars(console, _texts(edges), values)
    for note in sheet.notes:
        print_note(console, note, "")


SHEETS: Mapping[str, Callable[[Console, Sheet], None]] = {
    "ratios": _print_rows,
    "differences": _print_differences,
    "kernels": _print_records,
    "findings": _print_findings,
    "histogram": _print_histogram,
}
"""How sheets of a kind look; the others are tables."""


def _shown(text: SayText) -> str:
    return without_controls(text_of(text))


def print_bold(console: Console, text: str, style: str = "bold") -> None:
    for line in wrapped(without_controls(text), console.width):
        console.print(Text(line, style=style), soft_wrap=True)


def print_note(console: Console, text: str, sign: str = "!") -> None:
    """A sentence below a table. `sign`: before what a reader must know; without one it belongs to the table."""
    for i, line in enumerate(wrapped(without_controls(text), max(30, console.width - 2))):
        console.print(Text(f"{' ' if i or not sign else sign} {line}"), soft_wrap=True)


def print_wrapped(console: Console, text: str, indent: str = "", style: str = "") -> None:
    """A paragraph; its later lines are indented further."""
    lines = wrapped(without_controls(text), max(30, console.width - len(indent) - 2))
    for i, line in enumerate(lines):
        console.print(Text(f"{indent}{'  ' if i else ''}{line}", style=style), soft_wrap=True)


def _print_line(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)


def _print_failure(console: Console, text: str) -> None:
    """Lines of a console and the path of a log stay as they are."""
    for line in text.splitlines():
        if line.startswith("! "):
            print_note(console, line[2:])
        else:
            _print_line(console, line)


def _print_conclusion(console: Console, text: str) -> None:
    console.print()
    print_bold(console, text)


def _print_verdict(console: Console, item: Texts) -> None:
    for i, text in enumerate(item.texts):
        if i:
            print_wrapped(console, _shown(text), "  ")
        else:
            print_bold(console, _shown(text))


def _print_listed(console: Console, item: Texts) -> None:
    console.print(Text(item.title, style="bold"), soft_wrap=True)
    for text in item.texts:
        print_wrapped(console, f"- {_shown(text)}")


def _each(draw: Callable[[Console, str], None]) -> Callable[[Console, Texts], None]:

    def print_item(console: Console, item: Texts) -> None:
        for text in item.texts:
            draw(console, _shown(text))

    return print_item


def _apart(draw: Callable[[Console, Texts], None]) -> Callable[[Console, Texts], None]:
    """Prints an empty line first."""

    def print_item(console: Console, item: Texts) -> None:
        console.print()
        draw(console, item)

    return print_item


LINES = _each(_print_line)
TEXTS: Mapping[str, Callable[[Console, Texts], None]] = {
    "said": _each(print_wrapped),
    "paragraph": _apart(_each(print_wrapped)),
    "warnings": _each(print_note),
    "failures": _each(_print_failure),
    "notes": _apart(_each(print_note)),
    "conclusions": _each(_print_conclusion),
    "verdict": _print_verdict,
    "listed": _apart(_print_listed),
    "opening": _apart(LINES),
    "more": _each(lambda console, text: print_wrapped(console, text, "  ")),
}
"""How sentences of a kind look; the others are lines."""
