"""What counters tell of cells whose events were not recorded: that something happened during a cell, not that it
delayed a sample."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec.structs import asdict, replace

from howlate.document.disturbances import sheet as disturbances_sheet
from howlate.document.document import Item, Section, texts
from howlate.document.first_screen.again import again
from howlate.document.first_screen.on_screen import Reasons
from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL, Row, Sheet, labels, numbers, times
from howlate.document.sheet import texts as columns_of_text
from howlate.model.counted import (
    ALL_INTERRUPTS,
    ALL_SWITCHES,
    HEAT,
    INTERRUPT,
    INVOLUNTARY,
    MAJOR_FAULTS,
    MINOR_FAULTS,
    NO_COUNTERS,
    OF_THREADS,
    SMI,
    SOFTIRQ,
    Counted,
    Counters,
)
from howlate.model.disturbances import Disturbances, disturbances
from howlate.model.in_force import measuring_cpus
from howlate.model.loaded import CellContent, RunContent
from howlate.model.run import BY_HAND, NOT_EXPLAINED
from howlate.statistics.labels import row_names
from howlate.why.late_parts import UNIT
from howlate.words.language import N_, _, called
from howlate.words.quantities import grouped, percent, seconds_text
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed, Statement, message

NO_EVENTS = message(
    "late.no-events",
    "No events were recorded: measure again with `--set explain=true`, where the machine allows it.",
)
COUNTERS = message(
    "late.counters",
    "Only counters are available: they show what happened during a cell, not what delayed a sample.",
)
UNRECORDED = Caption("No events were recorded. This records them, where the machine allows it:")
OF_A_FILE = Caption("An imported file has no events. This records them, on a machine with howlate:")
NOT_PLAYED = Caption("not looked for yet. This plays the worst samples again, and names their causes:")
AROUND_THE_CELL = message(
    "late.around-the-cell",
    "{cell}: the measuring threads had all CPUs, so interrupts were counted around the cell and not each second: "
    "reading them holds interrupts off.",
)
SHORT_SECOND = message(
    "late.short-second", "{cell}: the largest sample is in the rest of a second, of {length:seconds}."
)
SHORT_S = 0.9
Number = TypeVar("Number", int, float)
MOST_KINDS = 8
"""Of a cell, in the table of interrupts; `--json` has all."""
OF_SECOND: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("interrupts", N_("interrupts"), (INTERRUPT,)),
    ("involuntary_switches", N_("switched out"), (INVOLUNTARY,)),
    ("faults", N_("page faults"), (MINOR_FAULTS, MAJOR_FAULTS)),
    ("heat", N_("slowed by heat"), (HEAT,)),
    ("all_interrupts", N_("interrupts, all CPUs"), (ALL_INTERRUPTS,)),
    ("all_switches", N_("switches, all CPUs"), (ALL_SWITCHES,)),
)
"""What is shown of the second of the largest sample: of its CPU and thread, and of the machine."""


def counters_section(cells: Sequence[CellContent], why: Reasons | None = None) -> tuple[Section, ...]:
    """What was counted over each cell, and in the second of its largest sample. `why` there are no events."""
    if not cells:
        return ()
    sheets = [disturbances_sheet(cells, _names(cells), "why")]
    sheets += [second_sheet(cells)] if has_counts(cells) else []
    is_counted = any(sheet.present() for sheet in sheets)
    items: tuple[Item, ...] = (
        *texts("paragraph", (_missing(why), *([COUNTERS()] if is_counted else []))),
        *sheets,
        *interrupts_sheet(cells),
        *texts("paragraph", tuple(_notes(cells, _names(cells)))),
    )
    return (Section("counters", items),)


def _missing(why: Reasons | None) -> Text:
    if why is None:
        return NO_EVENTS()
    return Listed((why.missing, f"`{why.command}`" if why.command else ""), " ")


def unrecorded(content: RunContent, folder: str = "") -> Reasons | None:
    """Why a run has no events, and the command that records them; None for one in virtual time."""
    if content.run.virtual:
        return None
    return without_cases(ReportInput([content], TERMINAL, folder=folder), NO_EVENTS())


def _names(cells: Sequence[CellContent]) -> list[str]:
    return row_names([dict(cell.summary.labels) for cell in cells])


def second_sheet(cells: Sequence[CellContent]) -> Sheet:
    """What the measuring CPU did in the second of the largest sample, and what others took over the cell."""
    columns = [cell.column for cell in cells]
    at_s = [column.max_at_s if column is not None else None for column in columns]
    return Sheet(
        "late-counters",
        _("The second of the largest sample"),
        (
            labels("cell", _("cell"), _names(cells)),
            times("largest", _("largest [µs]"), [c.max if c is not None else None for c in columns], UNIT),
            numbers("at_s", _("after"), at_s, seconds_text),
            *(
                numbers(
                    what,
                    _(heading),
                    [_share(cell, what) for cell in cells],
                    percent,
                )
                for what, heading in (("busy", "CPU busy"), ("steal", "steal"))
            ),
            *(
                numbers(key, _(heading), [_in_second(cell, kinds) for cell in cells])
                for key, heading, kinds in OF_SECOND
            ),
            numbers("smi", _("SMIs, other CPUs"), [_smis(cell) for cell in cells]),
            numbers(
                "others", _("other tasks, over the cell"), [_others_share(cell) for cell in cells], percent
            ),
        ),
        tuple(Row(cell.summary.id) for cell in cells),
        kind="late-counters",
    )


def has_counts(cells: Sequence[CellContent]) -> bool:
    """Whether the table of the second says more than the largest samples."""
    columns = second_sheet(cells).columns[2:]
    return any(not cell.is_absent for column in columns for cell in column.cells)


def interrupts_sheet(cells: Sequence[CellContent]) -> Iterator[Sheet]:
    """Interrupts and softirqs of the largest sample's CPU, first those of which its second had unusually many."""
    rows = [
        (cell, name, counted)
        for cell, name in zip(cells, _names(cells), strict=True)
        for counted in sorted(_summed(_of_kinds(cell, (INTERRUPT, SOFTIRQ))), key=_unusual)[:MOST_KINDS]
    ]
    if not rows:
        return
    shown = [counted for _cell, _name, counted in rows]
    yield Sheet(
        "late-interrupts",
        _("Interrupts and softirqs of the largest sample's CPU: in its second, and in the others"),
        (
            labels("cell", _("cell"), [name for _cell, name, _counted in rows]),
            columns_of_text("cpu", _("CPU"), [str(c.cpu) if c.cpu >= 0 else _("all") for c in shown]),
            labels("what", _("what"), [_called(counted) for counted in shown]),
            numbers("at_max", _("in its second"), [c.at_max for c in shown]),
            numbers("usual", _("usual"), [c.usual for c in shown], lambda n: grouped(round(n))),
            numbers("most", _("most"), [c.most for c in shown]),
            numbers("total", _("over the cell"), [c.total for c in shown]),
        ),
        tuple(Row(cell.summary.id) for cell, _name, _counted in rows),
        kind="late-interrupts",
    )


