"""Why samples were late, on the first screen: kinds of causes with their shares, and what to try."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from howlate.document.findings import briefly
from howlate.document.first_screen.on_screen import Reasons, ScreenAdvice, ScreenNote, ScreenReason
from howlate.document.first_screen.rows import screen_rows, totalled
from howlate.document.report_input import ReportInput
from howlate.model.cause import ORDINARY, Cause
from howlate.model.finding import Finding
from howlate.model.loaded import RunContent
from howlate.model.trace import NOTHING_KEPT
from howlate.statistics.threshold import the_ended
from howlate.why.cause_words import NAMES, REMEDIES
from howlate.why.explained_cells import CauseSum, ExplainedCell, cause_sums
from howlate.why.in_report import explained_by_row
from howlate.why.late_cases import cost_of_recording, no_cases_statement
from howlate.why.late_counters import without_cases
from howlate.why.remedies import Remedy, findings_for, of_sum, remedies_of
from howlate.words.caption import Caption
from howlate.words.language import SOURCE, _, as_called, spoken
from howlate.words.quantities import percent
from howlate.words.say import say, text_of

RANK = 50
"""Of the cost of recording, among notes."""
OURS = re.compile("(measure|gaps|timer|clock|cross|switch|scheduler|spinner)/.+")
COMMAND = re.compile(r"`((?:howlate|sysctl|apt|mount|swapoff|systemctl) [^`]*)`")
"""Commands in a remedy; options of the kernel's command line are not commands."""


def reasons(material: ReportInput) -> Reasons | None:
    """Without any where no event of a late sample is there; None where nobody could have recorded it."""
    cells = explained_by_row(material)
    ended = the_ended(material.runs[0].summaries)
    if of_one := ended is not None and any(cell.id == ended.id for cell in cells):
        cells = [replace(cell, cases=cell.cases[:1]) for cell in cells if ended and cell.id == ended.id]
    cells = totalled_cells(cells, material.runs)
    sums = cause_sums(cells)
    whole_ns = sum(each.total_ns for each in sums)
    if not whole_ns:
        return without_cases(material, no_cases_statement(cells[0]))
    findings = [finding for content in material.runs for finding in content.findings]
    kept = sum(not case.case.state & NOTHING_KEPT for cell in cells for case in cell.cases)
    said, notes = advice(sums, findings, whole_ns), of_recording(cells)
    return Reasons(kept, kinds(sums, whole_ns, findings), said, notes, of_one=of_one)


def totalled_cells(cells: Sequence[ExplainedCell], runs: Sequence[RunContent]) -> list[ExplainedCell]:
    """Those of the rows that the totals are of; all where these have no samples."""
    rows = totalled([row for content in runs for row in screen_rows([content]).rows])
    counted = {cell.id for row in rows for cell in row.cells}
    found = [cell for cell in cells if cell.id in counted]
    return found if any(cell.cases for cell in found) else list(cells)


def kinds(
    sums: Sequence[CauseSum], whole_ns: int, findings: Sequence[Finding] = (), *, ordinary: bool = False
) -> tuple[ScreenReason, ...]:
    """Each kind with the task that it is most about, by its time: the one ranking of `check`, `why` and the page.
    `ordinary`: also the parts that every wake-up has, after the others."""
    kinds: dict[Cause, CauseSum] = {}
    for each in sums:  # the largest of a kind comes first
        if each.cause in ORDINARY and not ordinary:
            continue
        before = kinds.setdefault(each.cause, replace(each, total_ns=0, worst_ns=-1))
        worst = max(before, each, key=lambda one: one.worst_ns)
        total_ns = before.total_ns + each.total_ns
        kinds[each.cause] = replace(
            before, total_ns=total_ns, worst_ns=worst.worst_ns, worst_in=worst.worst_in
        )
    found = sorted(kinds.values(), key=lambda each: (each.cause in ORDINARY, -each.total_ns))
    return tuple(_kind(each, whole_ns, findings) for each in found)


def _kind(each: CauseSum, whole_ns: int, findings: Sequence[Finding]) -> ScreenReason:
    remedy = of_sum(each)
    here = findings_for(remedy, findings) if remedy is not None else []
    commands = COMMAND.findall(here[0].change) if here else []
    return ScreenReason(
        NAMES[each.cause],
        each.total_ns / max(1, whole_ns),
        each.worst_ns,
        each.worst_in.name,
        text_of(Caption("{thread} of howlate", thread=each.name)) if is_ours(each.name) else each.name,
        advised(remedy, findings, each.name) if remedy is not None else "",
        commands[0] if commands else "",
        each.worst_in.cell,
        frozenset(finding.check for finding in here),
        rank=each.worst_in.rank,
    )


def advice(sums: Sequence[CauseSum], findings: Sequence[Finding], whole_ns: int) -> tuple[ScreenAdvice, ...]:
    """What the doctor found here that belongs to the weighty causes; else the remedy of the cause."""
    weighty = {remedy.text.id for _, remedy in remedies_of(sums)}
    gains: Counter[str] = Counter()
    for each in sums:
        remedy = of_sum(each)
        told = "" if remedy is None else advised(remedy, findings, each.name)
        if remedy is not None and remedy.text.id in weighty and told:
            gains[told] += each.total_ns
    return tuple(ScreenAdvice(as_called(text), ns / max(1, whole_ns)) for text, ns in gains.most_common())


def advised(remedy: Remedy, findings: Sequence[Finding], task: str = "") -> str:
    """The change of what the doctor found, else the last sentence of the remedy; "" where that is not advice."""
    if is_ours(task):
        return _("measure with one howlate at a time")
    if found := findings_for(remedy, findings):
        return briefly(found[0].change)
    if remedy.text is REMEDIES[Cause.UNKNOWN]:  # what to record saves no time
        return ""
    said = briefly(re.split(r"\. |。", say(remedy.text()).rstrip(".。"))[-1])
    return said[:1].lower() + said[1:] if spoken() == SOURCE else said  # as the doctor's


def is_ours(task: str) -> bool:
    """Whether it has the name of a thread that howlate measures with: of this run, or of another at that time."""
    return OURS.fullmatch(task) is not None


def of_recording(cells: Sequence[ExplainedCell]) -> tuple[ScreenNote, ...]:
    dearest = max(cells, key=lambda cell: cell.own_share)
    if not dearest.own_share:
        return ()
    cost = Caption(
        "recording took {share} of the median ({row})", share=percent(dearest.own_share), row=dearest.name
    )
    return (ScreenNote(RANK, cost, more=tuple(cost_of_recording(cells))),)
