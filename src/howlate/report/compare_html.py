"""The comparison in the page: the summary first, then a table for each point, what differs, and why it may."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from howlate.charts._scale import NARROW_SPACE
from howlate.charts._words import title_of_column
from howlate.language import N_, _, ngettext, retold
from howlate.model.run import VIRTUAL_TIME
from howlate.report.compare import Block, Comparison
from howlate.report.conclusions import conclusions
from howlate.report.kernels import by_sentence, values_of
from howlate.report.layout import TIMES, Line, Sheet, heading, sheet
from howlate.report.layouts import Layout, layouts
from howlate.report.parts import Said
from howlate.report.tables import noted
from howlate.report.text import coded
from howlate.stats.sides import Verdict

OPEN = 12
"""Of more tables than these the rest is folded away."""
NAMES = {"0.5": N_("median"), "max": N_("maximum"), "stddev": N_("standard deviation")}


def section(found: Comparison, most: int) -> str:
    """The whole of it, with so many tables at most; the page says what it leaves out."""
    note = VIRTUAL_TIME if found.joined.virtual else ""
    sheets = [_sheet(found, block, i, note) for i, block in enumerate(found.blocks[:most])]
    shown, folded = sheets[:OPEN], sheets[OPEN:]
    more = (
        f'<details class="cells"><summary>{_("{count} more tables").format(count=len(folded))}</summary>'
        f"{''.join(folded)}</details>"
        if folded
        else ""
    )
    left = len(found.blocks) - len(sheets)
    no_room = _("{count} more tables have no room here: `howlate compare` prints them.")
    rest = f'<p class="lead">{coded(no_room.format(count=left))}</p>' if left > 0 else ""
    title = _("Side by side") if len(found.sides) > 1 else _("As published")
    return (
        f'<section id="compare"><h2>{title}</h2><p class="reading">{escape(_reading(found))}</p>'
        f"{noted(note)}{_summary(conclusions(found))}{_unlike(found)}"
        f"{''.join(_layout(layout, i) for i, layout in enumerate(layouts(found)))}{''.join(shown)}{more}{rest}"
        f"{_configuration(found)}</section>"
    )


def _reading(found: Comparison) -> str:
    if len(found.sides) == 1:
        return _("{sides} in the layout of the published study, with its figures below ours.").format(
            sides=found.sides[0]
        )
    many = _("seeds") if found.joined.virtual else _("repetitions")
    return _(
        "{sides} sides: {sides2}. A table for each combination of everything else, as the "
        "published studies have it. Where there are {many}, a row has the smallest, the "
        "median and the largest of each figure over them. What is called a difference has an "
        "exact paired interval outside of a margin of 10 %; what has none is not said to be "
        "equal. docs/compare.md has the rule of each sentence."
    ).format(sides=len(found.sides), sides2=", ".join(found.sides), many=many)


def _summary(found: Sequence[tuple[str, Sequence[Said]]]) -> str:
    parts = []
    for title, sentences in found:
        head = f"<h3>{escape(title)}</h3>" if len(found) > 1 else ""
        items = "".join(f'<li data-rule="{escape(s.rule)}">{escape(s.text)}</li>' for s in sentences)
        parts.append(f'{head}<ul class="said">{items}</ul>')
    return "".join(parts)


def _unlike(found: Comparison) -> str:
    if not found.joined.warnings:
        return ""
    items = "".join(f"<li>{escape(_sentence(text))}</li>" for text in found.joined.warnings)
    return f'<aside class="cautions" aria-label="{_("What does not match")}"><ul>{items}</ul></aside>'


def _configuration(found: Comparison) -> str:
    """How kernels of several runs differ; of one run the page says it where it tells of the kernels."""
    if len(found.joined.runs) < 2 or not found.differences:
        return ""
    listed = "".join(
        f"<dt>{escape(_(sentence))}</dt>"
        + "".join(
            f"<dd><code>{escape(one.option)}</code> {escape(values_of(one, found.names))}</dd>"
            for one in some
        )
        for sentence, some in by_sentence(found.differences)
    )
    count = len(found.differences)
    said = ngettext(
        "{count} option of the kernels that differs and is known to matter for lateness",
        "{count} options of the kernels that differ and are known to matter for lateness",
        count,
    )
    return (
        f"<details><summary>{said.format(count=count)}"
        f'</summary><dl class="differences">{listed}</dl></details>'
    )


def _layout(layout: Layout, number: int) -> str:
    """A table of the document's, as it is printed there, with ours above each of its rows."""
    ident = f"layout-{number}"
    heads = [*("<td></td>" for _part in range(layout.parts)), f'<th scope="col">{_("side")}</th>']
    heads += [f'<th scope="col" class="n">{escape(head)}</th>' for head in layout.heads]
    rows = []
    for line in layout.lines:
        cells = [f'<th scope="row">{escape(text)}</th>' for text in line.labels]
        cells += ["<td></td>"] * (layout.parts - len(line.labels))
        cells.append(f"<td>{escape(line.who)}</td>")
        cells += [f'<td class="n">{escape(text)}</td>' for text in line.texts]
        rows.append(f'<tr class="{escape(line.kind)}">{"".join(cells)}</tr>')
    note = f'<p class="lead note">{escape(layout.note)}</p>' if layout.note else ""
    return (
        f'<p class="table-title" id="{ident}">{escape(layout.title)}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{ident}">'
        f'<table class="sides layout" data-table="{escape(layout.table)}" aria-labelledby="{ident}">'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _sheet(found: Comparison, block: Block, number: int, note: str) -> str:
    its = sheet(found, block)
    many = _("seeds") if found.joined.virtual else _("repetitions")
    unit = "µs" if its.unit.name == "us" else its.unit.name
    said = (
        _("{column}, in {unit}").format(column=title_of_column(its.column), unit=unit)
        if its.column
        else _("What the load's own runs took")
    )
    title = f"{its.title}. {said}" if its.title else said
    what = _("of {many}").format(many=many) if its.repeated else ""
    over = [f'<th scope="col">{what}</th>'] if any(line.what for line in its.lines) else []
    heads = [f'<th scope="col">{_("side")}</th>', *over]
    heads += [f'<th scope="col" class="n">{escape(heading(figure))}</th>' for figure in its.figures]
    rows = "".join(_line(its, line, bool(over)) for line in its.lines)
    ident = f"side-{number}"
    notes = "".join(f'<p class="lead note">{escape(text)}</p>' for text in its.notes)
    return (
        f'<p class="table-title" id="{ident}">{escape(title)}</p>{noted(note)}'
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{ident}">'
        f'<table class="sides" data-column="{escape(its.column)}" aria-labelledby="{ident}">'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{rows}</tbody></table></div>"
        f"{notes}{_differences(found, block)}"
    )


def _line(its: Sheet, line: Line, over: bool) -> str:
    out = [f'<th scope="row">{escape(line.side)}</th>' if line.side else "<td></td>"]
    out += [f"<td>{escape(_(line.what))}</td>"] if over else []
    for i, (figure, value) in enumerate(zip(its.figures, line.values, strict=True)):
        mark = f"<sup>{escape(line.notes[i])}</sup>" if line.notes and line.notes[i] else ""
        strong = " strong" if figure == "maximum" and line.what in ("", "largest") else ""
        quiet = " zero" if value == 0 and figure not in TIMES else ""
        text = escape(its.shown(line, i, NARROW_SPACE))
        exact = "–" if value is None else f'<data value="{value!r}">{text}</data>{mark}'
        out.append(f'<td class="n{strong}{quiet}" data-of="{figure}">{exact}</td>')
    return f'<tr class="{escape(line.kind)}">{"".join(out)}</tr>'


def _differences(found: Comparison, block: Block) -> str:
    rows = []
    for pair in block.pairs:
        stated = [verdict for verdict in pair.verdicts if verdict.interval is not None]
        if stated:
            cells = "".join(_verdict(verdict) for verdict in pair.verdicts)
            who = _("{sides} to {sides2}").format(
                sides=found.sides[pair.first], sides2=found.sides[pair.second]
            )
            rows.append(f'<tr><th scope="row">{escape(who)}</th>{cells}</tr>')
    if not rows:
        return ""
    figures = [verdict.figure for verdict in block.pairs[0].verdicts]
    heads = "".join(
        f'<th scope="col">{escape(_(NAMES[f]) if f in NAMES else heading(f))}: {_("ratio [interval]")}</th>'
        for f in figures
    )
    head = f'<tr><th scope="col">{_("ratio of")}</th>{heads}</tr>'
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_("Ratios of the sides")}">'
        f'<table class="ratios"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _verdict(verdict: Verdict) -> str:
    its = verdict.interval
    if its is None:
        return f'<td title="{escape(retold(verdict.why), quote=True)}">{_("not stated")}</td>'
    word = _("not distinguishable") if verdict.direction == "indistinct" else _(verdict.direction)
    why = _("{confidence:.1%} interval of {pairs} pairs").format(
        confidence=its.confidence, pairs=its.pairs
    ) + (f"; {retold(verdict.why)}" if verdict.why else "")
    return (
        f'<td title="{escape(why, quote=True)}">{its.ratio:.3g} [{its.low:.3g}, {its.high:.3g}] '
        f'<span class="{escape(verdict.direction)}">{word}</span></td>'
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
