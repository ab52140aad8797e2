"""The preemption model of a kernel, determined by its properties and not by its name: none, voluntary, full,
lazy, rt, or the real-time core next to Linux: cobalt, evl."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from howlate.model.facts import Facts

CORES = {"cobalt": "cobalt.version", "evl": "evl.abi"}
"""Real-time cores next to Linux, and the fact that only a kernel with a running one has."""
OFF = ("disabled", "stopped")
"""States of a core that does not run. The files of a stopped core are there."""
PREEMPT_MODE = "kernel.preempt_mode"
"""The fact that has the mode of a kernel with PREEMPT_DYNAMIC."""
NAMED = ("rt", *CORES)
"""Models that no `preempt=` selects."""
MODELS = ("none", "voluntary", "full", "lazy", *NAMED)


def preemption_of(
    captured: Mapping[str, Any], config: Mapping[str, str] | None = None, knobs: Sequence[str] = ()
) -> str:
    """The model; "" if nothing tells, or if it is not known whether a core runs. `config`: the kernel's options if
    the facts lack them (a guest's). `knobs`: those in force in a cell, "preemption=full" among them or not."""
    if captured.get("facts") != 1:
        return ""
    facts = Facts.from_json(dict(captured))
    if config and facts.mapping("kernel.config") is None:
        facts = replace(facts, values={**facts.values, "kernel.config": dict(config)})
    core = core_of(facts)
    if core or unread_core(facts):
        return core
    if is_rt_kernel(facts):
        return "rt"
    chosen = next(
        (value for name, _, value in (knob.partition("=") for knob in knobs) if name == "preemption"), ""
    )
    mode = (chosen, "a knob") if chosen else preempt_mode(facts)
    return mode[0] if mode is not None and mode[0] in MODELS else ""


def spelt(model: str) -> str:
    """The spelling of the kernel's command line, so that "none" is not taken for a load; a model that no
    parameter selects is unchanged."""
    return model if model in NAMED else f"preempt={model}"


def core_of(facts: Facts) -> str:
    """The real-time core next to this Linux, which is known to run; "" without one. The config only says that it
    could."""
    states = ((core, facts.text(f"{core}.state")) for core in _in_kernel(facts))
    return next((core for core, state in states if state is not None and state not in OFF), "")


def unread_core(facts: Facts) -> str:
    """The fact that would tell whether the kernel's core runs, if it could not be read; "" if every core's is known,
    or another core is known to run."""
    unread = (f"{core}.state" for core in _in_kernel(facts) if facts.text(f"{core}.state") is None)
    return "" if core_of(facts) else next(unread, "")


def _in_kernel(facts: Facts) -> list[str]:
    return [core for core, fact in CORES.items() if facts.text(fact) is not None]


def is_rt_kernel(facts: Facts) -> bool | None:
    """PREEMPT_RT, from whatever tells."""
    version = facts.text("kernel.version")
    if facts.integer("kernel.realtime") == 1 or "y" in (
        facts.config("PREEMPT_RT"),
        facts.config("PREEMPT_RT_FULL"),
    ):
        return True
    if version is not None:
        return "PREEMPT_RT" in version or "PREEMPT RT" in version
    return False if facts.config("PREEMPT_RT") == "n" else None


def kernel_version(facts: Facts) -> tuple[int, int] | None:
    release = re.match(r"(\d+)\.(\d+)", facts.text("kernel.release") or "")
    return (int(release[1]), int(release[2])) if release else None


def preempt_mode(facts: Facts) -> tuple[str, str] | None:
    """none, voluntary, full or lazy, and the source of that answer."""
    marked = re.search(r"\((\w+)\)", facts.text(PREEMPT_MODE) or "")
    if marked:
        return marked[1], "debugfs"
    asked = facts.parameter("preempt")
    if asked in ("none", "voluntary", "full", "lazy") and facts.config("PREEMPT_DYNAMIC") != "n":
        return asked, "the kernel's command line"
    for option, mode in (("NONE", "none"), ("VOLUNTARY", "voluntary"), ("LAZY", "lazy")):
        if facts.config(f"PREEMPT_{option}") == "y":
            return mode, "the kernel's configuration"
    if facts.config("PREEMPT") == "y":
        return "full", "the kernel's configuration"
    return None


def is_dynamic(facts: Facts) -> bool | None:
    """PREEMPT_DYNAMIC: the mode is chosen when the kernel starts, or while it runs."""
    if facts.config("PREEMPT_DYNAMIC") is not None:
        return facts.config("PREEMPT_DYNAMIC") == "y"
    version = facts.text("kernel.version")
    return None if version is None else "PREEMPT_DYNAMIC" in version
