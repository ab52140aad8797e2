"""The interface of a measuring machine to the rest of howlate, what backends share, and the lab's options except its
kernels."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from howlate.errors import ExitCode, TargetError
from howlate.model.answer import Answer, Command
from howlate.model.capabilities import Capabilities
from howlate.model.guest_cpus import MOST_MIPS
from howlate.model.plan import Cell
from howlate.model.run import REAL


class CpuProgress(Struct, frozen=True):
    """How far the measuring thread of one CPU is."""

    cpu: int
    activations: int
    latency_ns_max: int
    more: tuple[tuple[int, int], ...] = ()
    """How many latencies came since the line before, by their bins (model/bins.py, `coarse_edges`)."""


class Progress(Struct, frozen=True):
    """How far a cell is."""

    activations: int
    elapsed_s: float
    latency_ns_max: int
    share: float = 0.0
    """The estimated share of the cell that is done, if the machine itself reports nothing; 0 if there is no
    estimate."""
    cpus: tuple[CpuProgress, ...] = ()
    """The progress of each CPU that has a measuring thread of its own."""


class Enough(Exception):  # noqa: N818
    """Raised by `on_progress`: the cell shall end now, with what was measured until then."""


class Outcome(Struct, frozen=True):
    """How the measurement of a cell ended. Both a finished cell and one that exceeded its threshold leave a
    whole stream."""

    exit_code: ExitCode
    message: str = ""
    """The probe's own message if it did not end well. More lines may follow (the last ones of a guest's
    console); they are shown unchanged."""

    is_cut: bool = False
    """It was told to end before its length (`Enough`)."""

    @property
    def measured(self) -> bool:
        return self.exit_code in (ExitCode.DONE, ExitCode.FAILED)


class Target(Protocol):
    """A machine that measures. All backends pass the same suite in tests/targets."""

    @property
    def name(self) -> str:
        """The text given to --target."""

    @property
    def machines(self) -> tuple[str, ...]:
        """The labels of its machines: kernels in the lab. `("",)` if there is one machine without a name."""

    @property
    def parallel(self) -> int:
        """How many cells may be measured at once without affecting each other. 1: only in the main thread."""

    @property
    def clock(self) -> str:
        """ "real", or "virtual" (model/run.py): then repetitions are seeds."""

    @property
    def stream_bytes_most(self) -> int:
        """The largest stream of a cell; 0: the target has no limit."""

    def facts(self, machine: str = "") -> dict[str, Any]:
        """The facts of that machine: `howlate-probe facts --json`. TargetError if it does not answer.

        For different machines `facts` and `capabilities` are called from several threads, at most `parallel`
        at once.
        """

    def capabilities(self, machine: str = "") -> Capabilities:
        """The capabilities of its probe there: `howlate-probe list --json`."""

    def config(self, machine: str = "") -> str:
        """The machine's whole kernel configuration as text; empty if it is not available."""

    def cost_s(self, cell: Cell) -> float:
        """The time that measuring the cell takes now; 0 if its result is already available."""

    def answer(self, commands: Sequence[Command]) -> list[Answer]:
        """The probe's answer about each command line, for one of this target's machines; nothing is started
        or changed."""

    def run_cell(self, cell: Cell, stream: Path, on_progress: Callable[[Progress], None]) -> Outcome:
        """Measure one cell on `cell.machine`; afterwards its raw stream is in `stream` (on this machine).

        KeyboardInterrupt stops the probe cleanly (once), waits for it, and is raised again. Whatever is
        raised, nothing of the cell is left running. If `parallel` is more than 1, this is called from that
        many threads; after `stop` the running calls end cleanly and raise KeyboardInterrupt, and so does
        every later call.
        """

    def stop(self) -> None:
        """Ask all cells that are being measured to end, and return at once. Callable from any thread."""

    def close(self) -> None:
        """Release what the target holds between cells. The code that opens a target closes it."""


class OneMachine:
    """What all targets share that are a single unnamed machine and measure in real time."""

    machines: tuple[str, ...] = ("",)
    parallel = 1
    """Two cells at once would measure each other."""
    stream_bytes_most = 0
    clock = REAL

    def config(self, machine: str = "") -> str:
        return ""  # the relevant parts are in the facts

    def cost_s(self, cell: Cell) -> float:
        return cell.expected_s


def commands_text(commands: Sequence[Command]) -> bytes:
    """The input of `howlate-probe plan`: a line for each command line."""
    return "".join(f"{json.dumps(command, ensure_ascii=False)}\n" for command in commands).encode()


def failed(command: str, where: str, reason: str) -> TargetError:
    """The error about a command of the probe that failed. `where`: "here", "on HOST"."""
    return TargetError(
        "`howlate-probe {command}` failed {where}: {reason}",
        command=command,
        where=where,
        reason=reason.rstrip("."),
    )


def outcome_of(status: int, errors: bytes) -> Outcome:
    """How a probe ended, from its exit code (a signal is negative) and its output on standard error."""
    if status in (ExitCode.DONE, ExitCode.FAILED):
        return Outcome(ExitCode(status))
    if status in (ExitCode.USAGE, ExitCode.NOT_POSSIBLE):
        return Outcome(ExitCode(status), sentence_of(errors, status))
    return Outcome(ExitCode.BROKEN, sentence_of(errors, status))


def sentence_of(errors: bytes, status: int) -> str:
    """The probe's last message, or what is known without one."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    ours = [line.removeprefix("howlate-probe: ") for line in lines if line.startswith("howlate-probe: ")]
    if ours or lines:
        return (ours or lines)[-1]
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"the probe was ended by {signal.Signals(-status).name}"
    return f"the probe ended with exit code {status} and no message"


class LabOptions(Struct, frozen=True):
    """How the lab's guests are made and run."""

    own: tuple[Path, ...] = ()
    """Kernels of the user's own, as `PATH` or `NAME=PATH`, each also with `[parameters]`."""
    probe: Path | None = None
    """A probe of the user's own in place of howlate's: one that was built for a real-time core."""
    modules: tuple[Path, ...] = ()
    """Folders of modules that are built for each kernel and loaded before each cell."""
    clock: str = "virtual"
    jobs: int = 0
    """Guests at once; 0: one for each CPU of the host."""
    cached: bool = True
    """Whether results may come from the cache."""
    cpus: int | None = None
    """CPUs of a guest; None: the study's number, else one."""
    mips: int = MOST_MIPS
    """Millions of instructions in a second of a guest's virtual time."""
    turn_ns: int = 0
    """The longest turn of one of several CPUs; 0: the usual one."""
