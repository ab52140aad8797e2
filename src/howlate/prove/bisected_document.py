"""What a search for the step that crosses a limit shows: each step that was asked, and the sentence."""

from __future__ import annotations

from howlate.document import sheet as sheets
from howlate.document.document import Document, Section, Texts
from howlate.document.sheet import Sheet, Unit
from howlate.prove.bisected import SIDES, Bisected, StepAnswer
from howlate.words.language import _
from howlate.words.say import text_of

UNIT = Unit("us", 1_000, 1)


def document(found: Bisected) -> Document:
    sentence = Texts("said", (found.sentence(),))
    return Document((Section("bisected", (sheet(found), sentence)),))


def sheet(found: Bisected) -> Sheet:
    """A row a step, in order; those that were not asked have no figures."""
    answers = [found.answers.get(number) for number in range(len(found.steps))]
    again = [found.again.get(number) for number in range(len(found.steps))]
    return Sheet(
        key="bisected",
        title=_("Maximum in {unit}: the smallest and the largest of all seeds or windows").format(
            unit=UNIT.sign
        ),
        columns=(
            sheets.labels("step", _("step"), (step.name for step in found.steps)),
            sheets.times("least", _("min"), [_least(each) for each in answers], UNIT),
            sheets.times("most", _("max"), [_most(each) for each in answers], UNIT),
            sheets.texts("side", _("result"), map(_side, answers), words=True),
            sheets.texts("again", _("repeated"), map(_side, again), words=True),
        ),
    )


def _least(asked: StepAnswer | None) -> int | None:
    return min(asked.largest_ns, default=None) if asked else None


def _most(asked: StepAnswer | None) -> int | None:
    return max(asked.largest_ns, default=None) if asked else None


def _side(asked: StepAnswer | None) -> str:
    return text_of(SIDES[asked.side]) if asked else ""
