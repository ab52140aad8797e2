"""Verdicts as sentences and a sheet, and for a CI job as JUnit and Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from howlate.document.document import Folded, Item, Texts
from howlate.document.missing import missing_of
from howlate.document.sheet import (
    NOTHING,
    Column,
    Row,
    Sheet,
    SheetCell,
    Unit,
    labels,
    missed,
    numbers,
    texts,
    times,
)
from howlate.model.loaded import RunContent
from howlate.sides.gravity import anticipated
from howlate.statistics.groups import groups_of
from howlate.statistics.labels import row_names
from howlate.verdict.promise_facts import each_cpu
from howlate.verdict.promise_sentence import no_verdict, run_sentence, sentence
from howlate.verdict.row_statements import answers, remaining, standing_in_the_way, statements
from howlate.verdict.ruling import Ruling, Verdict
from howlate.verdict.whole import NO_PASS, lacking, outcome_of
from howlate.words.language import _
from howlate.words.printable import printable, without_controls
from howlate.words.quantities import level_text, rate_bound, seconds_text, share_text
from howlate.words.say import say
from howlate.words.statement import Caption, Statement, message

ALL_ROWS = Caption("All rows:")
JUDGED_ROWS = Caption("All rows without a failed check:")
INVALID_ROWS = Caption("All rows with a failed check:")
UNJUDGED = message(
    "verdict.unjudged", "{tests:items}: no verdict, because no column is known to be a latency."
)
UNASKED = message("verdict.unasked", "{rows:items}: no verdict, because no deadline was stated.")
US = Unit("us", 1000, 1)


def opening(verdicts: Sequence[Verdict], *contents: RunContent) -> tuple[Statement, ...]:
    """The sentence of the runs and what belongs to it: first on page and terminal. `contents`: the runs, for the
    cells that one lacks, and the rows that were not judged."""
    if not verdicts:
        return ()
    missing = missing_of(contents[0]) if len(contents) == 1 else ()
    unjudged = sum(len(_unasked_rows(content)) for content in contents)
    first = tuple(run_sentence(verdicts, unjudged))
    if missing and outcome_of(verdicts) is Ruling.PASS:
        first = (NO_PASS(count=lacking(contents[0])),)
    return (*first, *missing, *beside(verdicts, *contents))


def beside(verdicts: Sequence[Verdict], *contents: RunContent) -> tuple[Statement, ...]:
    """What no verdict is about, and what a deadline means where a core is ahead of the release."""
    left_out = _left_out(contents[0]) if len(contents) == 1 else ()
    return (*left_out, *_unasked(contents), *_anticipated(verdicts))


def _left_out(content: RunContent) -> tuple[Statement, ...]:
    judged = {cell.test for cell in content.summaries if cell.judged}
    others = sorted({cell.test for cell in content.summaries} - judged)
    return (UNJUDGED(tests=others),) if others else ()


def _unasked(contents: Sequence[RunContent]) -> tuple[Statement, ...]:
    """The rows without a deadline; of several runs the name of one without any deadline."""
    left = []
    for content in contents:
        rows = _unasked_rows(content)
        has_none = len(contents) > 1 and not any(cell.deadline for cell in content.summaries)
        names = [f"{content.run.id} · {row}" if row else content.run.id for row in rows]
        left += [content.run.id] if rows and has_none else names if len(contents) > 1 else rows
    return (UNASKED(rows=left),) if left else ()


def _unasked_rows(content: RunContent) -> list[str]:
    """Those that could have been judged, and have no deadline."""
    groups = groups_of(content.summaries, content.run)
    names = row_names([group.labels for group in groups])
    return [
        name
        for group, name in zip(groups, names, strict=True)
        if any(cell.judged for cell in group.cells) and not any(cell.deadline for cell in group.cells)
    ]


def _anticipated(verdicts: Sequence[Verdict]) -> list[Statement]:
    return anticipated([(v.evidence.name, v.evidence.gravity_ns, v.question.deadline_ns) for v in verdicts])


def items(verdicts: Sequence[Verdict], *contents: RunContent) -> Iterator[Item]:
    """All that is said of them: of one row its sentences, of several the run's, and folded a table and what is
    open."""
    yield Texts("verdict", opening(verdicts, *contents))
    if len(verdicts) == 1:
        yield Texts("more", tuple(statements(verdicts[0])[1:]))
        return
    yield Folded(_("Row by row"), (sheet(verdicts), *_row_by_row(verdicts)))


def _row_by_row(verdicts: Sequence[Verdict]) -> Iterator[Item]:
    told = [(verdict, statements(verdict)[1:]) for verdict in verdicts]
    of_all = _shared([lines for _, lines in told])
    shared = {
        without: tuple(
            line
            for line in _shared([lines for verdict, lines in told if no_verdict(verdict) is without])
            if line not in of_all
        )
        for without in (False, True)
    }
    for verdict, lines in told:
        if verdict.outcome is not Ruling.PASS:
            elsewhere = {*of_all, *shared[no_verdict(verdict)]}
            yield Texts("said", (sentence(verdict),))
            yield Texts("more", tuple(line for line in lines if line not in elsewhere))
    for heading, common in ((JUDGED_ROWS, shared[False]), (INVALID_ROWS, shared[True]), (ALL_ROWS, of_all)):
        if common:
            yield Texts("said", (heading,))
            yield Texts("more", common)


def each(rows: Sequence[Sequence[Verdict]]) -> Iterator[Item]:
    """Every judged column of each row, with a line for each CPU."""
    for verdicts in rows:
        for verdict in verdicts:
            if len(verdicts) > 1 or each_cpu(verdict):
                yield Texts("said", (sentence(verdict),))
                yield Texts("more", tuple(each_cpu(verdict)))


def _shared(told: Sequence[Sequence[Statement]]) -> tuple[Statement, ...]:
    if len(told) < 2:
        return ()
    return tuple(line for line in told[0] if all(line in lines for lines in told))


def briefly(verdicts: Sequence[Verdict], *contents: RunContent) -> Iterator[Item]:
    """The run's sentence, and of rows that do not pass what stands in their way."""
    yield Texts("verdict", opening(verdicts, *contents))
    if len(verdicts) == 1:
        (only,) = verdicts
        lines = statements(only)[1:] if no_verdict(only) else answers(only)
        yield Texts("more", tuple(lines if no_verdict(only) else (*lines, *remaining(only))))
        return
    for verdict in verdicts:
        if verdict.outcome is not Ruling.PASS:
            yield Texts("said", (sentence(verdict),))
            yield Texts("more", tuple(standing_in_the_way(verdict)))


