"""The capabilities of a target's probe: `howlate-probe list --json`, decoded. There is no second list in
Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from howlate.errors import TargetError
from howlate.model.decode import decoded
from howlate.model.study import TIMER

MODE = "mode"
"""The label of where the activations of a cell are: in user space, or in the kernel. Linux's own timers are all of
user space; their cells say so where they stand beside those of a real-time core, or where a study compares both
kinds."""
USER, KERNEL_MODE = "user", "kernel"
MODES = (USER, KERNEL_MODE)


def with_mode(labels: Mapping[str, str]) -> dict[str, str]:
    """A cell's labels with its mode; those of a test without timers as they are."""
    return {**labels, **({MODE: labels.get(MODE, USER)} if TIMER in labels else {})}


class Parameter(Struct, frozen=True):
    """An option of a test or load."""

    name: str = ""
    type: str = "text"
    default: str = ""
    unit: str = ""
    choices: tuple[str, ...] = ()
    help: str = ""
    repeated: bool = False
    scales: bool = False
    """The parameter says how much is measured: `--scale` multiplies it. The composition of a data point does
    not scale."""


class Need(Struct, frozen=True):
    """Something besides the probe that a test or a load can use: always, or if one of its options has this
    value."""

    name: str
    option: str = ""
    value: str = ""
    parameters: str = ""
    """Parameters of a module, separated by spaces."""


class StoredColumn(Struct, frozen=True):
    """A column of the samples that a test stores."""

    name: str


class TestKind(Struct, frozen=True):
    """A latency test."""

    name: str
    summary: str = ""
    needs: str = ""
    params: tuple[Parameter, ...] = ()
    modules: tuple[Need, ...] = ()
    """Modules of the kernel, or of kmod/."""
    columns: tuple[StoredColumn, ...] = ()
    devices: tuple[Need, ...] = ()
    """Devices of a virtual machine, by QEMU's names."""

    def used(self, needs: tuple[Need, ...], parameters: Mapping[str, object]) -> tuple[Need, ...]:
        return _used(self.params, needs, parameters)

    @property
    def counts(self) -> dict[str, str]:
        """The parameters that say how much is measured, with their defaults."""
        return {p.name: p.default for p in self.params if p.scales}


class TimerKind(Struct, frozen=True):
    """A way to sleep until a release."""

    name: str
    summary: str = ""
    available: bool = True
    reason: str = ""
    core: str = ""
    """The real-time core next to Linux whose calls it makes; "" for Linux itself."""
    in_kernel: bool = False
    """The activations run in the kernel."""

    @property
    def mode(self) -> str:
        """Where the activations of a core's timer run, which every table of them shows; "" for Linux itself."""
        return "" if not self.core else KERNEL_MODE if self.in_kernel else USER


class LoadKind(Struct, frozen=True):
    """A load; `target` is the word after the colon."""

    name: str
    summary: str = ""
    unit: str = ""
    target: Parameter = Parameter()
    params: tuple[Parameter, ...] = ()
    modules: tuple[Need, ...] = ()
    """Modules of the kernel that the lab gives to a guest."""
    config: tuple[Need, ...] = ()
    """Options of the kernel that the load needs, without CONFIG_."""
    devices: tuple[Need, ...] = ()
    """Devices of a virtual machine, by QEMU's names."""
    disks: tuple[Need, ...] = ()
    """Block devices that exist once the modules are loaded: the guest gets a file system on the one that is
    used, where the load writes."""

    def used(self, needs: tuple[Need, ...], spec: str) -> tuple[Need, ...]:
        """The needs that a load uses as it is written: NAME[:TARGET][,option=value...]."""
        return _used(self.params, needs, spec_options(spec))


class KnobKind(Struct, frozen=True):
    """One setting of the machine."""

    name: str
    summary: str = ""
    values: str = ""
    available: bool = True
    reason: str = ""


class Capabilities(Struct, frozen=True):
    """Everything that the probe there can do."""

    probe: str
    tests: tuple[TestKind, ...]
    timers: tuple[TimerKind, ...] = ()
    loads: tuple[LoadKind, ...] = ()
    knobs: tuple[KnobKind, ...] = ()
    common: tuple[Parameter, ...] = ()
    load_common: tuple[Parameter, ...] = ()
    """Options of every load."""

    def takes(self, test: str, name: str) -> bool:
        own = (p for kind in self.tests if kind.name == test for p in kind.params)
        return any(p.name == name for p in (*self.common, *own))

    @classmethod
    def from_json(cls, value: dict[str, Any], file: str = "howlate-probe list --json") -> Capabilities:
        """Lenient to additions (the schema grows by them), strict about what it uses."""
        return decoded(cls, value, file, TargetError)


def spec_name(spec: str) -> str:
    """The name of a load as it is written."""
    return spec.split(",")[0].partition(":")[0]


def spec_options(spec: str) -> dict[str, str]:
    """The options of a load as it is written. A piece without "=" goes on with the list before it (cpus=0,2)."""
    options: dict[str, str] = {}
    for piece in spec.split(",")[1:]:
        name, is_one, value = piece.partition("=")
        if is_one:
            options[name] = value
        elif options:
            options[next(reversed(options))] += f",{piece}"
    return options


def _used(
    params: tuple[Parameter, ...], needs: tuple[Need, ...], given: Mapping[str, object]
) -> tuple[Need, ...]:
    values = {p.name: p.default for p in params} | {name: str(value) for name, value in given.items()}
    return tuple(need for need in needs if not need.option or values.get(need.option) == need.value)
