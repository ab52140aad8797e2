"""A plan: the cells of a study's matrix, in the order in which they are measured."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError, HowlateError
from howlate.model.decode import decoded, plain
from howlate.model.ranges import Count, Real
from howlate.model.study import Value
from howlate.words.printable import printable


class Length(Struct, frozen=True):
    """How long a cell takes by the clock of the machine that measures it, without the work around it, and how
    much it writes."""

    measuring_s: Real = 0.0
    alone_s: Real = 0.0
    """The minimum time for which the probe first runs the loads without a measurement; 0: not at
    all."""
    alone_most_s: Real = 0.0
    """The maximum of that time."""
    rows: Count = 0
    """Activations or data points after which the cell ends; 0: its duration ends it."""
    stream_bytes: Count = 0
    """The approximate upper bound of the cell's stream."""
    warm_up_s: Real = 0.0
    """Before the measurement, and not part of it."""

    @property
    def clock_s(self) -> float:
        """Its time by the clock of its machine, without that of the loads alone."""
        return self.warm_up_s + self.measuring_s

    @property
    def most_s(self) -> float:
        return self.clock_s + self.alone_most_s


class Cell(Struct, frozen=True):
    """One point of the matrix, once."""

    id: str
    """The name of the cell's folder: a slug of what differs between cells, a hash of test and parameters, the
    repetition."""
    test: str
    parameters: Mapping[str, Value]
    """The probe's options, canonical: `load` is always a tuple (empty for none)."""
    labels: Mapping[str, str]
    """The cell's labels in tables and charts: every axis; load, period, policy, timer, cpu if known."""
    repetition: Count
    """Counted from 1."""
    expected_s: Real
    impossible: str = ""
    """Why the target cannot measure the cell; empty if it can."""
    machine: str = ""
    """The machine of its target that measures it: a kernel's label in the lab, empty elsewhere."""
    starvation_expected: bool = False
    """The study says that the measurement may starve its load."""
    length: Length = Length()
    """According to the probe. Runs of older versions lack it."""

    @property
    def point(self) -> str:
        return point_of(self.id, self.repetition)

    def to_json(self) -> dict[str, Any]:
        starvation = {} if self.starvation_expected else {"starvation_expected"}
        return {name: value for name, value in plain(self).items() if name not in starvation}


def point_of(cell_id: str, repetition: Count) -> str:
    """A cell's id without its repetition: what its repetitions have in common."""
    return cell_id.removesuffix(f"-{repetition}")


class Plan(Struct, frozen=True):
    """All cells, in order."""

    cells: tuple[Cell, ...]

    @property
    def expected_s(self) -> float:
        return sum(c.expected_s for c in self.cells if not c.impossible)

    def unmeasured(self, there: Set[str]) -> tuple[str, ...]:
        """Ids of the cells that are not there, but those that are not possible on the machine."""
        return tuple(cell.id for cell in self.cells if not cell.impossible and cell.id not in there)

    def to_json(self) -> dict[str, Any]:
        return plain(self)

    @classmethod
    def from_json(cls, value: dict[str, Any], file: str, error: type[HowlateError] = DamagedError) -> Plan:
        plan = decoded(cls, value, f"{file}, plan", error)
        return replace(plan, cells=tuple(map(_printable, plan.cells)))


def _printable(cell: Cell) -> Cell:
    return replace(cell, labels={printable(name): printable(label) for name, label in cell.labels.items()})