def _summed(counted: Sequence[Counted]) -> list[Counted]:
    """Those of one CPU as they are; of several, where nobody knows which had the largest sample, the sum of each."""
    if len({each.cpu for each in counted}) < 2:
        return list(counted)
    kinds: dict[tuple[str, str], list[Counted]] = {}
    for each in counted:
        kinds.setdefault((each.kind, each.label), []).append(each)
    return [
        replace(
            same[0],
            cpu=-1,
            total=_sum(each.total for each in same),
            usual=_sum(each.usual for each in same),
            most=_sum(each.most for each in same),
            at_max=_sum(each.at_max for each in same),
        )
        for same in kinds.values()
    ]


def _sum(values: Iterable[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _called(counted: Counted) -> str:
    """With the handlers of a device's interrupt, which stand behind its controller, number and trigger."""
    handlers = re.split(r"(?i)\b(?:edge|level|fasteoi)\b", counted.name)[-1].strip()
    return " ".join(filter(None, (counted.label, handlers or counted.name)))


def _unusual(counted: Counted) -> tuple[bool, float, int]:
    """The key that puts first what no other second had as many of, then by how many deviations of a random count it
    is above the usual one, then by number."""
    if counted.at_max is None:
        return True, 0.0, -(counted.total or 0)
    usual = counted.usual or 0.0
    is_most = counted.most is not None and counted.at_max > counted.most
    return not is_most, -(counted.at_max - usual) / math.sqrt(usual + 1), -(counted.total or 0)


def _notes(cells: Sequence[CellContent], names: Sequence[str]) -> Iterator[Statement]:
    for cell, name in zip(cells, names, strict=True):
        counters = _counters(cell)
        if counters.counted and INTERRUPT not in counters.each_second:
            yield AROUND_THE_CELL(cell=name)
        if counters.second_s is not None and counters.second_s < SHORT_S:
            yield SHORT_SECOND(cell=name, length=counters.second_s)


def _counters(cell: CellContent) -> Counters:
    return cell.bins.counters if cell.bins is not None else NO_COUNTERS


def _of_kinds(cell: CellContent, kinds: Sequence[str]) -> list[Counted]:
    """Of the machine, and of the largest sample's thread and CPU; of all where nobody knows which these are."""
    thread, cpu = _of_largest(cell)
    return [
        each
        for each in _counters(cell).counted
        if each.kind in kinds
        and (each.cpu < 0 or cpu is None or each.cpu == cpu)
        and (each.thread < 0 or thread is None or each.thread == thread)
    ]


def _of_largest(cell: CellContent) -> tuple[int | None, int | None]:
    """The thread that had the largest sample, and its CPU if it has one of its own."""
    cpus = measuring_cpus(cell.header)
    of_max = cell.column.max_cpu if cell.column is not None else ""
    entries = cell.trailer.get("accounting")
    largest = {
        entry["table"]: entry.get("latency_ns_max") or 0
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("table"), int)
    }
    if any(largest.values()):
        thread = max(largest, key=lambda table: largest[table])
        return thread, cpus.get(thread)
    if of_max and int(of_max) >= 0:
        return next((thread for thread, cpu in cpus.items() if cpu == int(of_max)), None), int(of_max)
    return (*cpus,)[0] if len(cpus) == 1 else None, (*cpus.values(),)[0] if len(cpus) == 1 else None


def _in_second(cell: CellContent, kinds: Sequence[str]) -> int | None:
    """The sum in the second of the largest sample; None where it was not counted each second."""
    counts = [each.at_max for each in _of_kinds(cell, kinds) if each.at_max is not None]
    counters = _counters(cell)
    # What never rose has no entry. A thread's has one whenever it was looked at.
    is_read = counters.second_s is not None and any(kind in counters.each_second for kind in kinds)
    none_rose = not counts and is_read and not OF_THREADS.issuperset(kinds)
    return 0 if none_rose else sum(counts) if counts else None


def _smis(cell: CellContent) -> int | None:
    """Of another CPU, in the second of the largest sample: the most of one, since an SMI may take them all."""
    counts = (each.at_max for each in _counters(cell).counted if each.kind == SMI)
    return max((count for count in counts if count is not None), default=None)


def _ended_s(cell: CellContent) -> float | None:
    column = cell.column
    if column is None or column.max_at_s is None:
        return None
    return column.max_at_s + (column.max or 0) / 1e9


def _share(cell: CellContent, what: str) -> float | None:
    """The share of the largest sample's CPU in the second in which it ended; the largest of all that measured
    if that CPU is unknown."""
    at_s = _ended_s(cell)
    if cell.bins is None or at_s is None:
        return None
    _, own = _of_largest(cell)
    cpus = measuring_cpus(cell.header).values() if own is None else (own,)
    found = [cell.bins.load_at(f"cpu {cpu} {what}", at_s) for cpu in dict.fromkeys(cpus)]
    return max((share for share in found if share is not None), default=None)


def _others_share(cell: CellContent) -> float | None:
    """The count on the measuring CPUs; None if unknown."""
    others, cpus = cell.summary.others, set(measuring_cpus(cell.header).values())
    if others is None or not others.window_ns or not cpus:
        return None
    return others.measuring_ns / (others.window_ns * len(cpus))


def counters_json(cells: Sequence[CellContent]) -> list[dict[str, Any]]:
    """The same, exactly (docs/why.md)."""
    return [_cell_json(cell, disturbances(cell.trailer)) for cell in cells]


def _cell_json(cell: CellContent, counted: Disturbances) -> dict[str, Any]:
    column, counters = cell.column, _counters(cell)
    return {
        "id": cell.summary.id,
        "labels": dict(cell.summary.labels),
        "latency_ns_max": column.max if column is not None else None,
        "max_at_s": column.max_at_s if column is not None else None,
        "busy_share": _share(cell, "busy"),
        "steal_share": _share(cell, "steal"),
        "others_share": _others_share(cell),
        **asdict(counted),
        "second_s": counters.second_s,
        "each_second": list(counters.each_second),
        "counted": [asdict(each) for each in counters.counted],
    }


def without_cases(material: ReportInput, missing: Statement) -> Reasons | None:
    """What the first screen says of causes where no event of a late sample was kept. `missing`: why; the
    run may know it better. None where there is nothing to explain."""
    run = material.runs[0].run
    if not material.summaries:
        return None
    if run.virtual:
        command = f"{called()} why {material.folder}"
        return Reasons(0, missing=NOT_PLAYED, command=command) if material.folder else None
    refused = [warning for warning in run.warnings if warning.rule == NOT_EXPLAINED.id]
    command = again(material)
    if run.target == BY_HAND:
        return Reasons(0, missing=OF_A_FILE, command=command) if command else None
    if refused or not command or missing.rule != NO_EVENTS.id:
        return Reasons(0, missing=refused[0] if refused else missing)
    return Reasons(0, missing=UNRECORDED, command=command)
