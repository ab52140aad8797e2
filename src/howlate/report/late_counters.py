"""What counters tell of cells whose events were not recorded: that something happened during a cell, not that it
delayed a sample."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from howlate.analysis.labels import row_names
from howlate.model.counted import (
    ALL_INTERRUPTS,
    ALL_SWITCHES,
    HEAT,
    INTERRUPT,
    INVOLUNTARY,
    MAJOR_FAULTS,
    MINOR_FAULTS,
    OF_THREADS,
    SOFTIRQ,
    Counted,
    read_each_second,
)
from howlate.model.disturbances import Disturbances, disturbances
from howlate.model.in_force import measuring_cpus
from howlate.model.loaded import CellContent
from howlate.report.disturbances import sheet as disturbances_sheet
from howlate.report.document import Item, Section, texts
from howlate.report.sheet import Row, Sheet, labels, numbers, times
from howlate.report.why_parts import UNIT
from howlate.words.language import N_, _
from howlate.words.quantities import grouped, percent, seconds_text
from howlate.words.statement import Statement, rule

COUNTERS = rule(
    "late.counters",
    "No events were recorded, so only counters tell: what happened at some time during a cell, not what delayed a "
    "sample. `--set explain=true` records events, where the machine allows it.",
)
AROUND_THE_CELL = rule(
    "late.around-the-cell",
    "{cell}: all CPUs measured, so their interrupts were counted around the cell and not each second: to read them "
    "is to hold interrupts off.",
)
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


def counters_section(cells: Sequence[CellContent]) -> tuple[Section, ...]:
    """What was counted over each cell, and in the second of its largest sample."""
    if not cells:
        return ()
    names = row_names([dict(cell.summary.labels) for cell in cells])
    items: tuple[Item, ...] = (
        *texts("paragraph", (COUNTERS(),)),
        disturbances_sheet(cells, names, "why"),
        _second_sheet(cells, names),
        *_interrupts_sheet(cells, names),
        *texts("paragraph", _around_the_cell(cells, names)),
    )
    return (Section("counters", items),)


def _second_sheet(cells: Sequence[CellContent], names: Sequence[str]) -> Sheet:
    """What the measuring CPU did in the second of the largest sample, and what others took over the cell."""
    columns = [cell.column for cell in cells]
    at_s = [column.max_at_s if column is not None else None for column in columns]
    return Sheet(
        "late-counters",
        _("The second of the largest sample"),
        (
            labels("cell", _("cell"), names),
            times("largest", _("largest [µs]"), [c.max if c is not None else None for c in columns], UNIT),
            numbers("at_s", _("after"), at_s, seconds_text),
            *(
                numbers(
                    what,
                    _(heading),
                    [_share(cell, what, at) for cell, at in zip(cells, at_s, strict=True)],
                    percent,
                )
                for what, heading in (("busy", "CPU busy"), ("steal", "steal"))
            ),
            *(
                numbers(key, _(heading), [_in_second(cell, kinds) for cell in cells])
                for key, heading, kinds in OF_SECOND
            ),
            numbers(
                "others", _("other tasks, over the cell"), [_others_share(cell) for cell in cells], percent
            ),
        ),
        tuple(Row(cell.summary.id) for cell in cells),
        kind="late-counters",
    )


def _interrupts_sheet(cells: Sequence[CellContent], names: Sequence[str]) -> Iterator[Sheet]:
    """Interrupts and softirqs of the largest sample's CPU, first those that its second had more of than others."""
    rows = [
        (cell, name, counted)
        for cell, name in zip(cells, names, strict=True)
        for counted in sorted(_of_kinds(cell, (INTERRUPT, SOFTIRQ)), key=_more_than_usual)[:MOST_KINDS]
    ]
    if not rows:
        return
    every = [counted for _cell, _name, counted in rows]
    yield Sheet(
        "late-interrupts",
        _("Interrupts and softirqs of the largest sample's CPU: in its second, and in the others"),
        (
            labels("cell", _("cell"), [name for _cell, name, _counted in rows]),
            labels("what", _("what"), [_called(counted) for counted in every]),
            numbers("at_max", _("in its second"), [c.at_max for c in every]),
            numbers("usual", _("usual"), [c.usual for c in every], lambda n: grouped(round(n))),
            numbers("most", _("most"), [c.most for c in every]),
            numbers("total", _("over the cell"), [c.total for c in every]),
        ),
        tuple(Row(cell.summary.id) for cell, _name, _counted in rows),
        kind="late-interrupts",
    )


