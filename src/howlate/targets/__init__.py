"""Machines that measure. ONE FILE in this folder = ONE BACKEND with `SUMMARY` and `open_target(argument, say)`.

`--target NAME[:ARGUMENT]` opens the backend of that name; the folder is listed to find it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from howlate.errors import UsageError
from howlate.model.decode import suggestion
from howlate.targets._target import Checked, Outcome, Progress, Target, arguments, outcome_of

if TYPE_CHECKING:
    from howlate.lab.archive import Archive

__all__ = [
    "Checked",
    "Outcome",
    "Progress",
    "Target",
    "arguments",
    "names",
    "open_by_hand",
    "open_lab",
    "open_target",
    "outcome_of",
]


def names() -> list[str]:
    """All backends."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def open_target(
    text: str, machines: Sequence[str] = (), say: Callable[[str], None] = lambda _: None
) -> Target:
    """The target that `--target` names; the nearest name in the error. `machines`: those that the study names,
    for the lab, where the text names none. `say` is told what takes long."""
    name, _, argument = text.partition(":")
    if name not in names():
        raise UsageError(f'the target "{name}" is not known', suggestion(name, names()))
    if name == "lab" and not argument:
        argument = ",".join(machines)
    backend = importlib.import_module(f"{__name__}.{name}")
    target: Target = backend.open_target(argument, say)
    return target


def open_by_hand(probe: Path) -> Target:
    """A machine that is measured by hand, planned for with this machine's probe."""
    backend = importlib.import_module(f"{__name__}._by_hand")
    target: Target = backend.ByHandTarget(probe)
    return target


def open_lab(
    kernels: str,
    *,
    own: Sequence[Path] = (),
    modules: Sequence[Path] = (),
    clock: str = "virtual",
    jobs: int = 0,
    cached: bool = True,
    cpus: int = 1,
    archive: Archive | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Target:
    """The lab, with what `--target lab:KERNELS` cannot say: kernels and modules of the user's own, the guests' clock,
    how many guests at once (0: the host's CPUs), whether results may come from the cache, how many CPUs a guest has,
    the archive (None: this machine's apt), and who is told what takes long (a kernel that is fetched)."""
    backend = importlib.import_module(f"{__name__}.lab")
    target: Target = backend.open_lab(
        kernels,
        own=own,
        modules=modules,
        clock=clock,
        jobs=jobs,
        cached=cached,
        cpus=cpus,
        archive=archive,
        say=say,
    )
    return target
