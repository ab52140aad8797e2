"""What befell each cell's measuring threads and their CPUs meanwhile: faults, switches, SMIs, steal, frequency,
throttling. Taken from the stream's trailer (docs/stream.md) and, for the frequency, from cpus.parquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from howlate.charts._words import grouped, significant, time_text
from howlate.errors import DamagedError
from howlate.language import N_, _
from howlate.report.content import CellContent

NOTHING = "–"


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


def told_khz(trailer: Mapping[str, Any]) -> tuple[int, int] | None:
    """The smallest and the largest frequency of the measuring CPUs that a trailer tells, before and after; None where
    it tells none."""
    told = trailer.get("frequency_khz")
    entries = [entry for entry in told if isinstance(entry, dict)] if isinstance(told, list) else []
    known = [khz for entry in entries for at in ("before", "after") if (khz := _count(entry.get(at)))]
    return (min(known), max(known)) if known else None


def frequencies_khz(
    folder: Path, cells: Sequence[tuple[str, Mapping[str, Any]]]
) -> dict[str, tuple[int, int]]:
    """The smallest and the largest frequency of the measuring CPUs of each cell (its id and its stream's header),
    as seen once a second by older probes (`told_khz` reads what the others tell); without those of which cpufreq
    said nothing, or whose file cannot be read."""
    from howlate.store.duck import arrays, connection, reading, scan  # needs duckdb, which `show` does not
    from howlate.store.run_folder import CPUS

    found = {}
    with connection(folder) as database:
        for cell_id, header in cells:
            path = folder / "cells" / cell_id / CPUS
            if not path.is_file():
                continue
            cpus = _measuring_cpus(header)
            only = f" AND cpu IN ({', '.join(map(str, cpus))})" if cpus else ""
            with suppress(DamagedError), reading(path):
                rows = arrays(
                    database,
                    "SELECT coalesce(min(frequency_khz), 0) AS low, coalesce(max(frequency_khz), 0) AS high "
                    f"FROM {scan(path)} WHERE frequency_khz > 0{only}",
                )
                low, high = int(rows["low"][0]), int(rows["high"][0])
                if high > 0:
                    found[cell_id] = (low, high)
    return found


def _measuring_cpus(header: Mapping[str, Any]) -> list[int]:
    """Where the threads are pinned; none where one of them is not."""
    in_force = header.get("in_force")
    threads = in_force.get("threads") if isinstance(in_force, dict) else None
    cpus = [t.get("cpu") if isinstance(t, dict) else None for t in threads or ()]
    pinned = [cpu for cpu in cpus if isinstance(cpu, int) and cpu >= 0]
    return pinned if len(pinned) == len(cpus) else []


COLUMNS: tuple[tuple[str, str, Callable[[Disturbances], int | None]], ...] = (
    ("minor_faults", N_("minor faults"), lambda d: d.minor_faults),
    ("major_faults", N_("major faults"), lambda d: d.major_faults),
    ("involuntary_switches", N_("switched out"), lambda d: d.involuntary_switches),
    ("migrations", N_("migrations"), lambda d: d.migrations),
    ("smi", N_("SMIs"), lambda d: d.smi),
    ("heat", N_("slowed by heat"), lambda d: d.heat),
)


def table(cells: Sequence[CellContent], names: Sequence[str], part: str = "") -> str:
    """A row a cell. `part`: whose cells they are."""
    ident = escape("-".join(word for word in ("table", part, "disturbances") if word))
    titles = [_(title) for _key, title, _count in COLUMNS]
    heads = [_("cell"), *titles, _("RT throttled"), _("steal"), _("frequency")]
    scopes = ["", *[' class="n"'] * (len(heads) - 1)]
    head = "".join(
        f'<th scope="col"{scope}>{escape(title)}</th>' for scope, title in zip(scopes, heads, strict=True)
    )
    rows = "".join(_row(cell, name) for cell, name in zip(cells, names, strict=True))
    said = _("What befell the measuring threads and their CPUs meanwhile. A dash: the machine does not say.")
    return (
        f'<p class="table-title" id="{ident}">{said}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{ident}">'
        f'<table class="disturbances" aria-labelledby="{ident}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(cell: CellContent, name: str) -> str:
    seen = disturbances(cell.trailer)
    out = [f'<th scope="row">{escape(name)}</th>']
    for key, _title, count_of in COLUMNS:
        count = count_of(seen)
        text = NOTHING if count is None else f'<data value="{count}">{grouped(count)}</data>'
        out.append(f'<td class="n{" zero" if count == 0 else ""}" data-of="{key}">{text}</td>')
    throttled = NOTHING if seen.rt_throttled is None else _("yes") if seen.rt_throttled else _("no")
    out.append(
        f'<td class="n{" zero" if seen.rt_throttled is False else ""}" data-of="rt_throttled">{throttled}</td>'
    )
    out.append(f'<td class="n{" zero" if seen.steal_ns == 0 else ""}" data-of="steal_ns">{_steal(seen)}</td>')
    out.append(f'<td class="n" data-of="frequency_khz">{_frequency(cell.frequency_khz)}</td>')
    return f'<tr data-disturbed="{escape(cell.summary.id)}">{"".join(out)}</tr>'


def _steal(seen: Disturbances) -> str:
    if seen.steal_ns is None:
        return NOTHING
    return f'<data value="{seen.steal_ns}">{time_text(seen.steal_ns) if seen.steal_ns else "0"}</data>'


def _frequency(khz: tuple[int, int] | None) -> str:
    if khz is None:
        return NOTHING
    low, high = (significant(one / 1e6) for one in khz)
    return f"{low} GHz" if low == high else _("{low} to {high} GHz").format(low=low, high=high)
