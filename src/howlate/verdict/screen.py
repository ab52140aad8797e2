"""The screen of a verdict: the answer of the run, and for each row what may be promised of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from howlate.document.first_screen.answer import ScreenAnswer
from howlate.document.first_screen.lines import COLUMNS, LEAST_COLUMNS, Line, copied, note_lines, typed, under
from howlate.document.first_screen.notes import one_line
from howlate.document.first_screen.on_screen import ScreenNote
from howlate.document.first_screen.rows import ScreenRow
from howlate.document.first_screen.screen import Parts, head_lines, last_lines
from howlate.document.first_screen.strips import later_text
from howlate.document.first_screen.table import ScreenColumn, ScreenTable
from howlate.document.report_input import ReportInput
from howlate.document.sheet import NOTHING
from howlate.rooms import hooks
from howlate.statistics.labels import axes_that_vary, heading
from howlate.store.recorded import has_trace
from howlate.verdict.extrapolate import as_statements
from howlate.verdict.in_report import rows
from howlate.verdict.ruling import Verdict
from howlate.words.language import _, called
from howlate.words.quantities import given_text, rate_bound, seconds_text, share_text, time_text
from howlate.words.say import Text, count_text

MOST_NOTES = 3


def screen(
    material: ReportInput, doubts: Sequence[Text], again: str, width: int = COLUMNS, *, letters: bool = False
) -> list[Line]:
    """`doubts`: what is known against the samples; `again`: the command that prints all, but for the run."""
    width = max(LEAST_COLUMNS, min(width, COLUMNS))
    answer = ScreenAnswer.of(material)
    of_cells = {cell: row.verdict for row in material.once(rows) for cell in row.cells}
    shown = [(row, of_cells[row.group.cells[0].id]) for row in answer.rows.judged]
    table = _table(shown)
    head, lines = table.lines(width)
    models = [text for _row, verdict in shown[:1] for text in as_statements(verdict.extrapolation)]
    notes = [*(ScreenNote(0, text) for text in doubts), *answer.notes][:MOST_NOTES]
    parts = Parts(
        list(head_lines(material, answer, width)),
        lines,
        [head],
        why=[line for text in models for line in under("", [text], width, 5)],
        trust=list(note_lines(list(map(one_line, notes)), width)),
        last=list(last_lines(material, _("in sentences"), again, width)),
        legend=table.legend(width),
        hint=list(_next(material, answer, width)),
    )
    return typed(parts.fitted(width), letters=letters)


def _next(material: ReportInput, answer: ScreenAnswer, width: int) -> Iterator[Line]:
    """What explains a miss where events were recorded or can be played again, or else decides what is open."""
    content = material.runs[0]
    is_known = content.run.virtual or any(has_trace({"header": cell.header}) for cell in content.cells)
    if answer.outcome == "FAIL" and material.folder and is_known and any(hooks("reasons")):
        yield from copied(_("why late"), f"{called()} why {material.folder}", width)
    elif answer.command:
        yield from copied(_("measure again"), answer.command, width)


def _table(shown: Sequence[tuple[ScreenRow, Verdict]]) -> ScreenTable:
    rows = [row for row, _ in shown]
    verdicts = [verdict for _, verdict in shown]
    counts = [row.counts for row in rows]
    deadlines = [given_text(verdict.question.deadline_ns) for verdict in verdicts]
    axes = axes_that_vary([row.group.labels for row in rows])
    named = heading(axes[0]) if len(axes) == 1 and len(rows) > 1 else ""
    columns = [
        *([ScreenColumn(_("deadline"), deadlines, 3)] if len({*deadlines}) > 1 else []),
        ScreenColumn(
            _("max"), [NOTHING if row.max_ns is None else time_text(row.max_ns, space=" ") for row in rows]
        ),
        ScreenColumn(_("misses"), [later_text(row) for row in rows]),
        ScreenColumn(_("releases"), [NOTHING if c is None else count_text(c.releases) for c in counts], 4),
        _rates(verdicts),
        ScreenColumn(_("bound for"), [_bound(verdict) for verdict in verdicts], 1),
    ]
    return ScreenTable(named, [row.name for row in rows], columns, [row.letter for row in rows])


def _rates(verdicts: Sequence[Verdict]) -> ScreenColumn:
    if verdicts[0].evidence.virtual or verdicts[0].question.miss_rate:
        shares = [v.rate.upper for v in verdicts]
        named = _("share") if verdicts[0].evidence.virtual else _("share at most")
        return ScreenColumn(named, [NOTHING if s is None else share_text(s) for s in shares], 2)
    events = [v.rate.events_per_h for v in verdicts]
    return ScreenColumn(
        _("late events/h below"), [NOTHING if e is None else rate_bound(e) for e in events], 2
    )


def _bound(verdict: Verdict) -> str:
    seconds = verdict.bounded_s
    return NOTHING if seconds is None else seconds_text(seconds, " ", math.floor)