def sheet(verdicts: Sequence[Verdict]) -> Sheet:
    maxima = [verdict.evidence.max_ns for verdict in verdicts]
    confidence = verdicts[0].question.confidence
    exact = verdicts[0].evidence.virtual
    counted = [v.evidence.deadline if v.evidence.deadline.releases else None for v in verdicts]
    return Sheet(
        "verdict",
        _title(confidence, exact=exact),
        (
            labels("row", _("row"), [verdict.evidence.name for verdict in verdicts]),
            _rulings(verdicts),
            times("deadline", _("deadline"), [v.question.deadline_ns for v in verdicts], US),
            times("max", _("max"), maxima, US, strong=True),
            missed("misses", _("misses"), counted),
            numbers("releases", _("releases"), [None if c is None else c.releases for c in counted]),
            _rates(verdicts, exact=exact),
            _horizons(verdicts),
        ),
        tuple(Row(kind="" if v.evidence.max_ns is not None else "invalid") for v in verdicts),
        kind="verdict",
    )


def _title(confidence: float, *, exact: bool) -> str:
    if exact:
        return _("Verdict in {unit} of virtual time, exact for these seeds").format(unit=US.sign)
    level = level_text(confidence)
    return _("Verdict in {unit}, with {level} confidence").format(unit=US.sign, level=level)


