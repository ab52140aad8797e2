"""What counters tell of cells whose events were not recorded: that something happened during a cell, not that it
delayed a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.analysis.labels import row_names
from howlate.model.disturbances import Disturbances, disturbances
from howlate.model.in_force import measuring_cpus
from howlate.model.loaded import CellContent
from howlate.report.disturbances import sheet as disturbances_sheet
from howlate.report.document import Item, Section, texts
from howlate.report.sheet import Row, Sheet, labels, numbers, times
from howlate.report.why_parts import UNIT
from howlate.words.language import _
from howlate.words.quantities import percent, seconds_text
from howlate.words.statement import rule

COUNTERS = rule(
    "late.counters",
    "No events were recorded, so only counters tell: what happened at some time during a cell, not what delayed a "
    "sample. `--set explain=true` records events, where the machine allows it.",
)


def counters_section(cells: Sequence[CellContent]) -> tuple[Section, ...]:
    """What was counted over each cell, and in the second of its largest sample."""
    if not cells:
        return ()
    names = row_names([dict(cell.summary.labels) for cell in cells])
    items: tuple[Item, ...] = (
        *texts("paragraph", (COUNTERS(),)),
        disturbances_sheet(cells, names, "why"),
        _second_sheet(cells, names),
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
            numbers(
                "others", _("other tasks, over the cell"), [_others_share(cell) for cell in cells], percent
            ),
        ),
        tuple(Row(cell.summary.id) for cell in cells),
        kind="late-counters",
    )


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
    }
