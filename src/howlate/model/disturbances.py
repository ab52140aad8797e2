"""What disturbed the measuring threads of a cell and their CPUs, from the stream's trailer (docs/stream.md), and what
others took of the CPUs (docs/statistics.md, "Alone")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.counted import INTERRUPT
from howlate.model.decode import Table, decoded
from howlate.model.ranges import Int64
from howlate.words.printable import printable


class Disturbances(Struct, frozen=True):
    """Counts over all measuring threads of a cell; None where nothing says it."""

    minor_faults: int | None
    major_faults: int | None
    involuntary_switches: int | None
    migrations: int | None
    smi: int | None
    """Of the measuring CPU that counted most: firmware may have one of them or all enter an SMI."""
    steal_ns: int | None
    heat: int | None
    """How often the CPUs were slowed because of heat, cores and packages added up."""
    rt_throttled: bool | None
    interrupts: int | None = None
    """Of the measuring CPUs, those of the kernel's own timer among them."""


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
        smi=_smis(trailer.get("smi")),
        steal_ns=_count(trailer.get("steal_ns")),
        heat=sum(counted) if counted else None,
        rt_throttled=throttled if isinstance(throttled, bool) else None,
        interrupts=_interrupts(trailer.get("counters")),
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


def _smis(value: object) -> int | None:
    """The most that one CPU counted; None where one of them is unknown. Older probes read the first CPU alone."""
    cpus = value.get("cpus") if isinstance(value, dict) else None
    if not isinstance(cpus, list) or not cpus:
        return _rise(value, "before", "after")
    rises = [_rise(cpu, "before", "after") for cpu in cpus]
    known = [rise for rise in rises if rise is not None]
    return max(known) if len(known) == len(rises) else None


def _interrupts(counters: object) -> int | None:
    """Over the cell; None where no interrupts were read."""
    names, rises = (
        counters.get(member) if isinstance(counters, dict) else None for member in ("names", "over_cell")
    )
    of_interrupts = {n for n, name in enumerate(_tables(names)) if name.get("kind") == INTERRUPT}
    if not of_interrupts or not isinstance(rises, list):
        return None
    counts = [_count(one.get("rise")) for one in _tables(rises) if one.get("counter") in of_interrupts]
    return sum(count for count in counts if count is not None)


def _tables(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _rise(value: object, before: str, after: str) -> int | None:
    if not isinstance(value, dict):
        return None
    first, last = _count(value.get(before)), _count(value.get(after))
    return None if first is None or last is None else last - first


class OtherTask(Struct, frozen=True):
    """One of the largest."""

    name: str = ""
    pid: Int64 = 0
    cpu_ns: Int64 = 0
    cpu: Int64 = -1
    """Where it ran last; -1 where that is not known."""
    pinned: bool = False
    """It may use no other CPU."""
    kernel: bool = False
    children: bool = False
    """The time is that of children of this task that ended meanwhile."""


class Others(Struct, frozen=True):
    """CPU time of others, in a window from before the loads began until after they had ended."""

    window_ns: Int64 = 0
    user_ns: Int64 = 0
    measuring_ns: Int64 = 0
    """The part of `user_ns` on the measuring CPUs."""
    unseen_ns: Int64 = 0
    """The time of tasks that no account names."""
    kernel_ns: Int64 = 0
    """Of the kernel's own threads, which may have worked for the loads."""
    alone: bool = True
    expected: bool = False
    """Others are part of what is measured (`others = expected`)."""
    tasks: tuple[OtherTask, ...] = ()

    @property
    def disturbs(self) -> bool:
        """Whether the cell is marked: others took more than the limit, and nobody said that they would."""
        return not self.alone and not self.expected


def others_in(table: Table) -> Others | None:
    """The member `others` of a summary or a trailer; None where an older howlate did not look."""
    if table.values.get("others") is None:
        return None
    found = decoded(Others, table.values["others"], f"{table.file}, others", table.error)
    return replace(found, tasks=tuple(replace(task, name=printable(task.name)) for task in found.tasks))
