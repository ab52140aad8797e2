"""Progress of a run: on a terminal one line, drawn at most once a second, and below it a row for each CPU where
several measure; elsewhere plain lines."""

from __future__ import annotations

import contextlib
import math
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from msgspec.structs import replace

from howlate.cli._say import SILENT_S, say
from howlate.errors import REMEDIED, ExitCode, HowlateError
from howlate.measure.execute import Failure, Tally, execute
from howlate.measure.quiet import Busy
from howlate.model.plan import Cell
from howlate.model.study import spell
from howlate.system.outputs import draw, obeys_escapes
from howlate.targets import CpuProgress, Progress
from howlate.words.language import as_called
from howlate.words.printable import printable
from howlate.words.quantities import clock
from howlate.words.say import advice, english

if TYPE_CHECKING:
    from howlate.cli._strips import LiveStrips
    from howlate.measure.prepare import PlannedRun
    from howlate.measure.session import Session
    from howlate.model.summary import CellSummary

DRAWN_S = 0.19
"""A live line is drawn so often at most: with each line of the probe's, or less often."""
CPU_HEADING = f"{'CPU':>5}  {'activations':>15}  {'largest seen':>12}"


def latency(ns: int) -> str:
    return f"{ns / 1000:.1f} us" if ns < 10_000_000 else f"{ns / 1e6:.1f} ms"


def name_of(cell: Cell, axes: tuple[str, ...]) -> str:
    """A cell named by its axes: "cpu:100", "timer timerfd, load none"."""
    if axes == ("load",) or not axes:
        text = cell.labels.get("load", cell.id)
    else:
        text = ", ".join(f"{axis} {spell(cell.labels[axis])}" for axis in axes if axis in cell.labels)
    text = printable(text)
    return text if cell.repetition == 1 else f"{text} ({cell.repetition})"


def described(failure: Failure, axes: tuple[str, ...]) -> str:
    """Why a cell is not whole, in one line; the last lines of a guest's console follow, indented."""
    kinds = {ExitCode.NOT_POSSIBLE: "not possible here", ExitCode.INCONCLUSIVE: "not whole"}
    message, *console = failure.message.splitlines() or [""]
    reason = advice(message, failure.remedy) if failure.remedy else as_called(message)
    first = f"{name_of(failure.cell, axes)}: {kinds.get(failure.exit_code, 'failed')}: {reason}"
    return "\n".join([first, *(f"    {line}" for line in console)])


def cpu_rows(cpus: Sequence[CpuProgress], width: int, most: int) -> list[str]:
    """A table of CPUs with their activations and largest latencies, with limits of lines and width:
    where there are more CPUs those with the largest latencies, and how many are left out. Nothing where one CPU
    measures."""
    if len(cpus) < 2 or most < 4 or width <= len(CPU_HEADING):
        return []
    room = most - 1 if len(cpus) < most else most - 2
    latest = sorted(sorted(cpus, key=lambda row: -row.latency_ns_max)[:room], key=lambda row: row.cpu)
    rows = [f"{row.cpu:>5}  {row.activations:>15,}  {latency(row.latency_ns_max):>12}" for row in latest]
    if len(cpus) > len(latest):
        rows.append(f"  {len(cpus) - len(latest)} CPUs with smaller ones")
    return [CPU_HEADING, *rows]


def _left(left_s: float) -> tuple[str, ...]:
    return () if math.isnan(left_s) else (f"time left {clock(left_s)}",)


