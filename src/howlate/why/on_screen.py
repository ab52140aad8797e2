"""Why samples were late, on the first screen: kinds of causes with their shares, and what to try."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.document.findings import briefly
from howlate.document.first_screen.notes import of_invalid
from howlate.document.first_screen.on_screen import Reasons, ScreenAdvice, ScreenNote, ScreenReason
from howlate.document.first_screen.rows import screen_rows, totalled
from howlate.document.report_input import ReportInput
from howlate.model.cause import Cause
from howlate.model.facts import Finding
from howlate.model.loaded import RunContent
from howlate.model.trace import NOTHING_KEPT
from howlate.statistics.labels import in_sentence
from howlate.statistics.threshold import the_ended
from howlate.why.cause_words import NAMES, REMEDIES
from howlate.why.explained_cells import (
    CauseSum,
    ExplainedCell,
    cause_sums,
    explained_by_row,
    weighty_causes,
)
from howlate.why.late_cases import cost_of_recording, no_cases_statement
from howlate.why.late_counters import without_cases
from howlate.why.remedies import Remedy, findings_for, label_to_boot, shares_of
from howlate.words.language import SOURCE, _, as_called, spoken
from howlate.words.printable import quoted
from howlate.words.quantities import percent
from howlate.words.say import Text, say, text_of
from howlate.words.statement import Caption

RANK = 50
"""Of the cost of recording, among notes."""
OURS = re.compile("(measure|gaps|timer|clock|cross|switch|scheduler|spinner)/.+")
COMMAND = re.compile(r"`((?:howlate|sysctl|apt|mount|swapoff|systemctl) [^`]*)`")
"""Commands in a remedy; options of the kernel's command line are not commands."""


def reasons(material: ReportInput) -> Reasons | None:
    """Without any where no event of a late sample is there; None where nobody could have recorded it."""
    cells = looked_at(explained_by_row(material), material.runs)
    sums = cause_sums(cells)
    whole_ns = sum(each.total_ns for each in sums)
    if not whole_ns:
        return without_cases(material, no_cases_statement(cells[0]))
    findings = [finding for content in material.runs for finding in content.findings]
    said, notes = advice(sums, findings, whole_ns), of_recording(cells)
    return Reasons(samples_of(cells), kinds(sums, whole_ns, findings), said, notes)


def samples_of(cells: Sequence[ExplainedCell]) -> int:
    """The number of explained ones; 1 too for a single sample without events."""
    return max(1, sum(not case.case.state & NOTHING_KEPT for cell in cells for case in cell.cases))


def looked_at(cells: Sequence[ExplainedCell], runs: Sequence[RunContent]) -> list[ExplainedCell]:
    """The samples that causes are of, wherever they are told: the one that ended a run by its threshold; else those
    of the rows that the totals are of, or all where these have no samples."""
    ended = the_ended(runs[0].summaries) if len(runs) == 1 else None
    if of_one := [replace(cell, cases=cell.cases[:1]) for cell in cells if ended and cell.id == ended.id]:
        return of_one
    rows = totalled([row for content in runs for row in screen_rows([content]).rows])
    counted = {cell.id for row in rows for cell in row.cells}
    found = [cell for cell in cells if cell.id in counted]
    return found if any(cell.cases for cell in found) else list(cells)


def invalid_rows(content: RunContent) -> list[Text]:
    """The rows that are not valid."""
    return [note.text for note in of_invalid(screen_rows([content]).rows)]


def kinds(
    sums: Sequence[CauseSum], whole_ns: int, findings: Sequence[Finding] = ()
) -> tuple[ScreenReason, ...]:
    """Each kind, by its time: the one ranking of `check`, `why` and the page."""
    kinds: dict[Cause, list[CauseSum]] = {}
    for each in sums:  # the largest of a kind comes first
        kinds.setdefault(each.cause, []).append(each)
    every = {gain.text: gain.of_whole(whole_ns) for gain in gains(sums, findings)}
    found = [_kind(own, whole_ns, findings, every) for own in kinds.values()]
    return tuple(sorted(found, key=lambda reason: -reason.share))


