"""Why samples were late, as a document: the causes of all kept cases, what to do about them, and the worst cases one
by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from howlate.document.document import Item, Section, texts
from howlate.document.sheet import Row, Sheet, labels, numbers, times
from howlate.document.sheet import texts as column
from howlate.model.cause import Cause, Function, Lateness
from howlate.model.finding import Finding
from howlate.model.trace import LOSSY, NOTHING_KEPT
from howlate.why.cause_names import NAMES, cause_caption
from howlate.why.explained_cells import (
    OWN_SHARE,
    CauseSum,
    CellCase,
    ExplainedCell,
    cause_sums,
    worst_cases,
)
from howlate.why.late_parts import UNIT, parts_sheet, share_column
from howlate.why.remedies import findings_for, remedies_of
from howlate.words.language import _
from howlate.words.say import Text, say, text_of
from howlate.words.statement import Statement, rule

MOST_CAUSES = 12
MOST_FUNCTIONS, _MOST_CHAIN = 10, 5
OF_CASE = "late-"
"""The beginning of the ids of the worst cases' sections."""

SAMPLE = rule(
    "late.sample", "{cell}, release {release}: {latency_ns:time} late, {at_s:seconds} after the start."
)
REPLAYED = rule(
    "late.replayed",
    "Played again with the same latencies: {instructions:count} instructions, {halted_ns:time} halted.",
)
STEAL = rule("late.steal", "In that second the hypervisor took {share:percent} of this CPU's time.")
WORST_IN = rule("late.worst-in", "{cell}, release {release} of thread {thread}")
EVENTS_MISSING = rule("late.lossy", "The kernel lost events of this case.")
OPENING = rule(
    "late.opening",
    "{cases} late samples of {samples:count} have their events, at most {most} of each cell.",
)
OPENING_REPLAYED = rule(
    "late.opening-replayed",
    "{cases} of {samples:count} samples was played again, instruction by instruction.",
    "{cases} of {samples:count} samples were played again, instruction by instruction.",
    by="cases",
)
OVERWRITTEN = rule(
    "late.overwritten",
    "{cell}: {count} more sample was late enough, and nothing was kept of its events.",
    "{cell}: {count} more samples were late enough, and nothing was kept of their events.",
    by="count",
)
NO_CASES = rule(
    "late.no-cases",
    "{cell}: its events were recorded, and none of its {samples:count} samples has to be explained. {why}",
)
KEPT_ABOVE = rule("late.kept-above", "Only those above {above_ns:time} are kept.")
KEPT_WORST = rule("late.kept-worst", "The {worst} worst of each thread are kept, if they are late at all.")
KEPT_EITHER = rule(
    "late.kept-either",
    "The {worst} worst of each thread are kept, if they are late at all, and those above {above_ns:time}.",
)
KEPT_NONE = rule("late.kept-none", "None was to be kept (explain-worst is 0, and there is no explain-above).")
KEPT_UNKNOWN = rule("late.kept-unknown", "Which ones are kept was not recorded.")
MORE = rule(
    "late.more-causes",
    "{count} smaller cause is left out, {ns:time} altogether (`howlate why --json`).",
    "{count} smaller causes are left out, {ns:time} altogether (`howlate why --json`).",
    by="count",
)
RECORDING_TOOK = rule(
    "late.recording-took",
    "{cell}: recording these events took about {own_ns:time} of each wake-up, {share:percent} of the median, which "
    "is about {without_ns:time} without it.",
)
RECORDING_TOO_MUCH = rule(
    "late.recording-too-much",
    "Recording took more than {most_ns:time} and {share:percent} of the median of each wake-up in: {cells:list}. "
    "What is to be promised is measured without it: `--set explain=false`.",
)
ABSENT = rule(
    "late.absent", "This kernel does not have the events {events:list}; what they would show is unknown."
)
CASES_LOST = rule(
    "late.cases-lost",
    "{cell}: {count} more sample was late enough, and there was no room for its events.",
    "{cell}: {count} more samples were late enough, and there was no room for their events.",
    by="count",
)
TO_DO = rule("late.to-do", "{cause}: {what}")
TO_DO_HERE = rule("late.to-do-here", "{cause}: {what} The doctor found here: {found:items}.")
CHECKED = rule("late.checked", "{title} ({change})")
EVENTS_LOST = rule("late.events-lost", "{cell}: the kernel lost {count:count} events.")
EVENTS_MISSED = rule(
    "late.events-missed",
    "{cell}: {count} event of the run was not recorded, anywhere, because the same program was running.",
    "{cell}: {count} events of the run were not recorded, anywhere, because the same program was running.",
    by="count",
)


def cause_text(cause: Cause, name: str) -> str:
    """A cause with what it is about."""
    return text_of(cause_caption(cause, name))


def causes_section(
    cells: Sequence[ExplainedCell], findings: Sequence[Finding], title: str = ""
) -> tuple[Section, ...]:
    """The causes of all cases, and what to do about them; nothing where there is no case."""
    sums = cause_sums(cells)
    without = texts("notes", [no_cases_statement(cell) for cell in cells if not cell.cases])
    if not sums:
        return (Section("why", without, title),) if without else ()
    kept = [sum(not case.case.state & NOTHING_KEPT for case in cell.cases) for cell in cells]
    samples = sum(cell.samples for cell in cells)
    opening = OPENING(cases=sum(kept), samples=samples, most=max(kept))
    if any(case.replayed is not None for cell in cells for case in cell.cases):
        opening = OPENING_REPLAYED(cases=sum(kept), samples=samples)
    items: tuple[Item, ...] = (
        *texts("paragraph", (opening,)),
        causes_sheet(sums),
        *texts("notes", _notes(cells, sums)),
        *without,
        *texts("listed", list(_remedies(sums, findings)), _("What to do")),
    )
    return (Section("why", items, title),)


