"""The answer at the top of the page: a bar with the verdict, the rows at a glance, why they were late, and how far to
trust it, all within one screen (docs/report.md). The same values as in the terminal (answer.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from howlate.document import cautions
from howlate.document.document import ChartItem, Folded, Item, Section, Texts, bar, texts
from howlate.document.first_screen.answer import ScreenAnswer
from howlate.document.first_screen.brief import MEASURED, UNMEASURED
from howlate.document.first_screen.lines import causes_title
from howlate.document.first_screen.notes import circumstances, one_line, target
from howlate.document.first_screen.on_screen import Reasons, ScreenAdvice
from howlate.document.first_screen.rows import ScreenRow
from howlate.document.first_screen.strips import later_text
from howlate.document.machine import place
from howlate.document.report_input import NO_CELL, ReportInput, answered, left_out, question, thresholds
from howlate.document.sheet import Column, Row, Sheet, SheetCell, labels, numbers
from howlate.document.sheet import texts as column
from howlate.document.text import every_note
from howlate.figures.figure import Subject
from howlate.figures.overview import draw
from howlate.model.facts import facts_of
from howlate.rooms import hooks
from howlate.sides.join import gravity_of_runs
from howlate.statistics.labels import policy_in_force
from howlate.words.language import _, as_called, ngettext
from howlate.words.quantities import given_text, percent, time_text
from howlate.words.say import Text, more_rows_text, text_of
from howlate.words.statement import Caption, Listed, Statement

MOST_ROWS = 8
CAUSES = 3


def head(material: ReportInput) -> Iterator[Section]:
    answer = material.once(ScreenAnswer.of)
    first: Text
    openings: list[Text] = [text for opening in hooks("opening") for text in opening(material)]
    word, more = _word(answer), list(answer.more)
    if answered(material):
        first, *more = openings
    elif answer.rows.judged:
        first = answer.text
    else:
        first = Listed((answer.word, answer.text), ": ") if answer.rows.rows else NO_CELL()
    started = dict.fromkeys(content.run.started[:16].replace("T", " ") for content in material.runs)
    where = list(dict.fromkeys(text_of(circumstances(content)) for content in material.runs))
    studies = ", ".join(dict.fromkeys(content.run.study.id for content in material.runs))
    policy = policy_in_force([cell.summary.labels for cell in material.cells])
    leads = [text for lead in hooks("lead") for text in lead(material)]
    small = (
        " · ".join([*where, f"{', '.join(started)} UTC"]),
        f"{studies}: {question(material)} {policy}".rstrip(),
    )
    yield bar((answer.state or word).lower(), word, first, [*leads, *more], small)
    if answer.rows.rows and not answered(material):
        yield Section("glance", tuple(_glance(material, answer)))
    if answer.why is not None and answer.why.reasons:
        folder = material.folder if len(material.runs) == 1 else ""  # a cause is of one of them
        yield Section("shares", (shares(answer.why, folder),))
    yield Section("trust", tuple(_chips(material, answer)), kind="chips")


def title(material: ReportInput, subject: str = "") -> str:
    """The window's title: the verdict, what the page is about, and the machine."""
    answer = material.once(ScreenAnswer.of)
    rows = answer.rows
    what = given_text(rows.deadline_ns) if rows.deadline_ns else "" if answer.outcome else answer.word
    run = material.runs[0].run
    kernel = facts_of(run.facts).text("kernel.release")
    where = place(run) if run.machines else text_of(target(run))
    if run.target == "local":
        where = f"Linux {kernel}" if kernel else ""
    return " – ".join(
        filter(None, (" ".join(filter(None, (_word(answer), what))), subject, where, "howlate"))
    )


def _word(answer: ScreenAnswer) -> str:
    return answer.outcome or (MEASURED if answer.rows.rows else UNMEASURED)


def _glance(material: ReportInput, answer: ScreenAnswer) -> Iterator[Item]:
    """A line for each of the rows that are first on the screen."""
    rows = answer.rows.rows[:MOST_ROWS]
    subjects = [_subject(material, row, answer.rows.step_ns) for row in rows]
    virtual = material.runs[0].run.virtual
    note = every_note(virtual=virtual, labels=material.labels, gravity=gravity_of_runs(material.runs))
    if (figure := draw(subjects)) is not None:
        yield ChartItem(figure, caution=note)
    if left := len(answer.rows.rows) - len(rows):
        yield Texts("note", (more_rows_text(left),))


