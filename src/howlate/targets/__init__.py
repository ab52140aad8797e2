"""Machines that measure. ONE FILE in this folder = ONE BACKEND with `SUMMARY` and `open_target(argument,
say, machines, options)`; the last two are the lab's.

`--target NAME[:ARGUMENT]` opens the backend of that name, which is found by listing the folder.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType

from howlate.errors import UsageError
from howlate.model.decode import unknown
from howlate.rooms import plugins
from howlate.system.plugins import plugin
from howlate.targets._target import CpuProgress, Enough, LabOptions, Outcome, Progress, Target, outcome_of

NO_OPTIONS = LabOptions()

__all__ = [
    "CpuProgress",
    "Enough",
    "LabOptions",
    "Outcome",
    "Progress",
    "Target",
    "names",
    "open_by_hand",
    "open_target",
    "outcome_of",
]


def names() -> list[str]:
    return list(plugins(__name__))


def open_target(
    text: str,
    machines: Sequence[str] = (),
    say: Callable[[str], None] = lambda _: None,
    lab: LabOptions = NO_OPTIONS,
) -> Target:
    """The target that `--target` names; an error gives the nearest name. `machines` and `lab`: for the lab, the
    machines that the study names, if the text names none, and its guests. `say` receives messages about slow
    steps."""
    name, _, argument = text.partition(":")
    if name not in names():
        raise UsageError(unknown("target", name, names()))
    open_named = plugin(plugins(__name__)[name], "open_target", FunctionType)
    target: Target = open_named(argument, say, machines, lab)
    return target


def open_by_hand(probe: Path) -> Target:
    """A machine that is measured by hand; its plan is made with this machine's probe."""
    backend = importlib.import_module(f"{__name__}._by_hand")
    target: Target = backend.ByHandTarget(probe)
    return target
