"""The chains of calls of explained samples, for tools that draw them: collapsed stacks (flamegraph.pl, inferno), and
speedscope's own format, which keeps the order in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.model.cause import Lateness
from howlate.why.explained_cells import CellCase

_SPEEDSCOPE = "https://www.speedscope.app/file-format-schema.json"


def collapsed(found: Sequence[CellCase]) -> str:
    """A line for each chain, outermost function first, with its ns; of several samples each has a root of its own."""
    lines = []
    for each in found:
        root = [_name(each)] if len(found) > 1 else []
        for stack, ns in each.replayed.stacks:
            lines.append(f"{';'.join(_plain(name) for name in (*root, *stack))} {ns}\n")
    return "".join(lines)


def _name(one: CellCase) -> str:
    return f"{one.cell.id} release {one.case.case.release}"


def _plain(name: str) -> str:
    return name.replace(";", ":")


def speedscope(found: Sequence[CellCase]) -> dict[str, Any]:
    """A profile for each sample."""
    names = {name: None for each in found for stack, _ns in each.replayed.stacks for name in stack}
    places = {name: place for place, name in enumerate(names)}
    lines = {name: line for each in found for name, line in each.replayed.places.items()}
    return {
        "$schema": _SPEEDSCOPE,
        "exporter": "howlate",
        "shared": {"frames": [_frame(name, lines.get(name, "")) for name in names]},
        "profiles": [
            {
                "type": "evented",
                "name": _name(each),
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": each.replayed.latency_ns,
                "events": _events(each.replayed, places),
            }
            for each in found
        ],
    }


def _frame(name: str, place: str) -> dict[str, str | int]:
    file, _, line = place.rpartition(":")
    return {"name": name, "file": file, "line": int(line)} if place else {"name": name}


def _events(lateness: Lateness, places: dict[str, int]) -> list[dict[str, Any]]:
    """Functions that open and close; those that neighbours have in common stay open."""
    events: list[dict[str, Any]] = []
    now: tuple[str, ...] = ()
    for from_ns, _to_ns, stack in (*lateness.spans, (lateness.latency_ns, lateness.latency_ns, ())):
        shared = 0
        while shared < min(len(now), len(stack)) and now[shared] == stack[shared]:
            shared += 1
        events += [{"type": "C", "frame": places[name], "at": from_ns} for name in reversed(now[shared:])]
        events += [{"type": "O", "frame": places[name], "at": from_ns} for name in stack[shared:]]
        now = stack
    return events
