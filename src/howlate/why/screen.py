"""What `howlate why` shows on one screen: the causes of a run's late samples, the worst of them as a short timeline,
what to try, and what to know first (docs/first-screen.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from rich.cells import cell_len

from howlate.document.document_terminal import sheet_lines
from howlate.document.first_screen import notes as screen_notes
from howlate.document.first_screen.answer import as_measured
from howlate.document.first_screen.lines import (
    COLUMNS,
    LEAST_COLUMNS,
    LINES,
    Line,
    advice_lines,
    cause_lines,
    copied,
    cut,
    fitting,
    height,
    lines_of,
    note_lines,
    right,
    typed,
    under,
    unexplained_lines,
)
from howlate.document.first_screen.rows import screen_rows
from howlate.document.first_screen.screen import verdict_hint
from howlate.model.loaded import RunContent
from howlate.why.explained_cells import CellCase, ExplainedCell, cause_sums, worst_cases
from howlate.why.late_cases import case_said, events_lost, no_cases_statement
from howlate.why.late_counters import (
    COUNTERS,
    NO_EVENTS,
    has_counts,
    interrupts_sheet,
    second_sheet,
    unrecorded,
)
from howlate.why.late_parts import LARGEST, UNIT, largest_first, part_text
from howlate.why.on_screen import advice, kinds, looked_at, of_recording, samples_of
from howlate.why.replayed.pair_document import (
    LatenessPair,
    causes_sheet,
    function_text,
    functions_sheet,
    pair_said,
)
from howlate.words.language import _, ngettext
from howlate.words.quantities import percent
from howlate.words.say import text_of
from howlate.words.statement import Listed

MOST_CAUSES, MOST_ROWS, ADVICE, NOTES = 6, 8, 2, 3
FROM_COLUMNS = 60
"""From this width on the parts say when they began."""


class WhyScreen(Struct, frozen=True):
    """What is shown, and which commands show more."""

    content: RunContent
    """Of the explained cells, and of those whose events were not recorded."""
    cells: Sequence[ExplainedCell]
    every: str
    """The command that shows all."""
    trial: str = ""
    """The one that measures what remedies buy; "" where it cannot."""
    pair: LatenessPair | None = None
    folder: str = ""
    """The run, as a command takes it."""

    def lines(self, width: int = COLUMNS, *, letters: bool = False) -> list[Line]:
        """`letters`: the terminal has no UTF-8."""
        width = max(LEAST_COLUMNS, min(width, COLUMNS))
        most = MOST_ROWS
        if self.pair is not None:
            blocks = _of_pair
        elif any(cell.cases for cell in self.cells):
            blocks, most = _of_cases, MOST_CAUSES
        else:
            blocks = _of_counters
        lines = fitting(lambda rows: blocks(self, rows, width), most, width)
        last = len(lines) - len(self.last(width))
        hint = list(verdict_hint([self.content], self.folder, width))
        if height([*lines, *hint], width) <= LINES and not any(c.deadline for c in self.content.summaries):
            lines[last:last] = hint
        return typed(lines, letters=letters)

    def last(self, width: int) -> list[Line]:
        return list(copied(_("all tables"), self.every, width))


def _of_cases(shown: WhyScreen, rows: int, width: int) -> list[list[Line]]:
    """The causes, the worst sample, what to try, what to know."""
    cells = looked_at(shown.cells, [shown.content])
    sums = cause_sums(cells)
    whole_ns = sum(each.total_ns for each in sums)
    reasons = kinds(sums, whole_ns)
    causes = list(cause_lines(samples_of(cells), reasons, rows, width))
    said = as_measured(advice(sums, shown.content.findings, whole_ns), screen_rows([shown.content]).rows)
    tried = list(advice_lines(said[:ADVICE], width))
    if shown.trial:
        tried += copied(_("Try"), shown.trial, width)
    last = shown.last(width)
    worst = worst_cases(cells, 1)[0]
    return [causes, list(_worst(worst, width)), tried, [*_trust(shown, min(rows, NOTES), width), *last]]


def _worst(one: CellCase, width: int) -> Iterator[Line]:
    """Its longest parts, what the others took, and their sum."""
    said = text_of(case_said(one))
    for number, line in enumerate(lines_of(said, width, 2)):
        yield ((line, "" if number else "bold"),)
    lines = largest_first(one.case.parts)
    latency_ns = sum(line.part.ns for line in lines)
    times = [UNIT.text(line.part.ns) for line in lines]
    long = len(UNIT.text(latency_ns))
    after, total = _("after"), _("total")
    for each, took in list(zip(lines, times, strict=True))[:LARGEST]:
        share = right(percent(each.part.ns / max(1, latency_ns)), 6)
        since = f" {after} {UNIT.text(each.part.from_ns):>{long}}" if width >= FROM_COLUMNS else ""
        lead = f"{share}  {took:>{long}} us{since}  "
        for text in lines_of(text_of(part_text(each.part)), width - cell_len(lead), 2):
            yield ((f"{lead}{text}", ""),)
            lead = " " * cell_len(lead)
    if rest := lines[LARGEST:]:
        ns = sum(line.part.ns for line in rest)
        text = _("all others")
        yield ((f"{right(percent(ns / max(1, latency_ns)), 6)}  {UNIT.text(ns):>{long}} us  {text}", ""),)
    yield ((f"        {UNIT.text(latency_ns)} us  {total}", ""),)
    if one.case.replayed is not None:
        longest = one.case.replayed.functions[:LARGEST]
        functions = tuple(function_text(each.name, each.self_ns) for each in longest)
        word = _("Functions")
        yield ((cut(f"{word}: {text_of(Listed(functions))}", width), ""),)


def _trust(shown: WhyScreen, most: int, width: int) -> Iterator[Line]:
    """The machine, what recording cost, what was lost, and the rows that only counters tell of."""
    rows = screen_rows([shown.content]).rows
    ranked = [
        *screen_notes.of_invalid(rows),
        *screen_notes.of_others(rows),
        *screen_notes.of_machine(shown.content),
        *of_recording(looked_at(shown.cells, [shown.content])),
    ]
    told = [screen_notes.one_line(note) for note in ranked]
    told += [text_of(text) for text in events_lost(shown.cells)]
    traced = {cell.id for cell in shown.cells}
    replayed = any(case.replayed is not None for cell in shown.cells for case in cell.cases)
    without = sum(cell.summary.id not in traced for cell in shown.content.cells)
    if count := 0 if replayed else without:
        told.append(
            ngettext("{count} row without events", "{count} rows without events", count).format(count=count)
        )
    told += [text_of(no_cases_statement(cell)) for cell in shown.cells if not cell.cases]
    return note_lines(told[:most], width)


def _of_counters(shown: WhyScreen, rows: int, width: int) -> list[list[Line]]:
    cells = shown.content.cells
    none = [line for cell in shown.cells for line in under("", [no_cases_statement(cell)], width, 2)]
    traced = {cell.id for cell in shown.cells}
    cells = tuple(cell for cell in cells if cell.summary.id not in traced)
    blocks: list[list[Line]] = [none[:6]]
    if cells and not shown.cells:
        blocks.append(list(_unexplained(shown, width)))
    if cells and has_counts(cells):
        blocks.append(list(under("", [COUNTERS()], width, 3)))
        sheet = second_sheet(cells).largest("largest", rows)
        blocks.append(sheet_lines(sheet, width))
        blocks += [sheet_lines(each.first(rows), width) for each in interrupts_sheet(cells)]
    return [*blocks, shown.last(width)]


def _unexplained(shown: WhyScreen, width: int) -> Iterator[Line]:
    """Why there is no cause, and the command that records them, as the first screen says it."""
    told = unrecorded(shown.content, shown.folder)
    if told is None:
        yield from under("", [NO_EVENTS()], width, 3)
    else:
        yield from unexplained_lines(told, width)


def _of_pair(shown: WhyScreen, rows: int, width: int) -> list[list[Line]]:
    assert shown.pair is not None
    return [
        [line for text in pair_said(shown.pair) for line in under("", [text], width, 2)],
        sheet_lines(causes_sheet(shown.pair, rows), width),
        sheet_lines(functions_sheet(shown.pair, rows), width),
        shown.last(width),
    ]
