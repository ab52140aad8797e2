"""How much of the host's time a cell takes in virtual time: the one model behind a plan's estimate, the time left,
and the limit of a guest that hangs.

A guest that executes takes a core of the host; one that idles goes to its next timer at once. So the cost of a
virtual second is that of its activations and of what its loads and its test execute (measured with QEMU 7.2 on one
host; `Costs` learns how much another host, kernel or load differs).
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from howlate.model.plan import Cell, Length
from howlate.model.study import spell
from howlate.model.units import parse_duration_ns

CELL_S = 0.5
"""Restoring a guest, and reading what it left."""
BOOT_S = 10.0
"""Booting and saving a guest."""
ACTIVATION_S = 80e-6
BUSY_S = 1.6
"""A virtual second of a program that computes."""
LOADS_S: Mapping[str, float] = {
    "none": 0.0,
    "cpu": 1.6,
    "memory-alloc": 2.3,
    "memory-access": 2.3,
    "memory-fault": 4.0,
    "hackbench": 11.7,
    "network": 0.5,
    "disk": 1.0,
}
"""A virtual second of each load at its full target."""
BEFORE_S: Mapping[str, float] = {"disk": 1.2}
"""Before a load can start: its modules and a file system. From a cell of 30 ms (bench/lab_costs.py)."""
ALONE_TOO_S: Mapping[str, float] = {"hackbench": 9.0}
"""Where the probe runs the load alone first, what that costs beside the stretch itself: among hackbench's tasks the
probe gets the CPU late (3 virtual seconds pass before the first release). From a cell of 30 ms as well."""
_SHARES = ("cpu", "memory-alloc", "memory-fault")
"""Loads whose target is a share of the CPU in per cent."""
LIMIT_S, LIMIT_PER_S = 30.0, 40.0
"""The CPU time that a guest may use: so much, and so much for each virtual second of its cell (up to 25 were
seen)."""
_LEARN = 0.5
_FORGET_S = 2.0
"""A cell that should take less says little: starting it takes as long."""


def cell_cost_s(cell: Cell, length: Length) -> float:
    """CPU seconds of the host for a cell that takes so long in the guest."""
    around_s = CELL_S + sum(BEFORE_S.get(_name(word), 0.0) for word in _loads(cell))
    if length.alone_s:
        around_s += sum(ALONE_TOO_S.get(_name(word), 0.0) for word in _loads(cell))
    return around_s + length.measuring_s * _second_s(cell) + length.alone_s * _alone_second_s(cell)


def limit_s(length: Length) -> float:
    """The CPU time after which a guest whose cell takes so long is stuck."""
    return LIMIT_S + LIMIT_PER_S * length.most_s


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


def _load_s(word: str) -> float:
    name, _, target = word.split(",")[0].partition(":")
    full = LOADS_S.get(name, BUSY_S)
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


@dataclass
class Costs:
    """What this host was seen to take, as factors of the model: by kind of cell, and of all."""

    path: Path | None = None

    def __post_init__(self) -> None:
        self._hold = threading.Lock()
        self._factors: dict[str, float] = {}
        if self.path is not None:
            with suppress(OSError, ValueError, TypeError, AttributeError):
                found = json.loads(self.path.read_text(encoding="ascii"))
                self._factors = {str(k): float(v) for k, v in found["factors"].items() if 0.01 < v < 100}

    def of(self, cell: Cell) -> float:
        """The factor for this cell."""
        with self._hold:
            return self._factors.get(kind_of(cell), self._factors.get("*", 1.0))

    def learn(self, cell: Cell, model_s: float, used_s: float) -> None:
        """A cell took so long where the model says so long; both without what is the same for all."""
        if model_s < _FORGET_S or used_s <= 0:
            return  # too short to tell
        ratio = min(50.0, max(0.02, used_s / model_s))
        with self._hold:
            for name in (kind_of(cell), "*"):
                before = self._factors.get(name, ratio)
                self._factors[name] = math.exp((1 - _LEARN) * math.log(before) + _LEARN * math.log(ratio))
            self._keep()

    def _keep(self) -> None:
        if self.path is None:
            return
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with suppress(OSError):  # an estimate is worth no error
            self.path.parent.mkdir(parents=True, exist_ok=True)
            rounded = {name: round(value, 4) for name, value in sorted(self._factors.items())}
            beside.write_text(json.dumps({"schema": 1, "factors": rounded}) + "\n", encoding="ascii")
            beside.replace(self.path)
