"""`howlate compare` in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from howlate.charts._words import title_of_column
from howlate.language import N_, _
from howlate.model.run import VIRTUAL_TIME
from howlate.report.compare import Block, Comparison
from howlate.report.conclusions import conclusions
from howlate.report.equal import Equal
from howlate.report.kernels import by_sentence, values_of
from howlate.report.layout import HEADINGS, Line, Sheet, heading, sheet
from howlate.report.layouts import Layout, label_texts, layouts, number_texts
from howlate.report.parts import Said
from howlate.report.preemption import spelt
from howlate.report.table_terminal import Column, print_table
from howlate.report.text import wrapped

SHORT = {
    N_("period exceeded"): "period\nexceeded",
    N_("deadline misses"): "deadline\nmisses",
    N_("std dev"): "std\ndev",
    "overruns": "over-\nruns",
}
FIGURE_NAMES = {"0.5": N_("median"), "max": N_("max"), "stddev": N_("std dev")}


def print_comparison(console: Console, found: Comparison, equal: Sequence[Equal] = ()) -> None:
    """What is equal to the last digit first; tables, what differs at each point, configurations, and the summary
    last."""
    virtual = found.joined.virtual
    repetitions = "seeds" if virtual else "repetitions"
    for text in _first(found, equal):
        _wrapped(console, text, "")
    for layout in layouts(found):
        _layout(console, layout)
    for block in found.blocks:
        its = sheet(found, block)
        _heading(console, its, repetitions)
        print_table(console, _labels(its, repetitions), _numbers(its), [True] * len(its.lines))
        for text in its.notes:
            _note(console, text)
        _differences(console, found, block)
    if virtual:
        console.print()
        _note(console, VIRTUAL_TIME)
    for warning in found.joined.warnings:
        _note(console, warning)
    _configurations(console, found)
    print_conclusions(console, conclusions(found))


def _first(found: Comparison, equal: Sequence[Equal]) -> list[str]:
    """What is known before any table: sides that are equal, and the kernel that all sides share."""
    kernels = {(side.kernel, side.preemption) for side in found.joined.sides}
    said = [its.text for its in equal]
    if len(kernels) == 1 and len(found.sides) > 1:
        kernel, preemption = kernels.pop()
        model = f" ({spelt(preemption)})" if preemption else ""
        said.append(_("Every side: kernel {kernel}{model}.").format(kernel=kernel, model=model))
    return said


def _layout(console: Console, layout: Layout) -> None:
    """A table of the document's, as it is printed there, with ours above each of its rows."""
    console.print()
    for line in wrapped(layout.title, console.width):
        console.print(Text(line, style="bold"), soft_wrap=True)
    console.print()
    labels: list[Column] = [("", texts) for texts in label_texts(layout)]
    labels.append(("", [line.who for line in layout.lines]))
    numbers: list[Column] = [(head.replace(" ", "\n", 1), texts) for head, texts in number_texts(layout)]
    print_table(console, labels, numbers, [True] * len(layout.lines))
    if layout.note:
        _note(console, layout.note)


def print_published(console: Console, found: Comparison) -> None:
    """The tables beside which a document stands, alone."""
    repetitions = _("seeds") if found.joined.virtual else _("repetitions")
    for block in found.blocks:
        if block.published:
            its = sheet(found, block)
            _heading(console, its, repetitions)
            print_table(console, _labels(its, repetitions), _numbers(its), [True] * len(its.lines))
            for text in its.notes:
                _note(console, text)
    if found.joined.virtual:
        _note(console, VIRTUAL_TIME)


def _heading(console: Console, its: Sheet, repetitions: str) -> None:
    console.print()
    unit = (
        _("{column} in {unit}").format(column=title_of_column(its.column), unit=its.unit.name)
        if its.column
        else _("what the load's own runs took")
    )
    title = f"{its.title}: {unit}" if its.title else unit
    over = (
        _("; smallest, median and largest over {repetitions}").format(repetitions=repetitions)
        if its.repeated
        else ""
    )
    for line in wrapped(title + over, console.width):
        console.print(Text(line, style="bold"), soft_wrap=True)
    console.print()


def _labels(its: Sheet, repetitions: str) -> list[Column]:
    if not its.repeated:
        return [("", [line.side or f"  {_(line.what)}" for line in its.lines])]
    return [
        ("", [line.side for line in its.lines]),
        (_("of {repetitions}").format(repetitions=repetitions), [_(line.what) for line in its.lines]),
    ]


def _numbers(its: Sheet) -> list[Column]:
    found = []
    for i, figure in enumerate(its.figures):
        texts = [its.shown(line, i) + _mark(line, i) for line in its.lines]
        short = SHORT.get(HEADINGS.get(figure, ""))
        found.append((_(short) if short else heading(figure).replace(" ", "\n", 2), texts))
    return found


def _mark(line: Line, place: int) -> str:
    return line.notes[place] if line.notes else ""


def _differences(console: Console, found: Comparison, block: Block) -> None:
    """A line a pair of sides: the ratio of each figure with its interval, and whether it is told apart."""
    stated = [pair for pair in block.pairs if any(v.direction != "unstated" for v in pair.verdicts)]
    if not stated:
        return
    console.print()
    for pair in stated:
        said = []
        for verdict in pair.verdicts:
            its, name = verdict.interval, _name(verdict.figure)
            if its is None:
                said.append(_("{name} not stated").format(name=name))
            else:
                word = _("not distinguishable") if verdict.direction == "indistinct" else _(verdict.direction)
                said.append(f"{name} x {its.ratio:.3g} [{its.low:.3g}, {its.high:.3g}] {word}")
        _wrapped(
            console,
            _("{sides} to {sides2}: {said}").format(
                sides=found.sides[pair.first], sides2=found.sides[pair.second], said="; ".join(said)
            ),
            "  ",
        )


def _name(figure: str) -> str:
    return _(FIGURE_NAMES[figure]) if figure in FIGURE_NAMES else heading(figure)


def _configurations(console: Console, found: Comparison) -> None:
    if not found.differences:
        return
    console.print()
    console.print(
        Text(_("Options that differ and are known to matter for lateness"), style="bold"), soft_wrap=True
    )
    for sentence, some in by_sentence(found.differences):
        _wrapped(console, _(sentence), "")
        for one in some:
            _wrapped(console, f"{one.option}: {values_of(one, found.names)}", "  ")


def print_conclusions(console: Console, found: Sequence[tuple[str, Sequence[Said]]]) -> None:
    for title, sentences in found:
        console.print()
        console.print(Text(title, style="bold"), soft_wrap=True)
        for said in sentences:
            _wrapped(console, f"- {said.text}", "")


def _wrapped(console: Console, text: str, indent: str) -> None:
    for i, line in enumerate(wrapped(text, max(30, console.width - len(indent) - 2))):
        console.print(Text(f"{indent}{'  ' if i else ''}{line}"), soft_wrap=True)


def _note(console: Console, text: str) -> None:
    for i, line in enumerate(wrapped(text, max(30, console.width - 2))):
        console.print(Text(f"{' ' if i else '!'} {line}"), soft_wrap=True)
