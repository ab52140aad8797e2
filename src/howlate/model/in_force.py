"""What was in force while a cell was measured, as the stream's header says (docs/stream.md). What it does not say, or
says in another way, is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

WITHOUT_SLACK = frozenset(("timerfd", "epoll_timerfd", "timer_create", "setitimer", "io_uring", "spin"))
"""Ways to sleep whose timer is an object of its own, to which the kernel adds no slack (docs/timers.md)."""


def timer_slack_ns(header: Mapping[str, Any]) -> int:
    """The largest of the measuring threads, for the way in which they sleep; 0 if nobody knows."""
    parameters = header.get("parameters")
    if isinstance(parameters, dict) and parameters.get("timer") in WITHOUT_SLACK:
        return 0
    in_force = header.get("in_force")
    threads = in_force.get("threads") if isinstance(in_force, dict) else None
    slacks_ns = [each.get("timer_slack_ns") for each in _tables(threads)]
    return max((slack_ns for slack_ns in slacks_ns if isinstance(slack_ns, int)), default=0)


def knobs_in_force(header: Mapping[str, Any]) -> tuple[str, ...]:
    """The knobs that the probe had set, as its option spells them."""
    in_force = header.get("in_force")
    knobs = _tables(in_force.get("knobs")) if isinstance(in_force, dict) else []
    return tuple(f"{knob.get('name')}={knob.get('wanted')}" for knob in knobs)


def measuring_cpus(header: Mapping[str, Any]) -> dict[int, int]:
    """The CPU of each measuring thread that has one of its own."""
    found: dict[int, int] = {}
    for table in _tables(header.get("tables")):
        thread, cpu = table.get("thread") or 0, table.get("cpu")
        if table.get("name") == "samples" and isinstance(thread, int) and isinstance(cpu, int) and cpu >= 0:
            found.setdefault(thread, cpu)
    return found


def _tables(value: object) -> Iterator[Mapping[str, Any]]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())
