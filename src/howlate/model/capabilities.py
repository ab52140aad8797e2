"""What a target's probe can do: `howlate-probe list --json`, decoded. There is no second list in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from howlate.errors import TargetError
from howlate.model.decode import Table


@dataclass(frozen=True)
class Parameter:
    """An option of a test or load."""

    name: str
    type: str
    default: str
    unit: str
    choices: tuple[str, ...]
    help: str
    repeated: bool
    scales: bool = False
    """How much is measured: `--scale` multiplies it. What a data point is made of does not scale."""


@dataclass(frozen=True)
class PointTerm:
    """A part of what a data point takes: `factor` nanoseconds by the values of its options."""

    factor: float
    options: tuple[str, ...] = ()
    where: str = ""
    has_value: str = ""
    """It holds only where the option `where` has this value; always where that is empty."""


@dataclass(frozen=True)
class Need:
    """Something beside the probe that a test can use: always, or where an option of it has this value."""

    name: str
    option: str = ""
    value: str = ""


@dataclass(frozen=True)
class TestKind:
    """A latency test."""

    name: str
    summary: str
    needs: str
    params: tuple[Parameter, ...]
    modules: tuple[Need, ...] = ()
    """Of the kernel, or of kmod/."""
    columns: tuple[tuple[str, str], ...] = ()
    """Name and type of what it stores a row."""
    point_ns: tuple[PointTerm, ...] = ()
    """How long a data point takes, roughly, by its options; empty where the probe does not say."""

    devices: tuple[Need, ...] = ()
    """Of a virtual machine, by QEMU's names."""

    def used(self, needs: tuple[Need, ...], parameters: Mapping[str, object]) -> tuple[str, ...]:
        """The names of those that are of use with these options."""
        given = {p.name: p.default for p in self.params} | {k: str(v) for k, v in parameters.items()}
        return tuple(n.name for n in needs if not n.option or given.get(n.option) == n.value)

    @property
    def counts(self) -> dict[str, str]:
        """What says how much is measured, with its default."""
        return {p.name: p.default for p in self.params if p.scales}

    @property
    def row_bytes(self) -> int:
        """Of a row in the stream, with its share of the framing."""
        return sum({"i64": 8, "i32": 4, "u8": 1}.get(kind, 8) for _, kind in self.columns) + 2


@dataclass(frozen=True)
class TimerKind:
    """A way to sleep until a release."""

    name: str
    summary: str
    dither: bool
    late_policies: tuple[str, ...]
    windows: bool
    available: bool
    reason: str


@dataclass(frozen=True)
class Deed:
    """What a load does to the machine again and again: an fsync, a cycle of work and sleep."""

    name: str = ""
    wanted: int = 0
    """A cell that has no room for so many is hardly under the load."""
    length_ns: int = 0
    """About how long one takes; where the target is a rate, only of a target in `alone`, with the default of `units`.
    0 where nothing tells."""
    units: str = ""
    """Where the target is a rate: the option that holds the units of one; empty for one unit."""
    sleeping: bool = False
    """A turn of work and sleep: at a target of 100 % there is none."""


@dataclass(frozen=True)
class LoadKind:
    """A load; `target` is the word after the colon."""

    name: str
    summary: str
    unit: str
    target: Parameter
    params: tuple[Parameter, ...]
    held: bool = False
    """Its target is a share of the CPUs given, in per cent."""
    alone: tuple[str, ...] = ()
    """Targets that ask for as much as the machine gives, "*" for every one: such a load is held against itself, with
    nothing measured beside it."""
    alone_ns: int = 0
    """For so long at least, if that is longer than for every load."""
    deed: Deed = Deed()


@dataclass(frozen=True)
class KnobKind:
    """One setting of the machine."""

    name: str
    summary: str
    values: str
    available: bool
    reason: str


@dataclass(frozen=True)
class Capabilities:
    """Everything that the probe there can do."""

    probe: str
    tests: tuple[TestKind, ...]
    timers: tuple[TimerKind, ...]
    loads: tuple[LoadKind, ...]
    knobs: tuple[KnobKind, ...]
    common: tuple[Parameter, ...]
    load_common: tuple[Parameter, ...] = ()
    """Options of every load."""

    def takes(self, test: str, name: str) -> bool:
        """Whether the test of that name (if there is one) has such an option."""
        own = (p for kind in self.tests if kind.name == test for p in kind.params)
        return any(p.name == name for p in (*self.common, *own))

    @classmethod
    def from_json(cls, value: dict[str, Any], file: str = "howlate-probe list --json") -> Capabilities:
        """Lenient to additions (the schema grows by them), strict about what it uses."""
        table = Table(value, file, "", TargetError)
        return cls(
            table.text("probe"),
            tuple(_test(t) for t in table.tables("tests", required=True)),
            tuple(_timer(t) for t in table.tables("timers")),
            tuple(_load(t) for t in table.tables("loads")),
            tuple(_knob(t) for t in table.tables("knobs")),
            _params(table, "common"),
            _params(table, "load_common"),
        )


def _test(table: Table) -> TestKind:
    return TestKind(
        table.text("name"),
        table.text("summary", ""),
        table.text("needs", ""),
        _params(table, "params"),
        _needs(table, "modules"),
        tuple((c.text("name"), c.text("type", "i64")) for c in table.tables("columns")),
        _point_ns(table),
        _needs(table, "devices"),
    )


def _point_ns(table: Table) -> tuple[PointTerm, ...]:
    return tuple(
        PointTerm(
            term.real("factor"),
            tuple(str(option) for option in term.items("options")),
            term.text("where", ""),
            term.text("has_value", ""),
        )
        for term in table.tables("point_ns")
    )


def _needs(table: Table, name: str) -> tuple[Need, ...]:
    return tuple(Need(t.text("name"), t.text("option", ""), t.text("value", "")) for t in table.tables(name))


def _timer(table: Table) -> TimerKind:
    policies = tuple(str(p) for p in table.items("late_policies"))
    return TimerKind(
        table.text("name"),
        table.text("summary", ""),
        table.boolean("dither", False),
        policies,
        table.boolean("windows", False),
        table.boolean("available", True),
        table.text("reason", ""),
    )


def _load(table: Table) -> LoadKind:
    return LoadKind(
        table.text("name"),
        table.text("summary", ""),
        table.text("unit", ""),
        _param(table.table("target")),
        _params(table, "params"),
        table.boolean("held", False),
        tuple(str(word) for word in table.items("alone")),
        table.integer("alone_ns", 0),
        _deed(table.table("deed")),
    )


def _deed(table: Table) -> Deed:
    return Deed(
        table.text("name", ""),
        table.integer("wanted", 0),
        table.integer("length_ns", 0),
        table.text("units", ""),
        table.boolean("sleeping", False),
    )


def _knob(table: Table) -> KnobKind:
    return KnobKind(
        table.text("name"),
        table.text("summary", ""),
        table.text("values", ""),
        table.boolean("available", True),
        table.text("reason", ""),
    )


def _param(table: Table) -> Parameter:
    return Parameter(
        table.text("name", ""),
        table.text("type", "text"),
        table.text("default", ""),
        table.text("unit", ""),
        tuple(str(c) for c in table.items("choices")),
        table.text("help", ""),
        table.boolean("repeated", False),
        table.boolean("scales", False),
    )


def _params(table: Table, name: str) -> tuple[Parameter, ...]:
    return tuple(_param(t) for t in table.tables(name))
