"""Disturbances of each cell's measuring threads and of their CPUs: faults, switches, SMIs, steal, frequency,
throttling. Taken from the stream's trailer (docs/stream.md) and, for the frequency, from cpus.parquet."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.document.sheet import NOTHING, Column, Row, Sheet, SheetCell, labels, numbers, texts
from howlate.model.disturbances import Disturbances, disturbances
from howlate.model.loaded import CellContent
from howlate.words.language import N_, _
from howlate.words.quantities import significant, time_text

COUNTS: tuple[tuple[str, str], ...] = (
    ("minor_faults", N_("minor faults")),
    ("major_faults", N_("major faults")),
    ("involuntary_switches", N_("switched out")),
    ("migrations", N_("migrations")),
    ("interrupts", N_("interrupts")),
    ("smi", N_("SMIs")),
    ("heat", N_("slowed by heat")),
)


def sheet(cells: Sequence[CellContent], names: Sequence[str], part: str = "") -> Sheet:
    """One row for each cell; `part`: the part of the study."""
    rows = [disturbances(cell.trailer) for cell in cells]
    columns = (
        labels("cell", _("cell"), names),
        *(numbers(key, _(title), [getattr(row, key) for row in rows]) for key, title in COUNTS),
        Column("rt_throttled", _("RT throttled"), tuple(_throttled(row) for row in rows)),
        numbers("steal_ns", _("steal"), [row.steal_ns for row in rows], _steal),
        texts("frequency_khz", _("frequency"), [_frequency(c.frequency_khz) for c in cells]),
    )
    absent = [{cell.is_absent for cell in column.cells} for column in columns]
    note = [_("A dash: the machine does not report it.")] if {True, False} in absent else []
    return Sheet(
        "-".join(word for word in ("table", part, "disturbances") if word),
        _("Disturbances of the measuring threads and their CPUs"),
        columns,
        tuple(Row(cell.summary.id) for cell in cells),
        tuple(note),
        kind="disturbances",
        of="disturbed",
    )


def _throttled(row: Disturbances) -> SheetCell:
    return SheetCell(NOTHING if row.rt_throttled is None else _("yes") if row.rt_throttled else _("no"))


def _steal(ns: int) -> str:
    return time_text(ns) if ns else "0"


def _frequency(khz: tuple[int, int] | None) -> str:
    if khz is None:
        return NOTHING
    low, high = (significant(each / 1e6) for each in khz)
    return f"{low} GHz" if low == high else _("{low} to {high} GHz").format(low=low, high=high)
