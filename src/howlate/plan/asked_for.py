"""Whether a measurement is the one that a cell of a plan asks for, by the head of its stream (docs/stream.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from howlate.model.plan import Cell
from howlate.model.study import Value, spell
from howlate.model.units import parse_cpus, parse_duration_ns
from howlate.plan.check import OURS, load_specs

ANY = None
CHOSEN: Mapping[str, tuple[str, ...] | None] = {
    "cpus": ANY,
    "seed": ANY,
    "policy": ("other", "rr:80"),
    "record": ("memory",),
    "duration": ("10s",),
    "via": ("vdso",),
    "source": ("hwlat", "spin"),
}
"""Options that the probe itself gives a value where its caller gave none, with the values that it chooses from."""
_SEVERAL = ("load", "knob")
_UNPINNED = "unpinned"


def other_than_asked(
    cell: Cell, test: str, parameters: Mapping[str, Any], defaults: Mapping[str, str]
) -> str:
    """What was measured otherwise than the cell asks: "period 2ms instead of 1ms"; "" where nothing was.
    `parameters`: those in force, of the stream's head. `defaults`: those of the test's options that are known."""
    if test != cell.test:
        return f"the test {test} instead of {cell.test}"
    in_force = {name: _value(name, value) for name, value in parameters.items() if name not in OURS}
    asked = {name: _value(name, value) for name, value in cell.parameters.items() if name not in OURS}
    differ = [
        _said(name, in_force.get(name), value)
        for name, value in asked.items()
        if not _equal(name, value, in_force.get(name))
    ]
    differ += [
        _said(name, value, defaults.get(name))
        for name, value in in_force.items()
        if name not in asked and not _is_default(name, value, defaults)
    ]
    return "; ".join(differ)


def identity(header: Mapping[str, Any]) -> tuple[str, ...]:
    """What two measurements never have in common: boot, first release, test and parameters, of a stream's head."""
    parameters = header.get("parameters")
    its = {n: v for n, v in parameters.items() if n not in OURS} if isinstance(parameters, dict) else {}
    told = (str(header.get(name, "")) for name in ("boot_id", "t0_ns", "test"))
    return (*told, json.dumps(its, sort_keys=True))


def _value(name: str, value: object) -> Value:
    if name == "load":
        return load_specs(tuple(map(str, value)) if isinstance(value, list | tuple) else str(value))
    if isinstance(value, list | tuple):
        return tuple(map(str, value))
    return value if isinstance(value, bool) else str(value)


def _equal(name: str, asked: Value, in_force: Value | None) -> bool:
    if in_force is None:
        return asked in (False, "", ())
    if asked == in_force:
        return True
    if not isinstance(asked, str) or not isinstance(in_force, str):
        return False
    if name == "cpus":  # a policy without pinning, and "all", are the machine's to say
        return asked == "all" or in_force.startswith(_UNPINNED) or _same(parse_cpus, asked, in_force)
    return _same(parse_duration_ns, asked, in_force)


def _same(parse: Any, one: str, other: str) -> bool:
    try:
        return bool(parse(one) == parse(other))
    except ValueError:
        return False


def _is_default(name: str, value: Value, defaults: Mapping[str, str]) -> bool:
    """Whether the probe does so where it is told nothing; True where that is not known."""
    if name in _SEVERAL or isinstance(value, bool):
        return value in (False, ())
    if name in CHOSEN:
        chosen = CHOSEN[name]
        if chosen is ANY or value in chosen:
            return True
    return name not in defaults or _equal(name, defaults[name], value)


def _said(name: str, in_force: Value | None, asked: Value | None) -> str:
    there = "none" if in_force in (None, "", ()) else spell(in_force if in_force is not None else "")
    wanted = "none" if asked in (None, "", ()) else spell(asked if asked is not None else "")
    if asked is None and isinstance(in_force, bool):
        wanted = spell(False)
    return f"{name} {there} instead of {wanted}"