class WaitingLine:
    """Show what howlate waits for before it measures: redrawn on a terminal, printed once elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = obeys_escapes(self._stream)
        self._said = False

    def waits(self, busy: Busy, left_s: float) -> None:
        if self._said and not self._live:
            return
        self._said = True
        text = f"waiting until the machine is quiet ({clock(left_s)} at most): others use {busy.words}"
        room = shutil.get_terminal_size().columns - 1
        with contextlib.suppress(OSError):
            draw(self._stream, f"\r{text[:room]}\x1b[K" if self._live else f"{text}\n")
            self._stream.flush()

    def close(self) -> None:
        if self._live and self._said:
            with contextlib.suppress(OSError):
                draw(self._stream, "\r\x1b[K")
                self._stream.flush()


class ProgressLine:
    """A listener that writes for people."""

    def __init__(self, axes: tuple[str, ...], stream: TextIO | None = None, *, by_cpu: bool = False) -> None:
        """`by_cpu`: a strip for each CPU, else for each point."""
        self._axes = axes
        self._stream = stream if stream is not None else sys.stderr
        self._live = obeys_escapes(self._stream)
        self._drawn = float("-inf")
        self._hold = threading.RLock()
        self._ends: threading.Event | None = None
        self._left_s, self._told = math.nan, 0.0
        """The time left when it was told last, and when that was."""
        self._below = 0
        """Rows below the live line."""
        self._running: dict[str, tuple[int, str]] = {}
        """Number and name of the cells that are being measured, by id."""
        self._shares: dict[str, float] = {}
        self._of = 0
        self._strips: LiveStrips | None = None
        self._under: list[str] = []
        """Lines below the strips."""
        self.folder: Path | None = None
        """The run's, once it is known."""
        if self._live:  # not while it measures
            from howlate.cli._strips import LiveStrips

            self._strips = LiveStrips(by_cpu=by_cpu)

    def starts(self, cell: Cell, number: int, of: int, left_s: float) -> None:
        with self._hold:
            self._running[cell.id] = number, name_of(cell, self._axes)
            self._of = of
            if self._strips is not None:
                self._strips.begins(cell, self._point(cell))
            if self._live:
                self._left_s, self._told = left_s, time.monotonic()
                self._draw(self._head(), *_left(left_s))
        if not self._live:
            head = f"{number} of {of}  {name_of(cell, self._axes)}"
            self.write_line("  ".join((head, *_left(left_s))))
        elif self._ends is None:
            self._ends = threading.Event()
            threading.Thread(target=self._tick, args=(self._ends,), daemon=True).start()

    def _tick(self, ends: threading.Event) -> None:
        """Draw the time left while no progress comes: a guest boots, a cell's statistics are computed."""
        while not ends.wait(SILENT_S):
            with self._hold:
                now = time.monotonic()
                if self._running and now - self._drawn >= SILENT_S and not ends.is_set():
                    self._draw(self._head(), *_left(max(0.0, self._left_s - (now - self._told))))

    @property
    def _letters(self) -> bool:
        return not (self._stream.encoding or "").lower().startswith("utf")

    def _head(self) -> str:
        """ "3 of 9  cpu:100"; of several at once the numbers first: "3, 4 of 9  6.1, none; 6.1-rt, none"."""
        rows = sorted(self._running.values())
        if not rows:
            return ""
        numbers = ", ".join(str(number) for number, _ in rows)
        names = "; ".join(name for _, name in rows)
        return f"{numbers} of {self._of}  {names}"

    def _point(self, cell: Cell) -> str:
        return name_of(replace(cell, repetition=1), self._axes)

    def progress(self, cell: Cell, progress: Progress, left_s: float) -> None:
        with self._hold:
            self._left_s, self._told = left_s, time.monotonic()
            if self._strips is not None:
                self._strips.progress(cell, self._point(cell), progress)
            if self._live and self._told - self._drawn >= DRAWN_S:
                seen = progress.latency_ns_max
                alone = len(self._running) <= 1
                self._draw(
                    self._head(),
                    *_left(left_s),
                    *([f"largest seen {latency(seen)}"] if alone and seen > 0 else []),
                    *self._far(cell, progress),
                    cpus=progress.cpus if alone else (),
                )

    def _far(self, cell: Cell, progress: Progress) -> tuple[str, ...]:
        """How far a cell is: by its activations, or by an estimate if it does not report them."""
        self._shares[cell.id] = progress.share
        shares = [self._shares[i] for i in self._running if self._shares.get(i, 0.0) > 0]
        if progress.share > 0:
            shares_text = ", ".join(f"{100 * share:.0f} %" for share in shares)
            return (f"about {shares_text} done",)
        if len(self._running) > 1:
            return ()
        return (f"{progress.activations:,} activations",)

    def whole(self, cell: Cell, summary: CellSummary) -> None:
        with self._hold:
            self._running.pop(cell.id, None)
            if self._strips is not None:
                self._strips.whole(self._point(cell), summary)
        if not summary.valid:
            why = "".join(map(english, summary.warnings[:1]))
            self.write_line(as_called(f"{name_of(cell, self._axes)}: not valid: {why}"))

    def failed(self, failure: Failure) -> None:
        with self._hold:
            self._running.pop(failure.cell.id, None)
        self.write_line(described(failure, self._axes))

    def close(self) -> None:
        if self._ends is not None:
            self._ends.set()
            self._ends = None
        if self._live:
            with self._hold:
                self._write(self._cleared())

    def _draw(self, head: str, *parts: str, cpus: Sequence[CpuProgress] = ()) -> None:
        """Print as many parts as fit into the line, because a number that is cut off would be another number."""
        self._drawn = time.monotonic()
        size = shutil.get_terminal_size()
        room = size.columns - 1
        text = head[: max(0, room - len(f"  {parts[0]}"))] if parts else head[:room]
        for part in parts:
            if len(text) + 2 + len(part) <= room:
                text += f"  {part}"
        rows = []
        if self._strips is not None:
            rows = self._strips.lines(size.columns, size.lines - 2, letters=self._letters)
            rows += self._under[: max(0, size.lines - 2 - len(rows))]
        if not rows or not self._strips or not self._strips.by_cpu:
            rows += cpu_rows(cpus, size.columns, size.lines - 2 - len(rows))
        below = "".join(f"\n{row}\x1b[K" for row in rows)
        self._write(f"{self._back()}{text}\x1b[K{below}" + ("\x1b[J" if len(rows) < self._below else ""))
        self._below = len(rows)

    def _back(self) -> str:
        return f"\r\x1b[{self._below}A" if self._below else "\r"

    def _cleared(self) -> str:
        """Takes the live line away, and the rows below it."""
        text = self._back() + ("\x1b[J" if self._below else "\x1b[K")
        self._below = 0
        return text

    def write_line(self, text: str) -> None:
        """Print a line, above the live one."""
        with self._hold:
            self._write(f"{self._cleared()}{text}\n" if self._live else f"{text}\n")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a closed terminal does not end a measurement
            draw(self._stream, text)
            self._stream.flush()


def execute_cells(
    prepared: PlannedRun,
    session: Session,
    *,
    ends_early: bool = False,
    line: ProgressLine | None = None,
) -> Tally:
    """Measure them while `line` tells how far that is. `ends_early`: up to the first cell
    that its threshold ends. HowlateError names the folder that keeps what is complete."""
    line = line if line is not None else ProgressLine(prepared.run.axes)
    try:
        with say.beside(line.write_line):
            return execute(
                session.folder,
                session.run.plan,
                session.cells,
                prepared.target,
                line,
                prepared.broken,
                ends_early=ends_early,
            )
    except HowlateError as problem:
        folder = printable(str(session.folder.path))
        kept = f"complete cells are kept in {folder}; the same command with --out continues"
        remedy = "; ".join(filter(None, (problem.remedy, kept)))
        problem.statement = REMEDIED(problem=problem.statement, remedy=remedy)
        raise
    finally:
        line.close()
