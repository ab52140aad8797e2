"""How much of the host's time a cell takes in virtual time: the one model behind a plan's estimate, the time left,
and the limit of a guest that hangs.

A guest that executes takes a core of the host; one that idles goes to its next timer at once. So the cost of a
virtual second is that of its activations and of what its loads and its test execute (measured with QEMU 7.2 on one
host; lab/cost.py learns how much another host, kernel or load differs).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress

from howlate.model.plan import Cell, Length
from howlate.model.study import spell
from howlate.model.units import parse_duration_ns

CELL_S = 0.5
"""Restoring a guest, and reading what it left."""
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
    "disk": 1.0,
    "disk:max": 3.3,
}
"""A virtual second of each load at its full target, or at the target named."""
BEFORE_S: Mapping[str, float] = {"disk": 1.2}
"""Before a load can start: its modules and a file system."""
GROUP_S, GROUPS, AGAIN_S = 1.0, 10, 4.5
"""Where the probe runs hackbench alone first, what each of its groups (10 by default) and the second start cost
beside the stretch of the plan: the loads run until their rate is known, and the probe gets the CPU late among their
tasks. Fitted to five cells of bench/lab_costs.py on a quiet host, 3, 10 and 20 groups, 0.03 to 5 s; off by 12 % at
most."""
_SHARES = ("cpu", "memory-alloc", "memory-fault")
"""Loads whose target is a share of the CPU in per cent."""
LIMIT_S, LIMIT_PER_S = 30.0, 40.0
"""The CPU time that a guest may use: so much, and so much for each virtual second of its cell (up to 25 were
seen)."""
VIRTUAL_S, VIRTUAL_PER_S, VIRTUAL_PER_GROUP_S = 10.0, 3.0, 1.0
"""The time by its own clock that a guest may take: so much, so much for each second of its cell, so much for each
group of hackbench (the tasks of ten take 3 s to start),"""
ANSWER_S, FAIR_ANSWER_S = 0.025, 1.0
"""and so much for each activation, of a real-time task and of another: a late activation is followed by one that is
due later. A kernel whose timers follow its tick answers each 10 ms; one task of some hundred has its turn after a
second."""


def cell_cost_s(cell: Cell, length: Length) -> float:
    """CPU seconds of the host for a cell that takes so long in the guest."""
    around_s = CELL_S + sum(BEFORE_S.get(_name(word), 0.0) for word in _loads(cell))
    if length.alone_s:
        around_s += sum(_late_s(word) for word in _loads(cell))
    return around_s + length.measuring_s * _second_s(cell) + length.alone_s * _alone_second_s(cell)


def limit_s(length: Length) -> float:
    """The CPU time after which a guest whose cell takes so long is stuck."""
    return LIMIT_S + LIMIT_PER_S * length.most_s


def virtual_limit_s(cell: Cell, length: Length, rows: float) -> float:
    """The time by the guest's own clock after which a cell of so many activations or points is stuck; of one that
    ends with its duration `rows` is infinite."""
    policy = spell(cell.parameters.get("policy", ""))
    answer_s = ANSWER_S if policy.startswith(("fifo", "rr", "deadline")) else FAIR_ANSWER_S
    late_s = rows * answer_s if math.isfinite(rows) else 0.0
    groups = sum(_groups(word) for word in _loads(cell))
    return VIRTUAL_S + VIRTUAL_PER_S * length.most_s + VIRTUAL_PER_GROUP_S * groups + late_s


def _second_s(cell: Cell) -> float:
    """CPU seconds for one virtual second in which this cell is measured."""
    period = cell.labels.get("period", "")
    if not period or cell.labels.get("timer", "").startswith("spin"):
        return max(
            _wanted_s(cell), BUSY_S
        )  # it never sleeps: a test of data points, or one that watches for gaps
    return _alone_second_s(cell) + ACTIVATION_S * 1e9 / max(1, parse_duration_ns(period))


def _alone_second_s(cell: Cell) -> float:
    """CPU seconds for one virtual second of this cell's loads, with nothing measured beside them."""
    return min(_wanted_s(cell), max(LOADS_S.values()))


def _wanted_s(cell: Cell) -> float:
    return sum(_load_s(word) for word in _loads(cell))


def _loads(cell: Cell) -> tuple[str, ...]:
    loads = cell.parameters.get("load", ())
    return loads if isinstance(loads, tuple) else (spell(loads),)


def _name(load: str) -> str:
    return load.split(",")[0].partition(":")[0]


def _late_s(word: str) -> float:
    groups = _groups(word)
    return AGAIN_S + GROUP_S * groups if groups else 0.0


def _groups(word: str) -> int:
    """How many groups of hackbench a load has; 0 for another load."""
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
        return full * min(1.0, float(target) / 100) if name in _SHARES and target else full
    return full


def kind_of(cell: Cell) -> str:
    """Cells of one kind cost the same for a virtual second, as far as the model errs."""
    return f"{cell.test} {spell(cell.parameters.get('load', ())) or 'none'}"


def makespan(costs: Iterable[float], lanes: int, begun: Iterable[float] = ()) -> float:
    """How long it takes until all is done in so many lanes, each cell in the lane that is free first. `begun`: what
    still runs takes so long."""
    ends = sorted(begun)[-lanes:]
    ends += [0.0] * (lanes - len(ends))
    for cost in costs:
        at = ends.index(min(ends))
        ends[at] += cost
    return max(ends)
