"""Disturbances of each cell's measuring threads and of their CPUs: faults, switches, SMIs, steal, frequency,
throttling. Taken from the stream's trailer (docs/stream.md) and, for the frequency, from cpus.parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from howlate.model.loaded import CellContent
from howlate.report.sheet import NOTHING, Column, Row, Sheet, SheetCell, labels, numbers, texts
from howlate.words.language import N_, _
from howlate.words.quantities import significant, time_text
from howlate.words.say import say
from howlate.words.statement import rule

TITLE = rule(
    "disturbances.title",
    "Disturbances of the measuring threads and their CPUs. A dash: the machine does not report it.",
)
FREQUENCIES = rule("disturbances.frequencies", "{low} to {high} GHz")


@dataclass(frozen=True)
class Disturbances:
    """Counts over all measuring threads of a cell; None where nothing says it."""

    minor_faults: int | None
    major_faults: int | None
    involuntary_switches: int | None
    migrations: int | None
    smi: int | None
    steal_ns: int | None
    heat: int | None
    """How often the CPUs were slowed because of heat, cores and packages added up."""
    rt_throttled: bool | None


def disturbances(trailer: Mapping[str, Any]) -> Disturbances:
    """What a trailer says; an older one, or none, leaves gaps."""
    heat = [
        _rise(trailer.get("thermal_throttle"), f"{of}_before", f"{of}_after") for of in ("core", "package")
    ]
    counted = [rise for rise in heat if rise is not None]
    throttled = trailer.get("rt_throttled")
    return Disturbances(
        minor_faults=_sum(trailer, "minor_faults"),
        major_faults=_sum(trailer, "major_faults"),
        involuntary_switches=_sum(trailer, "involuntary_switches"),
        migrations=_sum(trailer, "migrations"),
        smi=_rise(trailer.get("smi"), "before", "after"),
        steal_ns=_count(trailer.get("steal_ns")),
        heat=sum(counted) if counted else None,
        rt_throttled=throttled if isinstance(throttled, bool) else None,
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _sum(trailer: Mapping[str, Any], name: str) -> int | None:
    """Over the threads; None where one of them does not say it."""
    entries = trailer.get("accounting")
    if not isinstance(entries, list) or not entries:
        return None
    counts = [_count(entry.get(name)) if isinstance(entry, dict) else None for entry in entries]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _rise(value: object, before: str, after: str) -> int | None:
    if not isinstance(value, dict):
        return None
    first, last = _count(value.get(before)), _count(value.get(after))
    return None if first is None or last is None else last - first


COUNTS: tuple[tuple[str, str], ...] = (
    ("minor_faults", N_("minor faults")),
    ("major_faults", N_("major faults")),
    ("involuntary_switches", N_("switched out")),
    ("migrations", N_("migrations")),
    ("smi", N_("SMIs")),
    ("heat", N_("slowed by heat")),
)


def sheet(cells: Sequence[CellContent], names: Sequence[str], part: str = "") -> Sheet:
    """A row a cell. `part`: whose cells they are."""
    rows = [disturbances(cell.trailer) for cell in cells]
    return Sheet(
        "-".join(word for word in ("table", part, "disturbances") if word),
        say(TITLE()),
        (
            labels("cell", _("cell"), names),
            *(numbers(key, _(title), [getattr(row, key) for row in rows]) for key, title in COUNTS),
            Column("rt_throttled", _("RT throttled"), tuple(_throttled(row) for row in rows)),
            numbers("steal_ns", _("steal"), [row.steal_ns for row in rows], _steal),
            texts("frequency_khz", _("frequency"), [_frequency(c.frequency_khz) for c in cells]),
        ),
        tuple(Row(cell.summary.id) for cell in cells),
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
    return f"{low} GHz" if low == high else say(FREQUENCIES(low=low, high=high))
