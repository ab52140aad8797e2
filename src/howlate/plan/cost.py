"""How long a cell takes: the single model behind a plan's estimate, the time left, and the limit of a guest that
hangs.

A guest that executes takes a core of the host; one that idles jumps to its next timer at once. So the cost of
a virtual second is that of its activations and of what its loads and its test execute (measured with QEMU 7.2
on one host; lab/cost.py learns how much another host, kernel or load differs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from howlate.errors import UsageError
from howlate.model.capabilities import spec_name, spec_options
from howlate.model.guest_cpus import GUEST, MOST_MIPS, GuestCpus
from howlate.model.plan import Cell, Length
from howlate.model.study import spell
from howlate.model.units import parse_cpus, parse_duration_ns

OVERHEAD_S = 1.0
"""The overhead of each cell in real time: starting probe and loads, writing Parquet and statistics (roughly)."""
RESTART_S = 0.25
"""Ending the loads that ran alone and starting them again (roughly)."""
CELL_S = 0.5
"""Restoring a guest, and reading its result."""
ACTIVATION_S = 80e-6
BUSY_S = 1.6
"""A virtual second of a program that computes."""
LOADS_S: Mapping[str, float] = {
    "none": 0.0,
    "cpu": 1.6,
    "memory-alloc": 2.3,
    "memory-access": 2.3,
    "memory-fault": 4.0,
    "hackbench": 3.7,
    "network": 0.5,
    "network:flood": 2.5,
    "disk": 1.0,
    "disk:max": 3.3,
}
"""A virtual second of each load at its full target, or at the target named."""
CARD_PACKET_S, CARD_FLOOD = 2.3e-3, 17_000.0
"""In addition, a packet there and back through two emulated cards, and how many a flood sends in a virtual second:
QEMU leaves its loop at each access to a device. From two floods on a busy host, so rough."""
BEFORE_S: Mapping[str, float] = {"disk": 1.2}
"""Before a load can start: its modules and a file system."""
GROUP_S, GROUPS, AGAIN_S = 1.0, 10, 4.5
"""The additional cost where the probe first runs hackbench alone: for each of its groups (10 by default), and
for the second start. The loads run until their rate is known, and the probe gets the CPU late among their
tasks. Fitted to five cells of bench/lab_costs.py on a quiet host, 3, 10 and 20 groups, 0.03 to 5 s; off by 12
% at most."""
SPIN_S, EXPIRY_S = 0.35, 2.6e-5
"""In addition, a virtual second in which each of several CPUs is kept busy, and each time that their turns are dealt
out anew (model/turns.py). Fitted to cells of bench/lab_costs.py, 2 and 4 CPUs in turns of 5 and 20 us."""
SEVERAL, SEVERAL_EXPIRY_S = 1.4, 1.8e-5
"""How many times more the same load takes there on all CPUs: a number, and an amount for each time in a virtual
second that the turns are dealt out anew, because a CPU then leaves what it executes. Fitted to memory-alloc; of the
others 1.0 (cpu) to 4.8 (hackbench) were seen."""
START_CPU_S, START_VIRTUAL_CPU_S, START_LOAD_VIRTUAL_S = 0.18, 0.28, 0.15
"""In addition, before a cell of several CPUs: seconds of the host for each CPU, and of the guest an amount for each
CPU, and one in which the loads run already. The other CPUs are brought online, and the probe starts at its CPU's
share of the speed."""
_BETWEEN = ("period", "window")
"""Parameters that say how long a test waits for its next result."""
_REAL_TIME = re.compile(r"\bpolicy=(fifo|rr|deadline)\b")
"""The policy of a load that may leave the measurement no CPU."""
SHARES = ("cpu", "memory-access", "memory-alloc", "memory-fault")
"""Loads whose target is a share of the CPU in per cent."""
LIMIT_S, LIMIT_PER_S, LIMIT_ROW_S = 40.0, 40.0, 20e-6
"""The CPU time that a guest may use without a result: a constant, an amount for each virtual second between two
results (up to 25 were seen), and one for each row, because all are handed over after the last."""
LIMIT_BEFORE = 3.0
"""In addition, until the first result: this multiple of what is expected before it, and LIMIT_PER_S for each virtual
second in which the loads run alone."""
LIMIT_CARDS = 4.0
"""In addition, this multiple of the cost of a virtual second of what is sent through emulated cards."""
VIRTUAL_S, VIRTUAL_ROW_S = 10.0, 10e-6
"""The time by its own clock that a guest of the usual speed may take without a result: a constant, and an amount for
each row."""
VIRTUAL_PER_GROUP_S = 1.0
"""In addition, until the first result, an amount for each group of hackbench (the tasks of ten groups take 3 s to
start)."""
VIRTUAL_PER_S = 3.0
"""In addition, this multiple of the time between two results, and until the first the time in which the loads run
alone."""
VIRTUAL_POINTS_S = 35.0
"""At least, where data points are measured: the probe itself ends a test that makes none for 30 s."""
SOON = 0.1
"""This share of that time suffices where the CPU time is used up: a guest that executes `pause` hardly advances its
clock."""


def clock_cost_s(length: Length) -> float:
    """Seconds for a cell in real time."""
    alone_s = length.alone_s + RESTART_S if length.alone_s else 0.0
    return length.clock_s + OVERHEAD_S + alone_s


def cell_cost_s(cell: Cell) -> float:
    """CPU seconds of the host for a cell."""
    return _before_s(cell) + cell.length.clock_s * _measured_second_s(cell)


def _before_s(cell: Cell) -> float:
    """CPU seconds for all but the measured time."""
    length = cell.length
    around_s = CELL_S + sum(BEFORE_S.get(spec_name(word), 0.0) for word in _loads(cell))
    if length.alone_s:
        around_s += sum(_late_s(word) for word in _loads(cell))
    guest = _guest(cell)
    alone_second_s = _alone_second_s(cell) * guest.mips / MOST_MIPS
    if guest.cpus > 1:
        around_s += guest.cpus * (START_CPU_S + START_VIRTUAL_CPU_S * _busy_s(guest))
        around_s += START_LOAD_VIRTUAL_S * alone_second_s
    return around_s + length.alone_s * (alone_second_s + _busy_s(guest))


def _measured_second_s(cell: Cell) -> float:
    guest = _guest(cell)
    return _second_s(cell, guest.mips / MOST_MIPS) + _busy_s(guest)


def _busy_s(guest: GuestCpus) -> float:
    """CPU seconds for a virtual second in which several CPUs are kept busy."""
    if guest.cpus == 1:
        return 0.0
    return SPIN_S * guest.mips / MOST_MIPS + EXPIRY_S * 1e9 / guest.interval_ns


def limit_s(cell: Cell) -> float:
    """The CPU time without a result after which a guest with this cell counts as stuck."""
    between_s = LIMIT_PER_S * _between_s(cell) + LIMIT_ROW_S * cell.length.rows
    return LIMIT_S + between_s + LIMIT_CARDS * _cards_s(cell)


def start_limit_s(cell: Cell, factor: float = 1.0) -> float:
    """In addition, until the first result. `factor`: how many times more such a cell takes on this host than the
    model says."""
    length = cell.length
    before_s = _before_s(cell) + sum(GROUP_S * _groups(word) for word in _loads(cell))
    cards_s = LIMIT_CARDS * _cards_s(cell) * length.alone_most_s
    return LIMIT_BEFORE * max(1.0, factor) * before_s + LIMIT_PER_S * length.alone_most_s + cards_s


def virtual_limit_s(cell: Cell) -> float:
    """The time by the guest's own clock without a result after which a cell counts as stuck."""
    executing_s = VIRTUAL_S + VIRTUAL_ROW_S * cell.length.rows
    if not cell.labels.get("period"):
        executing_s = max(executing_s, VIRTUAL_POINTS_S)
    return VIRTUAL_PER_S * _between_s(cell) + executing_s * _guest(cell).slower