def _called(counted: Counted) -> str:
    """With the handlers of a device's interrupt, which stand behind its controller, number and trigger."""
    handlers = re.split(r"(?i)\b(?:edge|level|fasteoi)\b", counted.name)[-1].strip()
    return " ".join(filter(None, (counted.label, handlers or counted.name)))


def _more_than_usual(counted: Counted) -> tuple[float, int]:
    """The key that puts what stood out in the second first, then what there was most of."""
    excess = 0.0 if counted.at_max is None else counted.at_max - (counted.usual or 0.0)
    return -excess, -(counted.total or 0)


def _around_the_cell(cells: Sequence[CellContent], names: Sequence[str]) -> list[Statement]:
    return [
        AROUND_THE_CELL(cell=name)
        for cell, name in zip(cells, names, strict=True)
        if (counted := _of_kinds(cell, (INTERRUPT,))) and all(each.usual is None for each in counted)
    ]


def _of_kinds(cell: CellContent, kinds: Sequence[str]) -> list[Counted]:
    """Of the machine, and of the CPU and the thread of the largest sample, or of all where it is not known which."""
    if cell.bins is None:
        return []
    cpus = measuring_cpus(cell.header)
    of_max = cell.column.max_cpu if cell.column is not None else ""
    wanted = {int(of_max)} if of_max else set(cpus.values())
    threads = {thread for thread, cpu in cpus.items() if cpu in wanted}
    return [
        each
        for each in cell.bins.counted
        if each.kind in kinds
        and (each.cpu < 0 or not wanted or each.cpu in wanted)
        and (each.thread < 0 or not threads or each.thread in threads)
    ]


def _in_second(cell: CellContent, kinds: Sequence[str]) -> int | None:
    """The sum in the second of the largest sample; None where it was not counted each second."""
    counts = [each.at_max for each in _of_kinds(cell, kinds) if each.at_max is not None]
    # What never rose has no entry. A thread's has one whenever it was looked at.
    none_rose = not counts and any(kind in read_each_second(cell.trailer) for kind in kinds)
    return 0 if none_rose and not OF_THREADS.issuperset(kinds) else sum(counts) if counts else None


def _share(cell: CellContent, what: str, at_s: float | None) -> float | None:
    """The largest of the measuring CPUs in the second that ends after the sample."""
    if cell.bins is None or at_s is None:
        return None
    cpus = measuring_cpus(cell.header).values()
    found = [cell.bins.load_at(f"cpu {cpu} {what}", at_s) for cpu in dict.fromkeys(cpus)]
    return max((share for share in found if share is not None), default=None)


def _others_share(cell: CellContent) -> float | None:
    """Of the measuring CPUs; None if nobody counted it."""
    others, cpus = cell.summary.others, set(measuring_cpus(cell.header).values())
    if others is None or not others.window_ns or not cpus:
        return None
    return others.measuring_ns / (others.window_ns * len(cpus))


def counters_json(cells: Sequence[CellContent]) -> list[dict[str, Any]]:
    """The same, exactly (docs/why.md)."""
    return [_cell_json(cell, disturbances(cell.trailer)) for cell in cells]


def _cell_json(cell: CellContent, counted: Disturbances) -> dict[str, Any]:
    column = cell.column
    at_s = column.max_at_s if column is not None else None
    return {
        "id": cell.summary.id,
        "labels": dict(cell.summary.labels),
        "latency_ns_max": column.max if column is not None else None,
        "max_at_s": at_s,
        "busy_share": _share(cell, "busy", at_s),
        "steal_share": _share(cell, "steal", at_s),
        "others_share": _others_share(cell),
        **vars(counted),
        "counted": [vars(each) for each in cell.bins.counted] if cell.bins is not None else [],
    }