def no_cases_statement(cell: ExplainedCell) -> Statement:
    """Why a cell whose events were recorded has no sample to explain."""
    return NO_CASES(cell=cell.name, samples=cell.samples, why=_kept(cell))


def _kept(cell: ExplainedCell) -> Statement:
    if cell.worst is None:
        return KEPT_UNKNOWN()
    if cell.above_ns is None:
        return KEPT_WORST(worst=cell.worst) if cell.worst else KEPT_NONE()
    if not cell.worst:
        return KEPT_ABOVE(above_ns=cell.above_ns)
    return KEPT_EITHER(worst=cell.worst, above_ns=cell.above_ns)


def causes_sheet(sums: Sequence[CauseSum]) -> Sheet:
    """The causes with the most time."""
    shown, whole_ns = sums[:MOST_CAUSES], sum(each.total_ns for each in sums)
    places = [each.worst_in for each in shown]
    where = [say(WORST_IN(cell=each.name, release=each.release, thread=each.thread)) for each in places]
    totals = [*(each.total_ns for each in shown), whole_ns]
    return Sheet(
        "late-causes",
        _("Causes of the late samples, in µs"),
        (
            labels("cause", _("cause"), [*(cause_text(each.cause, each.name) for each in shown), _("total")]),
            numbers("cases", _("in cases"), [*(each.cases for each in shown), None]),
            numbers("largest_in", _("largest in"), [*(each.largest_in for each in shown), None]),
            times("total", _("altogether"), totals, UNIT),
            share_column([ns / max(whole_ns, 1) for ns in totals]),
            times("worst", _("worst"), [*(each.worst_ns for each in shown), None], UNIT, strong=True),
            column("worst_in", _("worst in"), [*where, ""], words=True),
        ),
        tuple(Row() for _each in totals),
        kind="late-causes",
    )


def cost_of_recording(cells: Sequence[ExplainedCell]) -> list[Text]:
    """What recording added to the samples."""
    found: list[Text] = []
    dearest = max(cells, key=lambda cell: cell.own_share)
    if dearest.own_share and dearest.median_ns is not None:
        without_ns = dearest.median_ns - dearest.own_cost_ns
        share, own_ns = dearest.own_share, dearest.own_cost_ns
        found.append(RECORDING_TOOK(cell=dearest.name, own_ns=own_ns, share=share, without_ns=without_ns))
    if much := [cell for cell in cells if cell.is_own_cost_much]:
        names, most_ns = tuple(cell.name for cell in much), max(cell.own_most_ns for cell in much)
        found.append(RECORDING_TOO_MUCH(most_ns=most_ns, share=OWN_SHARE, cells=names))
    return found


def events_lost(cells: Sequence[ExplainedCell]) -> list[Text]:
    """Which events and samples the causes are without."""
    found: list[Text] = []
    if absent := tuple(dict.fromkeys(event for cell in cells for event in cell.absent)):
        found.append(ABSENT(events=absent))
    for cell in cells:
        if count := sum(bool(case.case.state & NOTHING_KEPT) for case in cell.cases):
            found.append(OVERWRITTEN(cell=cell.name, count=count))
    found += [CASES_LOST(cell=cell.name, count=cell.cases_lost) for cell in cells if cell.cases_lost]
    found += [EVENTS_LOST(cell=cell.name, count=cell.events_lost) for cell in cells if cell.events_lost]
    found += [EVENTS_MISSED(cell=cell.name, count=cell.events_missed) for cell in cells if cell.events_missed]
    return found


def _notes(cells: Sequence[ExplainedCell], sums: Sequence[CauseSum]) -> list[Text]:
    """What the table does not show."""
    found: list[Text] = []
    if rest := sums[MOST_CAUSES:]:
        found.append(MORE(count=len(rest), ns=sum(each.total_ns for each in rest)))
    return [*found, *cost_of_recording(cells), *events_lost(cells)]


def _remedies(sums: Sequence[CauseSum], findings: Sequence[Finding]) -> Iterator[Statement]:
    """What to do about the weighty causes, with what the doctor found here that belongs to it."""
    for each, remedy in remedies_of(sums):
        is_idle = each.cause is Cause.IDLE
        cause = cause_caption(each.cause, each.name) if is_idle else NAMES[each.cause]
        found = tuple(CHECKED(title=one.title, change=one.change) for one in findings_for(remedy, findings))
        told = TO_DO_HERE(cause=cause, what=remedy.text(), found=found) if found else None
        yield told or TO_DO(cause=cause, what=remedy.text())


def case_sections(cells: Sequence[ExplainedCell], most: int) -> tuple[Section, ...]:
    """The worst cases of all cells, the worst first."""
    return tuple(_case_section(one, number) for number, one in enumerate(worst_cases(cells, most)))


def case_said(one: CellCase) -> tuple[Statement, ...]:
    """Which sample it is, how late, and what is known beside its parts."""
    cell, explained, case = one.cell, one.case, one.case.case
    told = [
        SAMPLE(cell=cell.name, release=case.release, latency_ns=case.latency_ns, at_s=case.release_ns / 1e9)
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


def functions_sheet(lateness: Lateness, key: str = "functions", most: int = MOST_FUNCTIONS) -> Sheet:
    """The functions of a replayed latency that executed most themselves."""
    functions = lateness.functions[:most]
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
        tuple(Row() for _each in functions),
        kind="late-functions",
    )


def chain_text(function: Function) -> str:
    """A function and its nearest callers, the nearest first."""
    callers = list(function.stack[:-1])[::-1]
    more = ("...",) if len(callers) > _MOST_CHAIN else ()
    return " < ".join((function.name, *callers[:_MOST_CHAIN], *more))