def start_virtual_limit_s(cell: Cell) -> float:
    """In addition, until the first result."""
    groups_s = VIRTUAL_PER_GROUP_S * sum(_groups(word) for word in _loads(cell))
    return VIRTUAL_PER_S * cell.length.alone_most_s + groups_s * _guest(cell).slower


def _between_s(cell: Cell) -> float:
    """Virtual seconds between two results, where that is known to be long: a starved one makes
    no result before the end of the cell."""
    starves = cell.starvation_expected or any(map(_REAL_TIME.search, _loads(cell)))
    words = [cell.labels.get("period", ""), *(spell(cell.parameters.get(name, "")) for name in _BETWEEN)]
    found = [cell.length.measuring_s if starves else 0.0]
    for word in words:
        with suppress(ValueError, UsageError):
            found.append(parse_duration_ns(word) / 1e9)
    return max(found)


def _guest(cell: Cell) -> GuestCpus:
    return GuestCpus.parse(cell.labels.get(GUEST, ""))


def _second_s(cell: Cell, speed: float) -> float:
    """CPU seconds for one virtual second in which this cell is measured, by a guest of this part of the usual
    speed."""
    period = cell.labels.get("period", "")
    if not period or cell.labels.get("timer", "").startswith("spin"):
        # It never sleeps: a test of data points, or one that watches for gaps.
        return max(_wanted_s(cell), BUSY_S * _several(cell, 1)) * speed
    return _alone_second_s(cell) * speed + ACTIVATION_S * 1e9 / max(1, parse_duration_ns(period))


