"""A document as HTML: each kind of section, of sentences and of sheets has one look. Every text is escaped here; what
stands between backticks is code. An exact value stands in its <data> element."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from howlate.document import doc_links
from howlate.document.document import Document, Folded, Item, Section, Texts
from howlate.document.figure_html import figure_html, source_link
from howlate.document.sheet import Column, Row, Sheet, SheetCell
from howlate.document.text import coded, escaped, stopped, tied
from howlate.figures.figure import Figure
from howlate.words.quantities import sentence_case
from howlate.words.say import Text, text_of
from howlate.words.statement import Statement


def sections_html(document: Document) -> list[str]:
    return [_section(section) for section in document.sections if section.items or section.title]


def _section(section: Section) -> str:
    inside = "".join(map(item_html, section.items))
    title = f"<h2>{escaped(section.title)}</h2>" if section.title else ""
    ident = escaped(section.id)
    element, _, css = section.kind.partition(" ")
    if element in ("header", "footer"):
        return f'<{element} class="{escaped(css)}">{inside}</{element}>'
    if section.kind == "part":
        return f'<section class="part" id="{ident}">{title}</section>{inside}'
    if section.kind:
        return f'<section class="{section.kind}">{inside}</section>'
    return f'<section id="{ident}">{title}{inside}</section>' if title else inside


def item_html(item: Item) -> str:
    if isinstance(item, Sheet):
        return sheet_html(item)
    if isinstance(item, Texts):
        return TEXTS.get(item.kind, _paragraphs)(item)
    if isinstance(item, Folded):
        css = f' class="{item.kind}"' if item.kind else ""
        inside = "".join(map(item_html, item.items))
        return f"<details{css}><summary>{escaped(item.title)}</summary>{inside}</details>"
    if not isinstance(item.figure, Figure):
        return f'<section class="chart"><p class="reading">{escaped(text_of(item.figure))}</p></section>'
    return figure_html(item.figure, noted(item.caution), item.part, item.column)


def noted(caution: Text) -> str:
    """What must be known at this table or chart."""
    return f'<p class="virtual">{escaped(sentence_case(text_of(caution)))}.</p>' if caution else ""


def sources(text: Text) -> str:
    return "".join(map(source_link, doc_links.of_text(text)))


def _paragraphs(item: Texts) -> str:
    css = f' class="{item.kind}"' if item.kind else ""
    words = [coded(text_of(text)) + sources(text) for text in item.texts]
    if item.link:
        words = [f'<a href="#{item.link}">{text}</a>' for text in words]
    return "".join(f"<p{css}>{text}</p>" for text in words)


SIGNS = {
    "PASS": "M2,9L7,14L16,4",
    "FAIL": "M3,3L15,15M15,3L3,15",
    "INCONCLUSIVE": "M4,5Q9,-1 13,5Q13,8 9,11M9,15V16",
}
"""The sign next to the outcome, for those who do not see its colour."""


def _outcome(item: Texts) -> str:
    word, said = map(text_of, item.texts)
    drawn = SIGNS.get(word, "M2,15H16M5,15V9M9,15V3M13,15V7")
    sign = f'<svg class="sign" viewBox="0 0 18 18" aria-hidden="true"><path d="{drawn}"/></svg>'
    name = f"<b>{escaped(word)}</b> " if word else ""
    return f"<h1>{sign}{name}<span>{escaped(tied(said))}</span></h1>"


def _cautions(item: Texts) -> str:
    items = "".join(f"<li>{coded(tied(stopped(text_of(text))))}{sources(text)}</li>" for text in item.texts)
    return f'<ul class="cautions">{items}</ul>'


def _said(item: Texts) -> str:
    rules = [text.rule if isinstance(text, Statement) else "" for text in item.texts]
    items = "".join(
        f'<li data-rule="{escaped(rule)}">{escaped(tied(text_of(text)))}{sources(text)}</li>'
        for rule, text in zip(rules, item.texts, strict=True)
    )
    return f'<ul class="said">{items}</ul>'


def _listed(item: Texts) -> str:
    items = "".join(f"<li>{coded(text_of(text))}</li>" for text in item.texts)
    return f'<h3>{escaped(item.title)}</h3><ul class="said">{items}</ul>'


TEXTS: Mapping[str, Callable[[Texts], str]] = {
    "outcome": _outcome,
    "cautions": _cautions,
    "said": _said,
    "listed": _listed,
    "caution": lambda item: "".join(map(noted, item.texts)),
    "heading": lambda item: "".join(f"<h3>{escaped(text_of(text))}</h3>" for text in item.texts),
}
"""How sentences of a kind look; the others are paragraphs of that class."""


def sheet_html(sheet: Sheet) -> str:
    return SHEETS.get(sheet.kind.partition(" ")[0], _table)(sheet)


def _list(sheet: Sheet) -> str:
    source = source_link(doc_links.of_sheet(sheet))
    head = f"<h3>{escaped(sheet.title)}{source}</h3>" if sheet.title else ""
    rows = [
        f"<dt>{escaped(row['name'])}</dt><dd>{escaped(row['text']) or '–'}</dd>" for row in sheet.records()
    ]
    items = "".join(row if sheet.kind == "meaning" else f"<div>{row}</div>" for row in rows)
    return f'{head}<dl class="{escaped(sheet.kind)}">{items}</dl>'


def _differences(sheet: Sheet) -> str:
    out, before = "", ""
    head = f"<h3>{escaped(sheet.title)}</h3>" if sheet.title else ""
    for row in sheet.records():
        out += f"<dt>{escaped(row['why'])}</dt>" if row["why"] != before else ""
        out += f"<dd><code>{escaped(row['option'])}</code> {escaped(row['values'])}</dd>"
        before = row["why"]
    return f'{head}<dl class="differences">{out}</dl>'


def _findings(sheet: Sheet) -> str:
    title, source = sheet.columns[-1].heading, source_link(doc_links.of_sheet(sheet))
    cards = []
    for row, words in zip(sheet.rows, sheet.records(), strict=True):
        remedy = f'<p class="change"><b>{title}</b> {coded(words["change"])}</p>' if words["change"] else ""
        cards.append(
            f'<article class="finding {row.kind}"><h3>{_titled(words)}{source}</h3>'
            f'<p class="found">{coded(words["found"])}</p><p>{coded(words["why"])}</p>{remedy}</article>'
        )
    return f'<div class="findings">{"".join(cards)}</div>'


def _shares(sheet: Sheet) -> str:
    bar = lines = ""
    shares = next(column.cells for column in sheet.columns if column.key == "share")
    for row, share, words in zip(sheet.rows, shares, sheet.records(), strict=True):
        bar += f'<span class="{row.kind}" style="flex-grow: {share.value or 0:.4f}"></span>'
        command = f'<code class="copied">{escaped(words["command"])}</code>' if words["command"] else ""
        lines += (
            f'<li class="{row.kind}"><b>{escaped(words["share"])}</b><p>{escaped(words["cause"])}'
            f'<span class="aside">{escaped(words["worst"])}</span></p>'
            f'<p class="remedy">{coded(words["remedy"])} {command}</p></li>'
        )
    return (
        f'<section class="chart" id="{escaped(sheet.key)}"><h2>{escaped(sheet.title)}</h2>'
        f'<div class="shares-bar" aria-hidden="true">{bar}</div><ul class="shares">{lines}</ul></section>'
    )


def _titled(words: Mapping[str, str]) -> str:
    return escaped(words["title"] + (f" ({words['about']})" if words["about"] else ""))


SHEETS: Mapping[str, Callable[[Sheet], str]] = {
    "list": _list,
    "meaning": _list,
    "differences": _differences,
    "findings": _findings,
    "shares": _shares,
}
"""How sheets of a kind look; the others are tables, each in a frame that can be scrolled."""


def _table(sheet: Sheet) -> str:
    name = f'aria-label="{escaped(sheet.title)}"'
    heads = "".join(_head(sheet, column) for column in sheet.columns)
    rows = "".join(_row(sheet, i, row) for i, row in enumerate(sheet.rows))
    notes = "".join(f'<p class="lead note">{escaped(sentence_case(text))}</p>' for text in sheet.notes)
    about = f' data-column="{escaped(sheet.about)}"' if sheet.about else ""
    return (
        f'<p class="table-title" data-sheet="{escaped(sheet.key)}">{escaped(sheet.title)}</p>{noted(sheet.caution)}'
        f'<div class="scroll" tabindex="0" role="group" {name}>'
        f'<table class="{escaped(sheet.kind)}"{about}>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{notes}"
    )


def _head(sheet: Sheet, column: Column) -> str:
    css = "" if column.label or column.words else f' class="n{" first" if column.apart else ""}"'
    link = source_link(doc_links.of_column(sheet, column), column.heading) if column.heading else ""
    return f'<th scope="col"{css}>{link}</th>'


def _row(sheet: Sheet, number: int, row: Row) -> str:
    cells = "".join(
        _cell(column, column.cells[number], row if i == 0 else None) for i, column in enumerate(sheet.columns)
    )
    ident = f' data-{sheet.of}="{escaped(row.id)}"' if row.id else ""
    out = f'<tr class="{escaped(row.kind)}"{ident}>{cells}</tr>'
    if row.why:
        out += f'<tr class="why"><td colspan="{len(sheet.columns)}"><span>{escaped(row.why)}</span></td></tr>'
    return out


def _cell(column: Column, cell: SheetCell, row: Row | None) -> str:
    """`row`: the row, if this is its first cell."""
    text = escaped(cell.text)
    if row is not None:
        if not cell.text:
            return "<td></td>"
        marks = "".join(f' <span class="bad">{escaped(mark)}</span>' for mark in row.marks)
        return f'<th scope="row">{text}{marks}</th>'
    heading = f' data-heading="{escaped(column.heading)}"' if column.heading else ""
    if column.label:
        return f"<td{heading}>{text}</td>"
    if cell.value is not None:
        text = f'<data value="{cell.value!r}">{text}</data>'
    if cell.sign:
        state = f'<span class="{escaped(cell.state)}">{escaped(cell.sign)}</span>'
        text += f" {state}" if cell.state else f"<sup>{escaped(cell.sign)}</sup>"
    if column.words:
        title = f' title="{escaped(cell.why, quote=True)}"' if cell.why else ""
        return f'<td class="text"{title}{heading}>{text}</td>'
    flags = (("first", column.apart), ("strong", cell.strong), ("zero", cell.value == 0 and cell.text == "0"))
    css = " ".join(["n", *(name for name, wanted in flags if wanted)])
    return f'<td class="{css}"{heading} data-of="{escaped(column.key)}">{text}</td>'
