"""Cells that ask for a CPU which the machine does not have: they are told of with the plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from howlate.model.facts import Facts, format_cpus
from howlate.model.facts import parse_cpus as parse_facts
from howlate.model.plan import Cell, Plan
from howlate.model.study import spell
from howlate.model.units import parse_cpus


def marked(plan: Plan, facts: Facts) -> Plan:
    """The plan of a machine of these facts; unchanged where they do not say which CPUs are online."""
    online = parse_facts(facts.text("cpu.online") or "")
    if not online:
        return plan
    return replace(plan, cells=tuple(_marked(cell, online) for cell in plan.cells))


def _marked(cell: Cell, online: Iterable[int]) -> Cell:
    absent = sorted({cpu for name in ("cpus", "cpu") for cpu in _named(cell, name)} - set(online))
    if cell.impossible or not absent:
        return cell
    has = format_cpus(set(online))
    one = f"CPU {absent[0]} is" if len(absent) == 1 else f"the CPUs {format_cpus(set(absent))} are"
    return replace(cell, impossible=f"{one} not there: this machine has {has}; choose --cpus from {has}")


def _named(cell: Cell, name: str) -> tuple[int, ...]:
    try:
        return parse_cpus(spell(cell.parameters.get(name, "")))
    except ValueError:  # a word: all, same, other
        return ()
