"""How late this Linux is now: a strip for each CPU, for as long as one likes."""

from __future__ import annotations

import contextlib
import math
import os
import select
import shutil
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from howlate.cli._job import LEAST_CELL_NS, Job, job_options
from howlate.cli._measure import measure
from howlate.cli._options import WEEK_NS, RunOptions, limit_text, run_options, within_ns
from howlate.cli._progress import ProgressLine
from howlate.model.plan import Cell
from howlate.model.units import format_duration
from howlate.rooms import hooks
from howlate.targets import Enough, Progress, open_target

if TYPE_CHECKING:
    from howlate.model.summary import CellSummary

INTERRUPT = b"\x03"
USUAL = "1h"
"""How long at most."""
ROUND_NS, MOST_ROUNDS, EXPLAINED = 10 * 10**9, 360, 12
"""How long a round is at least, how many there are at most, and of how many of the last ones causes are told."""


class TopLine(ProgressLine):
    """A strip for each CPU, and below them why samples of the last rounds were late."""

    def __init__(self) -> None:
        super().__init__(("load",), by_cpu=True)
        self._has_begun = self._is_enough = False

    def enough(self, _number: int, _frame: FrameType | None) -> None:
        """Ends what is measured, as a handler of SIGINT; before that, and a second time, it interrupts."""
        if self._is_enough or not self._has_begun:
            raise KeyboardInterrupt
        self._is_enough = True

    def starts(self, cell: Cell, number: int, of: int, left_s: float) -> None:
        self._has_begun = True
        super().starts(cell, number, of, left_s)

    def progress(self, cell: Cell, progress: Progress, left_s: float) -> None:
        super().progress(cell, progress, left_s)
        if self._is_enough and progress.activations:  # a probe that measured nothing yet would leave no cell
            raise Enough

    def whole(self, cell: Cell, summary: CellSummary) -> None:
        super().whole(cell, summary)
        if self._live and not self._is_enough:
            self._under = self._causes()

    def _causes(self) -> list[str]:
        from howlate.cli._strips import coloured
        from howlate.document.first_screen.lines import COLUMNS, LEAST_COLUMNS, typed
        from howlate.document.first_screen.screen import why_lines
        from howlate.document.report_input import ReportInput
        from howlate.document.sheet import TERMINAL
        from howlate.store.loaded import load_run

        width = shutil.get_terminal_size().columns
        if width <= LEAST_COLUMNS or self.folder is None:
            return []
        content = load_run(self.folder, kernels=False, is_strict=False, last=EXPLAINED)
        material = ReportInput([content], TERMINAL)
        found = next((told for room in hooks("reasons") if (told := room(material))), None)
        lines = [] if found is None else list(why_lines(found, min(width, COLUMNS) - 1))
        return coloured(typed(lines, letters=self._letters))


def _keyboard() -> int | None:
    """The terminal whose keys are for this command; none in the background, where touching it would stop it."""
    if sys.stdin is not None:
        with contextlib.suppress(OSError, ValueError):
            terminal = sys.stdin.fileno()
            return terminal if os.tcgetpgrp(terminal) == os.getpgrp() else None
    return None


def _interrupt_at_q(main: int, terminal: int, over: int) -> None:
    """q and Ctrl-C interrupt, until there is something to read from `over`."""
    while over not in select.select([terminal, over], [], [])[0]:
        if _keyboard() is None:  # it was sent to the background: its keys are the shell's
            select.select([over], [], [], 1.0)
            continue
        try:
            keys = os.read(terminal, 64)
        except OSError:
            return
        if INTERRUPT in keys or b"q" in keys.lower():
            signal.pthread_kill(main, signal.SIGINT)
        if not keys:
            return


@contextlib.contextmanager
def _ending(line: TopLine) -> Iterator[None]:
    """q without a line's end, and Ctrl-C, end what is measured and keep it."""
    before = signal.signal(signal.SIGINT, line.enough)
    try:
        if (terminal := _keyboard()) is None:
            yield
            return
        mode = termios.tcgetattr(terminal)
        reader, writer = os.pipe()
        keys = threading.Thread(
            target=_interrupt_at_q, args=(threading.get_ident(), terminal, reader), daemon=True
        )
        try:
            tty.setcbreak(terminal)
            own = termios.tcgetattr(terminal)
            own[6][termios.VINTR] = (
                b"\0"  # Ctrl-C is a key here: a signal would go to all processes of the terminal
            )
            termios.tcsetattr(terminal, termios.TCSANOW, own)
            keys.start()
            yield
        finally:
            os.close(writer)  # can be read from then on
            if keys.is_alive():
                keys.join(1)
            os.close(reader)
            if _keyboard() is not None:
                termios.tcsetattr(terminal, termios.TCSADRAIN, mode)
    finally:
        signal.signal(signal.SIGINT, before)


@click.command(epilog="Example: howlate top --threshold 200us")
@job_options
@click.option(
    "--threshold", metavar="TIME", help="End at the first latency above it, and say why that sample was late."
)
@click.option("--no-wait", is_flag=True, hidden=True, expose_value=False)  # for one version: it never waits
@run_options
def command(job: Job, *, threshold: str | None, options: RunOptions) -> int:
    """How late is this Linux now? Show a strip for each CPU while it is measured, and why samples were late; q or
    Ctrl-C ends it and keeps the run.

    All CPUs are measured without a load, for an hour at most, unless the options say otherwise. Round after round is
    kept, of ten seconds each or a 360th of --duration; after each the causes come in. It never waits for a quiet
    machine."""
    total_ns = within_ns("--duration", job.duration or USUAL, 10**9, WEEK_NS)
    round_ns = min(total_ns, max(ROUND_NS, total_ns // MOST_ROUNDS))
    if job.cell_duration is not None:
        round_ns = within_ns("--cell-duration", job.cell_duration, LEAST_CELL_NS, WEEK_NS)
    rounds = math.ceil(total_ns / round_ns)
    job = replace(
        job,
        duration=None,
        cell_duration=job.cell_duration or format_duration(round_ns),
        cpus=job.cpus or "all",
        loads=job.loads or ("none",),
    )
    changes = (*options.changes, f"order.repetitions={rounds}", "order.kind=interleaved")
    if threshold is not None:
        changes += (f"threshold={limit_text('--threshold', threshold)}",)
    options = replace(options, changes=changes)
    asked = job.request(options, "check", "run")
    own_policy = any(name == "policy" for name, _ in asked.parsed)
    asked = replace(asked, without_rights=not own_policy, explain=True)
    line = TopLine()
    with _ending(line):
        return measure(asked, open_target("local"), options, wait=False, ends_early=True, line=line)