def _alone_second_s(cell: Cell) -> float:
    """CPU seconds for one virtual second of this cell's loads, without a measurement."""
    return min(_wanted_s(cell), max(LOADS_S.values()) * _several(cell, _guest(cell).cpus)) + _cards_s(cell)


def _cards_s(cell: Cell) -> float:
    """CPU seconds for one virtual second of packets through emulated cards."""
    through = (word for word in _loads(cell) if spec_options(word).get("card", "none") != "none")
    return CARD_PACKET_S * sum(_packets(word) for word in through)


def _packets(word: str) -> float:
    """Packets that a load sends in a second; those of a flood where its target is no number."""
    target = word.split(",")[0].partition(":")[2]
    return min(float(target), CARD_FLOOD) if target.isdecimal() else CARD_FLOOD


def _wanted_s(cell: Cell) -> float:
    return sum(_load_s(word) * _several(cell, _cpus_of(word, _guest(cell).cpus)) for word in _loads(cell))


def _several(cell: Cell, used: int) -> float:
    """How many times more than with one CPU it costs to use this number of the guest's CPUs, each at its part of the
    speed."""
    guest = _guest(cell)
    if guest.cpus == 1:
        return 1.0
    return (SEVERAL + SEVERAL_EXPIRY_S * 1e9 / guest.interval_ns) * used / guest.cpus


def _cpus_of(word: str, cpus: int) -> int:
    where = spec_options(word).get("cpus", "all")
    named = {"all": cpus, "same": 1, "other": max(cpus - 1, 1)}
    with suppress(ValueError):
        return named.get(where) or len(parse_cpus(where))
    return cpus


def _loads(cell: Cell) -> tuple[str, ...]:
    loads = cell.parameters.get("load", ())
    return loads if isinstance(loads, tuple) else (spell(loads),)


def _late_s(word: str) -> float:
    groups = _groups(word)
    return AGAIN_S + GROUP_S * groups if groups else 0.0


def _groups(word: str) -> int:
    """The number of hackbench groups of a load; 0 for another load."""
    name, _, target = word.split(",")[0].partition(":")
    if name != "hackbench":
        return 0
    with suppress(ValueError):
        return int(target or GROUPS)
    return GROUPS


def _load_s(word: str) -> float:
    name, _, target = word.split(",")[0].partition(":")
    full = LOADS_S.get(f"{name}:{target}", LOADS_S.get(name, BUSY_S))
    with suppress(ValueError):
        return full * min(1.0, float(target) / 100) if name in SHARES and target else full
    return full


def kind_of(cell: Cell) -> str:
    """Cells of one kind have the same cost for a virtual second, including the error of the model."""
    guest = f" {cell.labels[GUEST]}" if GUEST in cell.labels else ""
    return f"{cell.test} {spell(cell.parameters.get('load', ())) or 'none'}{guest}"


def makespan(costs: Iterable[float], lanes: int, begun: Iterable[float] = ()) -> float:
    """The time until all cells are done in this many lanes, each cell in the lane that is free first.
    `begun`: the remaining times of running cells."""
    ends = sorted(begun)[-lanes:]
    ends += [0.0] * (lanes - len(ends))
    for cost in costs:
        at = ends.index(min(ends))
        ends[at] += cost
    return max(ends)
