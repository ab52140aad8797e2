"""Checks, by the head of its stream (docs/stream.md), whether a measurement is the one that a cell of a plan
asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from howlate.model.plan import Cell
from howlate.model.study import Value, spell
from howlate.model.units import parse_cpus, parse_duration_ns
from howlate.plan.options import OURS, load_specs

ANY = None
UNRECORDED_CHOICES: Mapping[str, tuple[str, ...] | None] = {
    "cpus": ANY,
    "seed": ANY,
    "policy": ("other", "rr:80"),
    "record": ("memory",),
    "duration": ("10s",),
    "via": ("vdso",),
    "source": ("hwlat", "spin"),
}
"""Options that the probe chose itself up to howlate 0.1, whose streams do not say which options were given
(`given`)."""
_SEVERAL = ("load", "knob")
_UNPINNED = "unpinned"


def deviation(cell: Cell, header: Mapping[str, Any], defaults: Mapping[str, str]) -> str:
    """How the measurement differs from what the cell asks for: "period 2ms instead of 1ms"; "" if it does
    not. `header`: the stream's. `defaults`: the known defaults of the test's options."""
    test, parameters, given = header.get("test"), header.get("parameters"), header.get("given")
    if test != cell.test:
        return f"the test {test} instead of {cell.test}"
    parameters = parameters if isinstance(parameters, dict) else {}
    in_force = {name: _value(name, value) for name, value in parameters.items() if name not in OURS}
    asked = {name: _value(name, value) for name, value in cell.parameters.items() if name not in OURS}
    differ = [
        _difference(name, in_force.get(name), value)
        for name, value in asked.items()
        if not _equal(name, value, in_force.get(name))
    ]
    differ += [
        _difference(name, value, defaults.get(name))
        for name, value in in_force.items()
        if name not in asked
        and (given is None or name in given)
        and not _is_default(name, value, defaults, told=given is not None)
    ]
    return "; ".join(differ)


def identity(header: Mapping[str, Any]) -> tuple[str, ...]:
    """What two measurements never have in common: boot, first release, test and parameters, from a stream's
    head."""
    parameters = header.get("parameters")
    told = parameters if isinstance(parameters, dict) else {}
    options = {name: value for name, value in told.items() if name not in OURS}
    instant = (str(header.get(name, "")) for name in ("boot_id", "t0_ns", "test"))
    return (*instant, json.dumps(options, sort_keys=True))


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
    if name == "cpus":  # the machine decides about a policy without pinning, and about "all"
        return asked == "all" or in_force.startswith(_UNPINNED) or _same(parse_cpus, asked, in_force)
    return _same(parse_duration_ns, asked, in_force)


def _same(parse: Any, asked: str, in_force: str) -> bool:
    try:
        return bool(parse(asked) == parse(in_force))
    except ValueError:
        return False


def _is_default(name: str, value: Value, defaults: Mapping[str, str], *, told: bool) -> bool:
    """Whether the probe uses this value if it is given none; True if that is not known. `told`: the value is
    known to have been given."""
    if name in _SEVERAL or isinstance(value, bool):
        return value in (False, ())
    if not told and name in UNRECORDED_CHOICES:
        chosen = UNRECORDED_CHOICES[name]
        if chosen is ANY or value in chosen:
            return True
    return name not in defaults or _equal(name, defaults[name], value)


def _difference(name: str, in_force: Value | None, asked: Value | None) -> str:
    there = "none" if in_force in (None, "", ()) else spell(in_force if in_force is not None else "")
    wanted = "none" if asked in (None, "", ()) else spell(asked if asked is not None else "")
    if asked is None and isinstance(in_force, bool):
        wanted = spell(value=False)
    return f"{name} {there} instead of {wanted}"
