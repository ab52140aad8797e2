"""What a machine that measures is to the rest of howlate, and what backends share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from howlate.errors import ExitCode
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Cell


@dataclass(frozen=True)
class Progress:
    """How far a cell is."""

    activations: int
    elapsed_s: float
    latency_ns_max: int


@dataclass(frozen=True)
class Outcome:
    """How measuring a cell ended. Done and failed (a threshold was exceeded) leave a whole stream."""

    exit_code: ExitCode
    message: str = ""
    """The probe's own sentence where it did not end well."""

    @property
    def measured(self) -> bool:
        return self.exit_code in (ExitCode.DONE, ExitCode.FAILED)


class Target(Protocol):
    """A machine that measures. Backends pass the one suite in tests/targets."""

    @property
    def name(self) -> str:
        """As given to --target."""

    def facts(self) -> dict[str, Any]:
        """What that machine is: `howlate-probe facts --json`. TargetError if it does not answer."""

    def capabilities(self) -> Capabilities:
        """What its probe can do: `howlate-probe list --json`."""

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        """Measures one cell; its raw stream is in `stream` (of this machine) afterwards.

        KeyboardInterrupt stops the probe in order (once), waits for it, and is raised again.
        Whatever is raised, nothing of the cell is left running.
        """


def arguments(cell: Cell) -> list[str]:
    """The probe's arguments for a cell, without its stream: nothing from the cell's id or place."""
    found = [cell.test]
    for name, value in cell.parameters.items():
        if value is True:
            found.append(f"--{name}")
        elif isinstance(value, tuple):
            found.extend(f"--{name}={one}" for one in value)
        elif value is not False:
            found.append(f"--{name}={value}")
    return found
