"""What each knob buys, as a part of a report (docs/advise.md): a table ranked by it, the chart on the page, the
sentences, and what to write where for good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from howlate.document import sheet as sheets
from howlate.document.document import ChartItem, Item, Section, Texts, texts
from howlate.document.findings import LEVEL_NAMES
from howlate.document.sheet import NOTHING, PAGE, Column, Sheet, SheetCell, Style
from howlate.model.facts import Facts
from howlate.model.loaded import RunContent
from howlate.plan.aim import aim_of
from howlate.settings import for_good, settings
from howlate.sides.sides import Decision
from howlate.why.advise.advice import (
    STANDINGS,
    Advice,
    KnobAdvice,
    Trial,
    advice_of,
    at_start_statement,
    counted_statement,
    heading_of,
)
from howlate.why.advise.chart import draw
from howlate.why.advise.flip import Flip, is_advice
from howlate.words.language import _
from howlate.words.quantities import significant
from howlate.words.say import say, text_of
from howlate.words.statement import Caption, Statement

STATES = {"smaller": "smaller", "larger": "larger", "equal": "equal", "indistinct": "indistinct"}


def sections(content: RunContent, style: Style, advice: Advice | None = None) -> Iterator[Section]:
    found = advice or advice_of(content)
    said = [(statement,) for statement in found.statements()]
    starts = [(at_start_statement(start),) for start in found.starts if start.figures]
    figure = draw(found) if style is PAGE else None
    items: tuple[Item, ...] = (
        *texts("said", starts),
        sheet(found, content),
        *texts("paragraph", said),
        *_remedies(found, content, style),
        *([ChartItem(figure)] if figure is not None else []),
    )
    yield Section("advice", items, _("What each knob buys") if style is PAGE else "")


def answers(runs: Sequence[RunContent]) -> Iterator[Statement]:
    """The short answer of each run of the study, for the head of the page."""
    return (next(advice_of(content).statements()) for content in runs if is_advice(content.run))


def sheet(advice: Advice, content: RunContent) -> Sheet:
    """A row for each knob under each load, ranked by what the knob buys."""
    rows = [
        (knob, trial)
        for knob in (*advice.knobs, *([advice.together] if advice.together is not None else []))
        for trial in knob.trials or (None,)
    ]
    loads = {start.load for start in advice.starts}
    doctor = {finding.check: _(LEVEL_NAMES[finding.level]) for finding in reversed(content.findings)}
    counted = counted_statement(advice)
    columns = [sheets.labels("knob", _("knob"), (_name(knob) for knob, _trial in rows))]
    if len(loads) > 1:
        columns.append(sheets.labels("load", _("load"), (t.load if t else "" for _knob, t in rows)))
    columns += [
        column for name in advice.figures for column in _of_figure(name, [trial for _, trial in rows])
    ]
    columns.append(
        sheets.texts(
            "standing", _("result"), (text_of(STANDINGS[knob.standing]) for knob, _t in rows), words=True
        )
    )
    columns.append(
        sheets.texts("doctor", _("doctor says"), (_doctors(knob, doctor) for knob, _t in rows), words=True)
    )
    return Sheet(
        key="advice",
        title=_("Each figure with the knob, divided by the same without it"),
        columns=tuple(columns),
        notes=() if counted is None else (say(counted),),
        kind="advice",
        of="knob",
    )


def _name(knob: KnobAdvice) -> str:
    names = " ".join(knob.names)
    return _("together: {knobs}").format(knobs=names) if len(knob.flips) > 1 else names


def _of_figure(name: str, trials: Sequence[Trial | None]) -> tuple[Column, Column]:
    found = [
        next((d for d in trial.decisions if d.figure == name), None) if trial is not None else None
        for trial in trials
    ]
    heading = text_of(heading_of(name))
    return (
        Column(name, heading, tuple(map(_ratio, found)), apart=True),
        Column(f"{name}-interval", _("interval"), tuple(map(_interval, found))),
    )


def _ratio(decision: Decision | None) -> SheetCell:
    if decision is None or decision.interval is None:
        return SheetCell(NOTHING, why="" if decision is None or decision.why is None else say(decision.why))
    ratio = decision.interval.ratio
    state = STATES.get(decision.direction, "")
    return SheetCell(significant(ratio), ratio, strong=state in ("smaller", "larger"), state=state)


def _interval(decision: Decision | None) -> SheetCell:
    if decision is None or decision.interval is None:
        return SheetCell(NOTHING)
    interval = decision.interval
    low, high = significant(interval.low), significant(interval.high)
    return SheetCell(text_of(Caption("{low} to {high}", low=low, high=high)))


def _doctors(knob: KnobAdvice, levels: dict[str, str]) -> str:
    if len(knob.flips) != 1:
        return ""
    setting = settings().get(knob.flips[0].knob)
    return levels.get(setting.check, "") if setting else ""


def remedies(flips: Sequence[Flip], content: RunContent) -> tuple[str, ...]:
    """For each, what to write where so that it stays; in English, as the doctor's remedies."""
    run = content.run
    facts = Facts.from_json(dict(run.facts))
    aim = aim_of(run.plan, {})
    return tuple(for_good(flip.knob, flip.value, facts, aim) for flip in flips)


def _remedies(advice: Advice, content: RunContent, style: Style) -> tuple[Texts, ...]:
    kept = remedies(advice.helping, content)
    title = _("To keep what helps (howlate has put every knob back):")
    if style is PAGE and kept:
        return (Texts("reading", (title,)), *texts("said", kept))
    return texts("listed", kept, title)
