"""A machine that is measured by hand: nothing is known of it until its results are imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from howlate.model.answer import Answer, Command
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Cell
from howlate.model.run import BY_HAND
from howlate.targets._target import OneMachine, Outcome, Progress
from howlate.targets.local import LocalTarget


class ByHandTarget(OneMachine):
    """Plans with the probe of this machine, which is the same program; what depends on a machine stays open."""

    name = BY_HAND

    def __init__(self, probe: Path) -> None:
        self._local = LocalTarget(probe)

    def facts(self, machine: str = "") -> dict[str, Any]:
        return {}

    def capabilities(self, machine: str = "") -> Capabilities:
        can = self._local.capabilities()
        timers = tuple(replace(timer, available=True, reason="") for timer in can.timers)
        return replace(
            can, timers=timers, knobs=tuple(replace(k, available=True, reason="") for k in can.knobs)
        )

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        """What the options themselves make wrong: whether a machine has a CPU, a timer or a right, it says itself."""
        return self._local.answer_elsewhere(commands)

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        raise NotImplementedError

    def stop(self) -> None:
        self._local.stop()

    def close(self) -> None:
        self._local.close()
