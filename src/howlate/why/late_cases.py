"""Why samples were late, as a document: the causes of all kept cases, what to do about them, and the worst cases one
by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from howlate.document.document import Item, Section, texts
from howlate.document.sheet import Sheet, labels, numbers, times
from howlate.document.sheet import texts as column
from howlate.model.cause import Cause, Function, Lateness
from howlate.model.facts import Finding
from howlate.model.trace import LOSSY, NOTHING_KEPT
from howlate.model.units import format_duration
from howlate.statistics.labels import in_sentence
from howlate.why.cause_words import NAMES, cause_caption
from howlate.why.explained_cells import CauseSum, CellCase, ExplainedCell, cause_sums, worst_cases
from howlate.why.late_parts import UNIT, parts_sheet, share_column
from howlate.why.remedies import findings_for, remedies_of
from howlate.words.language import _
from howlate.words.say import Text, say, text_of
from howlate.words.statement import Statement, message

MOST_CAUSES = 12
MOST_FUNCTIONS, _MOST_CHAIN = 10, 5
OF_CASE = "late-"
"""The beginning of the ids of the worst cases' sections."""

SAMPLE = message(
    "late.sample", "{cell}, release {release}: {latency_ns:time} late, {at_s:seconds} after the start."
)
REPLAYED = message(
    "late.replayed",
    "Replayed with the same latencies: {instructions:count} instructions, {halted_ns:time} halted.",
)
STEAL = message("late.steal", "In that second the hypervisor took {share:percent} of this CPU's time.")
WORST_IN = message("late.worst-in", "{cell}, release {release} of thread {thread}")
EVENTS_MISSING = message("late.lossy", "The kernel lost events of this case.")
OPENING = message("late.opening", "Explained samples: {cases} of {samples:count}, at most {most} of a cell.")
NO_CASES = message(
    "late.no-cases",
    "{cell}: events were recorded, but no sample of {samples:count} was late enough to keep them ({settings}).",
)
MORE = message("late.more-causes", "Smaller causes ({count}): {ns:time} in total (`howlate why --json`).")
RECORDING_TOOK = message(
    "late.recording-took",
    "{cell}: recording these events took about {own_ns:time} of each wake-up, {share:percent} of the median, which "
    "is about {without_ns:time} without it (`--set explain=false`).",
)
ABSENT = message(
    "late.absent", "This kernel does not have the events {events:list}; what they would show is unknown."
)
TO_DO = message("late.to-do", "{cause}: {what}")
TO_DO_HERE = message("late.to-do-here", "The doctor found here: {findings:items}.")
EVENTS_LOST = message(
    "late.events-lost",
    "{cell}: the events of {cases} more late samples were not kept; the kernel lost {lost:count} events, and missed "
    "{missed:count} because the same program was running.",
)


def cause_text(cause: Cause, name: str) -> str:
    return text_of(cause_caption(cause, name))


def causes_section(
    cells: Sequence[ExplainedCell], findings: Sequence[Finding], notes: Sequence[Text] = ()
) -> tuple[Section, ...]:
    """The causes of all cases, and what to do about them; nothing where there is no case. `notes`: what else is known
    of the cells."""
    sums = cause_sums(cells)
    without = texts("notes", [no_cases_statement(cell) for cell in cells if not cell.cases])
    if not sums:
        return (Section("why", without),) if without else ()
    kept = [sum(not case.case.state & NOTHING_KEPT for case in cell.cases) for cell in cells]
    samples = sum(cell.samples for cell in cells)
    items: tuple[Item, ...] = (
        *texts("paragraph", (OPENING(cases=sum(kept), samples=samples, most=max(kept)),)),
        causes_sheet(sums),
        *texts("notes", [*notes, *_notes(cells, sums)]),
        *without,
        *texts("listed", list(_remedies(sums, findings)), _("What to do")),
    )
    return (Section("why", items),)


def no_cases_statement(cell: ExplainedCell) -> Statement:
    """Why a cell whose events were recorded has no sample to explain."""
    worst = "?" if cell.worst is None else cell.worst
    above = "" if cell.above_ns is None else f", explain-above={format_duration(cell.above_ns)}"
    return NO_CASES(
        cell=in_sentence(cell.name), samples=cell.samples, settings=f"explain-worst={worst}{above}"
    )


