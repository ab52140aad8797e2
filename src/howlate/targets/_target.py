"""What a machine that measures is to the rest of howlate, and what backends share."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from howlate.errors import ExitCode, HowlateError, NotPossibleError, TargetError, UsageError
from howlate.model.capabilities import Capabilities
from howlate.model.decode import Table, parse_json
from howlate.model.plan import Cell
from howlate.model.run import REAL


@dataclass(frozen=True)
class Progress:
    """How far a cell is."""

    activations: int
    elapsed_s: float
    latency_ns_max: int
    share: float = 0.0
    """How much of the cell is done, where the machine itself tells nothing: an estimate; 0 where there is none."""


@dataclass(frozen=True)
class Outcome:
    """How measuring a cell ended. Done and failed (a threshold was exceeded) leave a whole stream."""

    exit_code: ExitCode
    message: str = ""
    """The probe's own sentence where it did not end well. More lines may follow it (the last ones of a guest's
    console); they are shown as they are."""

    @property
    def measured(self) -> bool:
        return self.exit_code in (ExitCode.DONE, ExitCode.FAILED)


@dataclass(frozen=True)
class Checked:
    """What a probe says of a cell before it is measured (`howlate-probe plan`)."""

    refusal: HowlateError | None = None
    """UsageError or NotPossibleError, with the probe's own words; None where it would begin."""
    warnings: tuple[str, ...] = ()


class Target(Protocol):
    """A machine that measures. Backends pass the one suite in tests/targets."""

    @property
    def name(self) -> str:
        """As given to --target."""

    @property
    def machines(self) -> tuple[str, ...]:
        """What it measures on, by label: kernels in the lab. `("",)` where there is one without a name."""

    @property
    def parallel(self) -> int:
        """How many cells may be measured at once without changing each other. 1: only in the main thread."""

    @property
    def clock(self) -> str:
        """ "real", or "virtual" (model/run.py): then repetitions are seeds."""

    @property
    def stream_bytes_most(self) -> int:
        """What a cell's stream may have; 0: no limit of the target's own."""

    def facts(self, machine: str = "") -> dict[str, Any]:
        """What that machine is: `howlate-probe facts --json`. TargetError if it does not answer.

        Of different machines these two are called from several threads, at most `parallel` at once.
        """

    def capabilities(self, machine: str = "") -> Capabilities:
        """What its probe can do there: `howlate-probe list --json`."""

    def config(self, machine: str = "") -> str:
        """The machine's whole kernel configuration, as text; empty where it is not at hand."""

    def cost_s(self, cell: Cell) -> float:
        """How much time it takes to measure the cell now; 0 where its result is at hand."""

    def checked(self, cells: Sequence[Cell]) -> list[Checked]:
        """What the probe there says of each cell's options; nothing is started or changed for it."""

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        """Measures one cell on `cell.machine`; its raw stream is in `stream` (of this machine) afterwards.

        KeyboardInterrupt stops the probe in order (once), waits for it, and is raised again.
        Whatever is raised, nothing of the cell is left running. Where `parallel` is more than 1 it is called
        from that many threads; after `stop` those that run end in order and raise KeyboardInterrupt, and so
        does every later call.
        """

    def stop(self) -> None:
        """Asks all cells that are being measured to end, and returns at once. From any thread."""

    def close(self) -> None:
        """Gives up what the target holds between cells. Whoever opens a target closes it."""


class OneMachine:
    """What is the same of every target that is a machine without a name and measures as time passes."""

    @property
    def machines(self) -> tuple[str, ...]:
        return ("",)

    @property
    def parallel(self) -> int:
        return 1  # two cells at once would measure each other

    @property
    def stream_bytes_most(self) -> int:
        return 0

    @property
    def clock(self) -> str:
        return REAL

    def config(self, machine: str = "") -> str:
        return ""  # what matters of it is in the facts

    def cost_s(self, cell: Cell) -> float:
        return cell.expected_s


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


def commands(cells: Sequence[Cell]) -> list[str]:
    """What `howlate-probe plan` is asked: a line for each cell."""
    return [json.dumps(arguments(cell), ensure_ascii=False) for cell in cells]


def checks_of(output: bytes, count: int, where: str) -> list[Checked]:
    """The answers of `howlate-probe plan` to so many commands. TargetError where they are not that."""
    lines = output.decode("utf-8", "replace").splitlines()
    if len(lines) != count:
        raise TargetError(f"`howlate-probe plan` answered {len(lines)} of {count} commands {where}")
    return [_check(parse_json(line, "an answer of `howlate-probe plan`", TargetError)) for line in lines]


def _check(table: Table) -> Checked:
    warnings = tuple(str(text) for text in table.items("warnings"))
    kinds: dict[int, type[HowlateError]] = {
        ExitCode.USAGE: UsageError,
        ExitCode.NOT_POSSIBLE: NotPossibleError,
    }
    kind = kinds.get(table.integer("exit_code", ExitCode.DONE))
    if kind is None:  # what is broken is told where it is measured
        return Checked(None, warnings)
    return Checked(kind(table.text("message"), table.text("remedy", "")), warnings)


def outcome_of(status: int, errors: bytes) -> Outcome:
    """How a probe ended, from its exit code (a signal is negative) and what it wrote on standard error."""
    if status in (ExitCode.DONE, ExitCode.FAILED):
        return Outcome(ExitCode(status))
    if status in (ExitCode.USAGE, ExitCode.NOT_POSSIBLE):
        return Outcome(ExitCode(status), sentence_of(errors, status))
    return Outcome(ExitCode.BROKEN, sentence_of(errors, status))


def sentence_of(errors: bytes, status: int) -> str:
    """The probe's last words, or what is known without them."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    ours = [line.removeprefix("howlate-probe: ") for line in lines if line.startswith("howlate-probe: ")]
    if ours or lines:
        return (ours or lines)[-1]
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"the probe was ended by {signal.Signals(-status).name}"
    return f"the probe ended with exit code {status} and said nothing"
