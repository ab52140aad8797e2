"""The document of runs: its sections in the order in which they are shown.

PARTS is that order, for the page and the terminal alike, and says who shows what; rooms put their own parts into it
(`parts` in their hooks.py). To say something more, write a function of a ReportInput that gives sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from howlate.document import findings
from howlate.document.document import Document, Folded, Section, Texts, texts, to_json
from howlate.document.report_input import (
    NO_CELL,
    DocumentPart,
    ReportInput,
    answered,
    thresholds,
)
from howlate.document.results import on_demand
from howlate.document.sheet import PAGE, TERMINAL
from howlate.figures.figure import Figure
from howlate.model.decode import json_text
from howlate.model.run import policy_without_right
from howlate.model.summary import SCHEMA
from howlate.rooms import hooks
from howlate.statistics.groups import groups_json
from howlate.statistics.ladder import ladder_of
from howlate.statistics.misses import deadline_statements, deadlines_json
from howlate.statistics.threshold import thresholds_json
from howlate.system.version import __version__
from howlate.words.language import _, english
from howlate.words.say import Text
from howlate.words.statement import Caption

OF_SIDES = "tails"
"""The chart that draws every row over the sides: where it is, rows need no charts of their own."""
LEADING = 3
"""Kinds of causes that lead to findings of the doctor, at most."""


def document(material: ReportInput) -> Document:
    rooms: list[DocumentPart] = [part for parts in hooks("parts") for part in parts()]
    parts = sorted((*PARTS, *rooms), key=lambda part: part.place)
    sections = [section for part in parts if material.style in part.styles for section in part.make(material)]
    if material.style is not PAGE:
        return Document(tuple(sections))
    from howlate.document.first_screen.on_page import title

    return Document(tuple(sections), title(material))


def head(material: ReportInput) -> Iterator[Section]:
    from howlate.document.first_screen import on_page

    return on_page.head(material)


def seen(material: ReportInput) -> Iterator[Section]:
    """In the terminal, where no deadline was stated: the largest value, and how many were later than each step."""
    if any(judges(material) for judges in hooks("judges")):
        return
    if material.cells and not answered(material):
        firsts = [part.answer for part in material.parts]
        yield Section("seen", (*texts("verdict", firsts), *texts("more", _ladders(material))))


def _ladders(material: ReportInput) -> list[Text]:
    ladders = (ladder_of(content) for content in material.runs)
    return [ladder.statement() for ladder in ladders if ladder is not None]


def warnings(material: ReportInput) -> Iterator[Section]:
    """In the terminal, before the tables: the warning that a policy was not permitted."""
    yield Section("warnings", texts("warnings", _warnings(material, first=True)))


def more_warnings(material: ReportInput) -> Iterator[Section]:
    """In the terminal: what was not measured, and what the runs say of themselves."""
    items = (*texts("failures", material.failures), *texts("warnings", _warnings(material, first=False)))
    yield Section("more-warnings", items)


def _warnings(material: ReportInput, *, first: bool) -> list[Text]:
    every = dict.fromkeys(warning for content in material.runs for warning in content.run.warnings)
    return [warning for warning in every if bool(policy_without_right(warning)) is first]


def over_sides(material: ReportInput) -> Iterator[Section]:
    yield Section("over-sides", tuple(on_demand(material.over_sides)))


def results(material: ReportInput) -> Iterator[Section]:
    """Tables, and on the page charts, for each part."""
    if not material.cells:
        if material.style is TERMINAL:  # the page's bar says it
            yield Section("results", (Texts("lead", (NO_CELL(),)),))
        return
    charts = [drawn.figure.name for drawn in material.over_sides if isinstance(drawn.figure, Figure)]
    has_sides = OF_SIDES in charts
    for part in material.parts:
        if material.style is TERMINAL:
            items, title = (
                tuple(part.in_terminal(every=material.every, histograms=material.histograms)),
                f"{part.part}: {part.title}",
            )
        else:
            fit = material.fit.share(len(part.cells), len(material.cells)) if part.part else material.fit
            answer = texts("lead", [part.answer] if part.part else [])
            briefly = has_sides or part is not material.parts[0]
            items, title = (*answer, *part.on_page(fit, material.axes, briefly=briefly)), part.title
        yield Section(f"part-{part.part}", items, title if part.part else "", "part" if part.part else "")


def conclusions(material: ReportInput) -> Iterator[Section]:
    summaries = material.summaries
    statements: list[Text] = [
        *[each for lead in hooks("lead") for each in lead(material)],
        *(tuple(each) for each in deadline_statements(summaries)),
        *thresholds(material),
    ]
    yield Section("conclusions", texts("conclusions", statements))


def late(material: ReportInput) -> Sequence[Section]:
    """The doctor's findings: in the terminal the weightiest; on the page those that the causes lead to, the others
    folded."""
    if material.style is TERMINAL:
        return findings.weightiest(material.runs)
    from howlate.document.first_screen.answer import ScreenAnswer

    why = material.once(ScreenAnswer.of).why
    led = [reason.checks for reason in (why.reasons if why is not None else ()) if reason.checks]
    return findings.section(material.runs, frozenset().union(*led[:LEADING]))


def of_machine(material: ReportInput) -> Iterator[Section]:
    from howlate.document import machine

    part = material.whole.latest(material.fit.in_tables)
    items = machine.items(material.runs, part.cells, part.names)
    yield Section("machine", items, _("The machine, and what was in force"))


def meanings(material: ReportInput) -> Iterator[Section]:
    from howlate.document import meaning

    points = any(part.points is not None for part in material.parts)
    sheet = meaning.sheet(points=points, virtual=material.runs[0].run.virtual)
    links = Caption(
        "Headings of tables and question marks lead to howlate's documentation: docs/ in its source tree, or the "
        "site that $HOWLATE_DOCS named."
    )
    items = (Texts("reading", (links,)), sheet)
    yield Section("meaning", (Folded(_("What the numbers mean"), items),))


def foot(material: ReportInput) -> Iterator[Section]:
    versions = {
        name: ", ".join(
            dict.fromkeys(v for c in material.runs for n, v in c.run.versions.items() if n == name)
        )
        for content in material.runs
        for name in content.run.versions
    }
    measured = [f"{name} {version}" for name, version in versions.items()] or [_("an unknown version")]
    foot = Caption(
        "Run {runs}. Measured with {versions}; this page was made by howlate {version}.",
        runs=", ".join(content.run.id for content in material.runs),
        versions=", ".join(measured),
        version=__version__,
    )
    yield Section("foot", texts("", [foot]), kind="footer")


PARTS = (
    DocumentPart(10, head, (PAGE,)),
    DocumentPart(30, seen, (TERMINAL,)),
    DocumentPart(40, warnings, (TERMINAL,)),
    DocumentPart(100, over_sides, (PAGE,)),
    DocumentPart(110, results, (PAGE, TERMINAL)),
    DocumentPart(120, conclusions, (TERMINAL,)),
    DocumentPart(140, more_warnings, (TERMINAL,)),
    DocumentPart(150, late, (PAGE, TERMINAL)),
    DocumentPart(170, of_machine, (PAGE,)),
    DocumentPart(180, meanings, (PAGE,)),
    DocumentPart(190, foot, (PAGE,)),
)
"""Those of the core."""


def show_json(material: ReportInput, **more: Any) -> str:
    """`show --json`: the summaries, the points with their repetitions as `groups`, and the document that the terminal
    shows of them (docs/commands.md). `more`: further members."""
    summaries, run = material.summaries, material.runs[0].run
    with english():
        shown = to_json(document(material))
    value = {
        "schema": SCHEMA,
        "cells": [summary.to_json() for summary in summaries],
        **groups_json(summaries, run),
        **({"deadlines": deadlines} if (deadlines := deadlines_json(summaries)) else {}),
        **{name: value for members in hooks("json_members") for name, value in members(material).items()},
        **({"ladder": ladder.to_json()} if (ladder := ladder_of(material.runs[0])) is not None else {}),
        **({"exceeded": exceeded} if (exceeded := thresholds_json(summaries, run)) else {}),
        **more,
        "document": shown,
    }
    return json_text(value)