def causes_sheet(sums: Sequence[CauseSum]) -> Sheet:
    shown, whole_ns = sums[:MOST_CAUSES], sum(each.total_ns for each in sums)
    places = [each.worst_in for each in shown]
    where = [
        say(WORST_IN(cell=in_sentence(each.name), release=each.release, thread=each.thread))
        for each in places
    ]
    totals = [*(each.total_ns for each in shown), whole_ns]
    return Sheet(
        "late-causes",
        _("Causes of the late samples, in µs"),
        (
            labels("cause", _("cause"), [*(cause_text(each.cause, each.name) for each in shown), _("total")]),
            numbers("cases", _("cases"), [*(each.cases for each in shown), None]),
            numbers("largest_in", _("main cause in"), [*(each.largest_in for each in shown), None]),
            times("total", _("total"), totals, UNIT),
            share_column([ns / max(whole_ns, 1) for ns in totals]),
            times("worst", _("max"), [*(each.worst_ns for each in shown), None], UNIT, strong=True),
            column("worst_in", _("example"), [*where, ""], words=True),
        ),
        kind="late-causes",
    )


def cost_of_recording(cells: Sequence[ExplainedCell]) -> Iterator[Statement]:
    dearest = max(cells, key=lambda cell: cell.own_share)
    if dearest.own_share and dearest.median_ns is not None:
        own_ns = dearest.own_cost_ns
        yield RECORDING_TOOK(
            cell=in_sentence(dearest.name),
            own_ns=own_ns,
            share=dearest.own_share,
            without_ns=dearest.median_ns - own_ns,
        )


def events_lost(cells: Sequence[ExplainedCell]) -> Iterator[Statement]:
    if absent := tuple(dict.fromkeys(event for cell in cells for event in cell.absent)):
        yield ABSENT(events=absent)
    for cell in cells:
        cases = cell.cases_lost + sum(bool(case.case.state & NOTHING_KEPT) for case in cell.cases)
        if cases or cell.events_lost or cell.events_missed:
            yield EVENTS_LOST(
                cell=in_sentence(cell.name), cases=cases, lost=cell.events_lost, missed=cell.events_missed
            )


def _notes(cells: Sequence[ExplainedCell], sums: Sequence[CauseSum]) -> list[Text]:
    rest = sums[MOST_CAUSES:]
    more = [MORE(count=len(rest), ns=sum(each.total_ns for each in rest))] if rest else []
    return [*more, *cost_of_recording(cells), *events_lost(cells)]


def _remedies(sums: Sequence[CauseSum], findings: Sequence[Finding]) -> Iterator[Text]:
    for each, remedy in remedies_of(sums):
        is_idle = each.cause is Cause.IDLE
        cause = cause_caption(each.cause, each.name) if is_idle else NAMES[each.cause]
        here = tuple(f"{one.title} ({one.change})" for one in findings_for(remedy, findings, each.kernel))
        yield (TO_DO(cause=cause, what=remedy.text()), *((TO_DO_HERE(findings=here),) if here else ()))


def case_sections(cells: Sequence[ExplainedCell], most: int) -> tuple[Section, ...]:
    """The worst cases of all cells, the worst first."""
    return tuple(_case_section(one, number) for number, one in enumerate(worst_cases(cells, most)))


def case_said(one: CellCase) -> tuple[Statement, ...]:
    """Which sample it is, how late, and what is known but its parts."""
    cell, explained, case = one.cell, one.case, one.case.case
    told = [
        SAMPLE(
            cell=in_sentence(cell.name),
            release=case.release,
            latency_ns=case.latency_ns,
            at_s=case.release_ns / 1e9,
        )
    ]
    replayed = explained.replayed
    if replayed is not None:
        told.append(REPLAYED(instructions=replayed.instructions, halted_ns=replayed.halted_ns))
    if explained.steal_permille:
        told.append(STEAL(share=explained.steal_permille / 1000))
    if case.state & LOSSY:
        told.append(EVENTS_MISSING())
    return tuple(told)


def _case_section(one: CellCase, number: int) -> Section:
    replayed = one.case.replayed
    items: tuple[Item, ...] = (
        *texts("paragraph", (case_said(one),)),
        parts_sheet(one.case.parts, f"late-parts-{number}"),
        *([functions_sheet(replayed, f"functions-{number}")] if replayed is not None else []),
    )
    return Section(f"{OF_CASE}{number}", items)


def functions_sheet(lateness: Lateness, key: str = "functions") -> Sheet:
    functions = lateness.functions[:MOST_FUNCTIONS]
    places = labels("place", _("mostly at"), [each.place for each in functions])
    return Sheet(
        key,
        _("Functions"),
        (
            labels("function", _("function < its callers"), [chain_text(each) for each in functions]),
            *([places] if any(each.place for each in functions) else []),
            times("self", _("itself [µs]"), [each.self_ns for each in functions], UNIT),
            times("inclusive", _("with all it called [µs]"), [each.inclusive_ns for each in functions], UNIT),
        ),
        kind="late-functions",
    )


def chain_text(function: Function) -> str:
    """A function and its nearest callers, the nearest first."""
    callers = list(function.stack[:-1])[::-1]
    more = ("...",) if len(callers) > _MOST_CHAIN else ()
    return " < ".join((function.name, *callers[:_MOST_CHAIN], *more))
