"""Tells how far a run is: on a terminal one line, drawn at most once a second; elsewhere plain lines."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import sys
import time
from typing import TextIO

from howlate.errors import ExitCode
from howlate.execute import Failure
from howlate.language import _, retold
from howlate.model.plan import Cell
from howlate.model.study import spell
from howlate.model.summary import CellSummary
from howlate.quiet import Busy
from howlate.targets import Progress


def clock(seconds: float) -> str:
    """Time left for people: "0:34", "1:02:03"."""
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def latency(ns: int) -> str:
    """A latency for a line of progress."""
    return f"{ns / 1000:.1f} us" if ns < 10_000_000 else f"{ns / 1e6:.1f} ms"


def name_of(cell: Cell, axes: tuple[str, ...]) -> str:
    """A cell by its axes: "cpu:100", "timer timerfd, load none"."""
    if axes == ("load",) or not axes:
        text = cell.labels.get("load", cell.id)
    else:
        text = ", ".join(f"{axis} {spell(cell.labels[axis])}" for axis in axes if axis in cell.labels)
    return text if cell.repetition == 1 else f"{text} ({cell.repetition})"


def described(failure: Failure, axes: tuple[str, ...]) -> str:
    """Why a cell is not whole, in one line; what a guest's console said last stands indented below."""
    kinds = {ExitCode.NOT_POSSIBLE: _("not possible here"), ExitCode.INCONCLUSIVE: _("not whole")}
    said, *console = failure.message.splitlines() or [""]
    said = retold(said)
    if failure.remedy:
        remedy = retold(failure.remedy)
        said = f"{_('{sentence}.').format(sentence=said.rstrip('.'))} {remedy[:1].upper()}{remedy[1:]}"
    first = f"{name_of(failure.cell, axes)}: {kinds.get(failure.exit_code, _('failed'))}: {said}"
    return "\n".join([first, *(f"    {line}" for line in console)])


def _left(left_s: float) -> tuple[str, ...]:
    return () if math.isnan(left_s) else (_("time left {time}").format(time=clock(left_s)),)


class WaitingLine:
    """Says what is waited for before anything is measured: drawn anew on a terminal, elsewhere once."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._live = self._stream.isatty()
        self._said = False

    def waits(self, busy: Busy, left_s: float) -> None:
        if self._said and not self._live:
            return
        self._said = True
        text = _("waiting until the machine is quiet ({left} at most): others use {busy}").format(
            left=clock(left_s), busy=busy.words
        )
        room = shutil.get_terminal_size().columns - 1
        with contextlib.suppress(OSError):
            self._stream.write(f"\r{text[:room]}\x1b[K" if self._live else f"{text}\n")
            self._stream.flush()

    def close(self) -> None:
        """Takes the live line away."""
        if self._live and self._said:
            with contextlib.suppress(OSError):
                self._stream.write("\r\x1b[K")
                self._stream.flush()


class ProgressLine:
    """A listener for people."""

    def __init__(self, axes: tuple[str, ...], stream: TextIO | None = None) -> None:
        self._axes = axes
        self._stream = stream if stream is not None else sys.stderr
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"  # which knows no escapes
        self._drawn = float("-inf")
        self._running: dict[str, tuple[int, str]] = {}
        """Number and name of the cells that are being measured, by id."""
        self._shares: dict[str, float] = {}
        self._of = 0

    def starts(self, cell: Cell, number: int, of: int, left_s: float) -> None:
        self._running[cell.id] = number, name_of(cell, self._axes)
        self._of = of
        if self._live:
            self._draw(self._head(), *_left(left_s))
        else:
            self._line(
                "  ".join(
                    (
                        _("{number} of {of}  {cell}").format(
                            number=number, of=of, cell=name_of(cell, self._axes)
                        ),
                        *_left(left_s),
                    )
                )
            )

    def _head(self) -> str:
        """ "3 of 9  cpu:100"; of several at once the numbers first: "3, 4 of 9  6.1, none; 6.1-rt, none"."""
        rows = sorted(self._running.values())
        if not rows:
            return ""
        return _("{numbers} of {of}  {cells}").format(
            numbers=", ".join(str(n) for n, _name in rows),
            of=self._of,
            cells="; ".join(name for _number, name in rows),
        )

    def progress(self, cell: Cell, progress: Progress, left_s: float) -> None:
        if self._live and time.monotonic() - self._drawn >= 1:
            seen = progress.latency_ns_max
            alone = len(self._running) <= 1
            self._draw(
                self._head(),
                *_left(left_s),
                *([_("largest seen {latency}").format(latency=latency(seen))] if alone and seen > 0 else []),
                *self._far(cell, progress),
            )

    def _far(self, cell: Cell, progress: Progress) -> tuple[str, ...]:
        """How far a cell is: by its activations, or where it does not tell them, by an estimate."""
        self._shares[cell.id] = progress.share
        shares = [self._shares[i] for i in self._running if self._shares.get(i, 0.0) > 0]
        if progress.share > 0:
            about = ", ".join(f"{100 * share:.0f} %" for share in shares)
            return (_("about {shares} done").format(shares=about),)
        if len(self._running) > 1:
            return ()
        return (_("{activations:,} activations").format(activations=progress.activations),)

    def whole(self, cell: Cell, summary: CellSummary) -> None:
        self._running.pop(cell.id, None)
        if not summary.valid:
            self._line(
                _("{cell}: not valid: {why}").format(
                    cell=name_of(cell, self._axes), why="; ".join(map(retold, summary.warnings[:1]))
                )
            )

    def failed(self, failure: Failure) -> None:
        self._running.pop(failure.cell.id, None)
        self._line(described(failure, self._axes))

    def close(self) -> None:
        """Takes the live line away."""
        if self._live:
            self._write("\r\x1b[K")

    def _draw(self, head: str, *parts: str) -> None:
        """As many parts as fit into the line: a number that is cut off would be another number."""
        self._drawn = time.monotonic()
        room = shutil.get_terminal_size().columns - 1
        text = head[: max(0, room - len(f"  {parts[0]}"))] if parts else head[:room]
        for part in parts:
            if len(text) + 2 + len(part) <= room:
                text += f"  {part}"
        self._write(f"\r{text}\x1b[K")

    def _line(self, text: str) -> None:
        self._write(f"\r\x1b[K{text}\n" if self._live else f"{text}\n")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a terminal that went away does not end a measurement
            self._stream.write(text)
            self._stream.flush()