def _kind(
    own: Sequence[CauseSum], whole_ns: int, findings: Sequence[Finding], every: Mapping[str, ScreenAdvice]
) -> ScreenReason:
    """Of one kind, with the remedy that takes away the most of it."""
    largest, worst = own[0], max(own, key=lambda each: each.worst_ns)
    total_ns = sum(each.total_ns for each in own)
    most = next(iter(gains(own, findings)), None)
    commands = COMMAND.findall(most.here[0].change) if most is not None and most.here else []
    return ScreenReason(
        NAMES[largest.cause],
        total_ns / max(1, whole_ns),
        worst.worst_ns,
        worst.worst_in.name,
        task=_named(largest.name) if 2 * largest.total_ns > total_ns else "",
        owner=_named(worst.name),
        tasks=len(own),
        are_tasks=all(each.example.task is not None and not each.example.name for each in own),
        advice=every[most.text] if most is not None else None,
        command=commands[0] if commands else "",
        cell=worst.worst_in.cell,
        checks=frozenset(finding.check for finding in most.here) if most is not None else frozenset(),
        rank=worst.worst_in.rank,
    )


def _named(name: str) -> str:
    return text_of(Caption("{thread} of howlate", thread=quoted(name))) if is_ours(name) else quoted(name)


class Gain(Struct, frozen=True):
    """One thing to do, and the time that it can take away."""

    text: str
    ns: int
    rules: frozenset[str]
    """The ids of the remedies it is from."""
    here: tuple[Finding, ...]
    """What the doctor found that it is from."""
    kernel: str
    """The label of the lab's kernel that it is to boot."""
    is_open: bool
    """Against a cause of which the events leave open which of two it was."""

    def of_whole(self, whole_ns: int) -> ScreenAdvice:
        """Nothing is promised against a cause that is open."""
        share = self.ns / max(1, whole_ns)
        buys = Caption("might help with {share}", share=percent(share)) if self.is_open else ""
        return ScreenAdvice(as_called(self.text), share, buys, self.kernel)


def gains(sums: Sequence[CauseSum], findings: Sequence[Finding]) -> list[Gain]:
    """What can be done about these causes, the largest gain first: what the doctor found here that belongs to them,
    else their remedies. The one place where time is given to a remedy."""
    found: dict[str, Gain] = {}
    for each, (ns, remedy) in ((one, share) for one in sums for share in shares_of(one)):
        if not (text := advised(remedy, findings, each.name, each.kernel)):
            continue
        here = tuple(findings_for(remedy, findings, each.kernel))
        kernel = label_to_boot(here[0].change, each.kernel) if here else ""
        before = found.get(text, Gain(text, 0, frozenset(), here, kernel, is_open=False))
        found[text] = replace(
            before,
            ns=before.ns + ns,
            rules=before.rules | {remedy.text.id},
            is_open=before.is_open or each.cause is Cause.IRQ_LATE_OR_GAP,
        )
    return sorted(found.values(), key=lambda gain: -gain.ns)


def weighty_gains(sums: Sequence[CauseSum], findings: Sequence[Finding]) -> list[Gain]:
    """Those that help against the weighty causes."""
    weighty = {remedy.text.id for each in weighty_causes(sums) for _ns, remedy in shares_of(each)}
    return [gain for gain in gains(sums, findings) if gain.rules & weighty]


def advice(sums: Sequence[CauseSum], findings: Sequence[Finding], whole_ns: int) -> tuple[ScreenAdvice, ...]:
    return tuple(gain.of_whole(whole_ns) for gain in weighty_gains(sums, findings))


def advised(remedy: Remedy, findings: Sequence[Finding], task: str = "", kernel: str = "") -> str:
    """The change of what the doctor found, else the last sentence of the remedy; "" where that is not advice."""
    if is_ours(task):
        return _("measure with one howlate at a time")
    if found := findings_for(remedy, findings, kernel):
        label = label_to_boot(found[0].change, kernel)
        return _("boot {kernel}").format(kernel=label) if label else briefly(found[0].change)
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
        "recording took {share} of the median ({row})",
        share=percent(dearest.own_share),
        row=in_sentence(dearest.name),
    )
    return (ScreenNote(RANK, cost, more=tuple(cost_of_recording(cells))),)
