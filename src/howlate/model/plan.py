"""A plan: the cells of a study's matrix, in the order in which they are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from howlate.errors import DamagedError, HowlateError
from howlate.model.decode import Table, kind_of
from howlate.model.study import Value


@dataclass(frozen=True)
class Cell:
    """One point of the matrix, once."""

    id: str
    """Its folder's name: a slug of what differs between cells, a hash of test and parameters, repetition."""
    test: str
    parameters: Mapping[str, Value]
    """The probe's options, canonical: `load` is always a tuple (empty for none)."""
    labels: Mapping[str, str]
    """What tables and charts call it: every axis; load, period, policy, timer, cpu where known."""
    repetition: int
    """From 1."""
    expected_s: float
    impossible: str = ""
    """Why the target cannot measure it; empty if it can."""
    machine: str = ""
    """Which of its target's machines measures it: a kernel's label in the lab, empty elsewhere."""
    starvation_expected: bool = False
    """The study says that what is measured may starve its load."""

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "test": self.test,
            "parameters": {k: list(v) if isinstance(v, tuple) else v for k, v in self.parameters.items()},
            "labels": dict(self.labels),
            "repetition": self.repetition,
            "expected_s": self.expected_s,
            "impossible": self.impossible,
            "machine": self.machine,
            **({"starvation_expected": True} if self.starvation_expected else {}),
        }

    @classmethod
    def from_json(cls, table: Table) -> Cell:
        labels = table.mapping("labels", required=True)
        return cls(
            table.text("id"),
            table.text("test"),
            {k: _value(v, table, k) for k, v in table.mapping("parameters", required=True).items()},
            {k: str(v) for k, v in labels.items()},
            table.integer("repetition"),
            table.real("expected_s"),
            table.text("impossible", ""),
            table.text("machine", ""),
            table.boolean("starvation_expected", False),
        )


@dataclass(frozen=True)
class Length:
    """How long a cell takes by the clock of the machine that measures it, without the work around it."""

    measuring_s: float
    alone_s: float = 0.0
    """Before that the probe runs the loads with nothing measured beside them, at least so long; 0: it does not."""
    alone_most_s: float = 0.0
    """And at most so long."""

    @property
    def most_s(self) -> float:
        return self.measuring_s + self.alone_most_s


@dataclass(frozen=True)
class Plan:
    """All cells, in order."""

    cells: tuple[Cell, ...]

    @property
    def expected_s(self) -> float:
        """How long measuring is expected to take, of cells that are possible."""
        return sum(c.expected_s for c in self.cells if not c.impossible)

    def to_json(self) -> dict[str, Any]:
        return {"cells": [c.to_json() for c in self.cells]}

    @classmethod
    def from_json(cls, value: dict[str, Any], file: str, error: type[HowlateError] = DamagedError) -> Plan:
        return cls(
            tuple(Cell.from_json(t) for t in Table(value, file, "plan", error).tables("cells", required=True))
        )


def _value(value: object, table: Table, name: str) -> Value:
    if isinstance(value, str | bool):
        return value
    if isinstance(value, list):
        return tuple(str(v) for v in value)
    raise table.fail(f'the parameter "{name}" cannot be {kind_of(value)}')