def _rulings(verdicts: Sequence[Verdict]) -> Column:
    cells = (SheetCell(verdict.outcome, state=verdict.outcome.lower()) for verdict in verdicts)
    return Column("verdict", _("verdict"), tuple(cells), words=True)


def _rates(verdicts: Sequence[Verdict], *, exact: bool) -> Column:
    if exact or verdicts[0].question.miss_rate:
        heading = _("share") if exact else _("share at most")
        return numbers("rate", heading, [v.rate.upper for v in verdicts], share_text)
    return numbers("events", _("late events/h below"), [v.rate.events_per_h for v in verdicts], rate_bound)


def _horizons(verdicts: Sequence[Verdict]) -> Column:
    bounded = [verdict.bounded_s for verdict in verdicts]
    shown = [NOTHING if seconds is None else seconds_text(seconds, rounds=math.floor) for seconds in bounded]
    return texts("horizon", _("bound for"), shown)


def markdown(
    name: str,
    verdicts: Sequence[Verdict],
    slower: Sequence[Statement] = (),
    *contents: RunContent,
) -> str:
    """A summary for the page of a CI job."""
    lines = [
        f"## {_inert(say(told))}" if i == 0 else _inert(say(told))
        for i, told in enumerate((*opening(verdicts, *contents), *slower))
    ]
    shown = sheet(verdicts)
    heads = [column.heading for column in shown.columns]
    rows = zip(*([cell.text for cell in column.cells] for column in shown.columns), strict=True)
    table = [_line(heads), _line(["---"] * len(heads)), *map(_line, rows)]
    details = [
        "\n".join(
            [
                f"**{_inert(say(sentence(verdict)))}**",
                "",
                *(f"- {_inert(say(told))}" for told in statements(verdict)[1:]),
            ]
        )
        for verdict in verdicts
    ]
    return (
        "\n\n".join(
            [
                *lines,
                shown.title,
                "\n".join(table),
                *details,
                f"`{printable(name).replace(chr(96), chr(39))}`",
            ]
        )
        + "\n"
    )


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_inert(cell) for cell in cells) + " |"


def _inert(text: str) -> str:
    """A text of one line in Markdown, without the markup, links and pictures that a name may hold."""
    return re.sub(r"([\[\]`|])", r"\\\1", printable(text).replace("&", "&amp;").replace("<", "&lt;"))


def junit(
    study: str,
    names: Sequence[str],
    verdicts: Sequence[Verdict],
    slower: Sequence[Statement] = (),
    missing: Sequence[Statement] = (),
) -> str:
    """A test suite with a case each: FAIL is a failure, INCONCLUSIVE an error. A CI service keeps the history of a
    case by its name, so no name says when or where the run was made."""
    count = [verdict.outcome for verdict in verdicts].count
    totals = {
        "tests": len(verdicts) + len(missing),
        "failures": count(Ruling.FAIL),
        "errors": count(Ruling.INCONCLUSIVE) + len(missing),
    }
    suite = ElementTree.Element("testsuite", {"name": study, **{key: str(n) for key, n in totals.items()}})
    for name, verdict in zip(names, verdicts, strict=True):
        seconds = f"{verdict.evidence.seconds:.3f}"
        case = ElementTree.SubElement(suite, "testcase", classname=study, name=printable(name), time=seconds)
        every = (*statements(verdict), *_anticipated([verdict]), *slower)
        lines = [without_controls(say(statement)) for statement in every]
        kind = {Ruling.FAIL: "failure", Ruling.INCONCLUSIVE: "error"}.get(verdict.outcome)
        if kind is None:
            ElementTree.SubElement(case, "system-out").text = "\n".join(lines)
        else:
            ElementTree.SubElement(case, kind, message=lines[0], type=verdict.outcome).text = "\n".join(lines)
    for told in missing:
        case = ElementTree.SubElement(suite, "testcase", classname=study, name=told.rule, time="0.000")
        text = without_controls(say(told))
        ElementTree.SubElement(case, "error", message=text, type=Ruling.INCONCLUSIVE).text = text
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
