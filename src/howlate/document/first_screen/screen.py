"""The first screen of a run: the answer, a strip for each row, causes, what to try, how far to trust it. At most 22
lines of 80 columns, so that command and prompt stand beside it in 24 rows; docs/first-screen.md.

Lines are values: texts with their styles. Nothing here prints, and nothing here knows what a room found out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.document.first_screen import notes as screen_notes
from howlate.document.first_screen.again import again
from howlate.document.first_screen.answer import ScreenAnswer
from howlate.document.first_screen.lines import (
    COLOURS,
    COLUMNS,
    COPIED,
    FAINT,
    LEAST_COLUMNS,
    LINES,
    Line,
    advice_lines,
    cause_lines,
    copied,
    cut,
    height,
    note_lines,
    short_lines,
    spaced,
    typed,
    under,
    unexplained_lines,
)
from howlate.document.first_screen.on_screen import Reasons, ScreenNote
from howlate.document.first_screen.strips import DrawnRows
from howlate.document.report_input import NO_CELL, ReportInput
from howlate.model.loaded import RunContent
from howlate.rooms import hooks
from howlate.words.language import _, called, ngettext
from howlate.words.say import more_rows_text, text_of

FEWEST_ROWS, NARROW, NARROW_NOTES = 4, 60, 2
CAUSES, ADVICE, MOST_FAILURES, MOST_TOLD = 3, 2, 3, 4
LEAST_SHARE = 0.05
"""A cause with less has no row of its own."""
YOURS = "TIME"
"""In the place of a deadline that only the reader knows."""


class Parts(Struct, frozen=True):
    """The screen before it is fitted into its lines."""

    head: list[Line]
    rows: list[Line]
    axis: list[Line] = field(default_factory=list)
    why: list[Line] = field(default_factory=list)
    short: list[Line] = field(default_factory=list)
    """The largest cause alone."""
    advice: list[Line] = field(default_factory=list)
    trust: list[Line] = field(default_factory=list)
    page: list[Line] = field(default_factory=list)
    last: list[Line] = field(default_factory=list)
    legend: list[Line] = field(default_factory=list)
    hint: list[Line] = field(default_factory=list)
    has_causes: bool = True
    """Of `why`, which else says that there are none."""

    def fitted(self, width: int) -> list[Line]:
        """With empty lines between its blocks where they have room; else with fewer rows, then with one thing to try,
        without the hint, the legend, what to try, causes."""
        last = [*self.trust, *self.page, *self.last]
        rows, legend = self.rows, self.legend
        every, told = [*self.why, *self.advice], [*self.hint, *last]
        none: list[Line] = []
        choices = (
            (every, legend, told),
            *(((*self.why, *self.advice[:1]), legend, told) for _line in self.hint[:1] if self.has_causes),
            (every, legend, last),
            *(() if self.has_causes else ((none, legend, last),)),
            (every, none, last),
            ([*self.why, *self.advice[:1]], none, last),
            *(([*self.short, *self.advice[:most]], none, last) for most in (1, 0) if self.short),
            (none, none, last),
        )
        for why, legend, last in choices:
            others = height([*self.head, *self.axis, *why, *legend, *last], width)
            room = max(FEWEST_ROWS, LINES - others - 1)
            if others + len(self.rows) > LINES and room < len(self.rows) - 1:
                left = more_rows_text(len(self.rows) - room)
                rows = [*self.rows[:room], ((f"  {left}", FAINT),)]
            else:
                rows = self.rows
            if others + len(rows) <= LINES:
                break
        else:
            last = [*self.trust, *self.last]
        return spaced([self.head, [*self.axis, *rows, *legend], why, last], width)


def screen(
    material: ReportInput, width: int = COLUMNS, page: str = "", *, letters: bool = False
) -> list[Line]:
    """The screen of a material. `letters`: the terminal has no UTF-8. `page`: where the report is."""
    width = max(LEAST_COLUMNS, min(width, COLUMNS))
    answer = ScreenAnswer.of(material)
    if width < NARROW:
        answer = replace(answer, notes=answer.notes[:NARROW_NOTES])
    drawn = DrawnRows(width, letters, answer.rows)
    axis, rows = drawn.lines()
    parts = Parts(
        head=list(head_lines(material, answer, width)),
        rows=rows,
        axis=axis,
        why=list(why_lines(answer.why, width)) if answer.why is not None else [],
        short=list(short_lines(answer.why, f"{called()} why", width)) if answer.why is not None else [],
        advice=list(advice_lines(answer.why.advice[:ADVICE], width)) if answer.why is not None else [],
        trust=list(note_lines(list(map(screen_notes.one_line, answer.notes)), width)),
        page=[((page, COPIED),)] if page else [],
        last=list(last_lines(material, _more(material, answer.notes), "show --all", width)),
        legend=drawn.legend(),
        hint=list(next_lines(material, answer, width)),
        has_causes=answer.why is not None and bool(answer.why.reasons),
    )
    return typed(parts.fitted(width), letters=letters)


def head_lines(material: ReportInput, answer: ScreenAnswer, width: int) -> Iterator[Line]:
    """The verdict; without a deadline the largest value, and how often what was later."""
    if not answer.rows.rows:
        yield from under("", [NO_CELL()], width, 2)
        for failure in material.failures[:MOST_FAILURES]:
            if failure.startswith("  "):  # has the path of a log
                yield ((failure, COPIED),)
            else:
                yield from under("", [failure], width, 3, indent=2)
        return
    judged = bool(answer.rows.judged)
    style = COLOURS.get(answer.state, "bold") if judged else "bold"
    yield from under(answer.word, [answer.text], width, 3 if judged else 2, style=style)
    for text in answer.more[:MOST_TOLD]:
        yield from under("", [text], width, 2 if width > NARROW else 3, indent=2 if judged else 0)


def why_lines(why: Reasons, width: int) -> Iterator[Line]:
    if why.reasons:
        weighty = sum(reason.share >= LEAST_SHARE for reason in why.reasons[:CAUSES])
        yield from cause_lines(why.samples, why.reasons, max(1, weighty), width)
    elif why.missing:
        yield from unexplained_lines(why, width)


def last_lines(material: ReportInput, words: str, command: str, width: int) -> Iterator[Line]:
    """The circumstances, and where the rest is."""
    if told := text_of(screen_notes.circumstances(material.runs[0])):
        yield ((cut(told, width), FAINT),)
    if material.folder:
        yield from copied(words, f"{called()} {command} {material.folder}", width)


def next_lines(material: ReportInput, answer: ScreenAnswer, width: int) -> Iterator[Line]:
    """The command after this one: the verdict, or, where it failed and something is to be tried, the measurement
    again."""
    has_advice = answer.why is not None and bool(answer.why.advice)
    if not answer.outcome:
        yield from verdict_hint(material.runs, material.folder, width)
    elif answer.outcome == "FAIL" and has_advice and (command := again(material)):
        yield from copied(_("measure again"), command, width)
    elif answer.command:
        yield from copied(_("measure again"), answer.command, width)


def verdict_hint(runs: Sequence[RunContent], folder: str, width: int) -> Iterator[Line]:
    """How a run without a deadline is judged."""
    if folder and any(hooks("ruled")) and any(cell.judged for content in runs for cell in content.summaries):
        yield from copied(_("for a verdict"), f"{called()} verdict {folder} --deadline {YOURS}", width)


def _more(material: ReportInput, notes: Sequence[ScreenNote]) -> str:
    count = screen_notes.others(material, notes)
    told = ngettext("{count} more note", "{count} more notes", count).format(count=count)
    return ", ".join([*([told] if count else []), _("all tables")])