def _subject(material: ReportInput, row: ScreenRow, step_ns: int) -> Subject:
    """The repetition with the largest value, with the outcome of the whole row at its end."""
    worst = max(row.cells, key=lambda cell: (one.max or 0) if (one := cell.columns.get(cell.latest)) else 0)
    held = next((cell.bins for cell in material.cells if cell.summary is worst), None)
    later: Text = ""
    if row.is_skipped:
        later = later_text(row)
    elif row.later is not None and row.outcome:
        later = Caption("{count} missed", count=later_text(row))
    elif row.later is not None and step_ns:
        later = Caption("{count} later than {time}", count=later_text(row), time=given_text(step_ns))
    largest = "" if row.max_ns is None else time_text(row.max_ns)
    label: Text = row.title if not row.mark else Caption("{name} (invalid)", name=row.title)
    bins = None if held is None else held.of(worst.latest)
    return Subject(label, worst, bins, ruling=row.outcome, end=Listed((largest, later, row.outcome), " · "))


def shares(why: Reasons, folder: str) -> Sheet:
    """The kinds of causes with the most time, each with one remedy and one command."""
    reasons = why.reasons[:CAUSES]
    rest = max(0.0, 1 - sum(reason.share for reason in reasons))
    told = [(reason.name, *reason.brackets[:1]) for reason in reasons]
    names = [" ".join([text_of(name), *(f"({text_of(text)})" for text in more)]) for name, *more in told]
    worst = [f"{time_text(reason.worst_ns)} · {reason.row}" for reason in reasons]
    commands = [as_called(f"`{reason.command or reason.look(folder)}`").strip("`") for reason in reasons]
    remedies = [_remedy(reason.advice, command) for reason, command in zip(reasons, commands, strict=True)]
    return Sheet(
        "late-shares",
        causes_title(why.samples),
        (
            labels("cause", "", [*names, _("the rest")]),
            numbers("share", "", [*(reason.share for reason in reasons), rest], percent),
            column("worst", "", [*worst, ""]),
            column("remedy", "", [*remedies, ""]),
            Column("command", "", tuple(map(SheetCell, [*commands, ""]))),
        ),
        (*(Row(kind=f"c{number + 1}") for number in range(len(reasons))), Row(kind="rest")),
        kind="shares",
    )


def _remedy(advice: ScreenAdvice | None, command: str) -> str:
    """What to do, without the command below it, and what that saves."""
    if advice is None:
        return ""
    text = "" if advice.text == f"`{command}`" else advice.text
    return text_of(Listed((text, advice.amount), ": "))


def _chips(material: ReportInput, answer: ScreenAnswer) -> Iterator[Item]:
    """The notes of the first screen, each with the sentences behind it; the last one has all the others."""
    rows = material.whole.latest(material.fit.in_tables).rows
    every = list(
        dict.fromkeys([*thresholds(material), *cautions.of_runs(material.runs, rows), *left_out(material)])
    )
    for note in answer.notes:
        own = [
            text for text in every if note.rules and any(rule.startswith(note.rules) for rule in _rules(text))
        ]
        told = one_line(note).lower()
        every = [text for text in every if text not in own and text_of(text).lower().rstrip(".") != told]
        own += [text for text in note.more if text not in own]
        yield Folded(one_line(note), texts("cautions", own or [note.text]), "chip")
    if every:
        count = len(every)
        name = ngettext("{count} more note", "{count} more notes", count).format(count=count)
        yield Folded(name, texts("cautions", every), "chip")


def _rules(text: Text) -> Iterator[str]:
    """The rules of a sentence and of those within it."""
    for each in text if isinstance(text, tuple) else [text]:
        if isinstance(each, Statement):
            yield each.rule
            inner: Sequence[object] = tuple(each.values.values())
            yield from (value.rule for value in inner if isinstance(value, Statement))
