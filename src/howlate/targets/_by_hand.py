"""A machine that is measured by hand: nothing is known of it until its results are imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Cell
from howlate.model.run import BY_HAND
from howlate.model.study import spell
from howlate.targets._target import Checked, OneMachine, Outcome, Progress
from howlate.targets.local import LocalTarget


class ByHandTarget(OneMachine):
    """Plans with the probe of this machine, which is the same program; what depends on a machine stays open."""

    def __init__(self, probe: Path) -> None:
        self._local = LocalTarget(probe)

    @property
    def name(self) -> str:
        return BY_HAND

    def facts(self, machine: str = "") -> dict[str, Any]:
        return {}

    def capabilities(self, machine: str = "") -> Capabilities:
        can = self._local.capabilities()
        timers = tuple(replace(timer, available=True, reason="") for timer in can.timers)
        return replace(
            can, timers=timers, knobs=tuple(replace(k, available=True, reason="") for k in can.knobs)
        )

    def checked(self, cells: Sequence[Cell]) -> list[Checked]:
        """What the options themselves make wrong: whether a machine has a CPU, a timer or a right, it says itself."""
        asked = [cell for cell in cells if not _names_what_a_machine_has(cell)]
        known = dict(zip((c.id for c in asked), self._local.checked(asked), strict=True)) if asked else {}
        checks = (known.get(cell.id, Checked()) for cell in cells)
        return [check if isinstance(check.refusal, UsageError) else Checked() for check in checks]

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        raise UsageError(
            "a machine that is measured by hand measures nothing from here", "write a job: --emit-job"
        )

    def stop(self) -> None:
        self._local.stop()

    def close(self) -> None:
        self._local.close()


def _names_what_a_machine_has(cell: Cell) -> bool:
    names = {"cpus", "cpu", "knob", "device"} & cell.parameters.keys()
    return bool(names) or "cpus=" in spell(cell.parameters.get("load", ()))
