"""What happens, on standard error: a line for each slow step, and on a terminal a clock below it while it lasts,
with a bar where it is known how much of the step is done."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from msgspec import Struct

from howlate.system.outputs import draw, obeys_escapes
from howlate.words.language import as_called
from howlate.words.printable import without_controls
from howlate.words.quantities import clock

SILENT_S = 1.0
"""Seconds before the clock is shown, and between its updates."""


class _Step(Struct):
    text: str
    since: float
    done: Callable[[], float] | None = None
    """Its share that is done; 0 while that is not known."""

    def line(self, now: float) -> str:
        """How long it has taken; how much of it is done, and how long the rest takes."""
        taken_s = now - self.since
        share = self.done() if self.done is not None else 0.0
        if not 0 < share < 1:
            return f"  {clock(taken_s)}  {self.text}"
        bar = f"[{'#' * round(10 * share):<10}]"
        left = clock(taken_s * (1 - share) / share)
        return f"  {clock(taken_s)}  {bar} {100 * share:.0f} %, {left} left  {self.text}"


class Steps:
    """Prints progress on standard error."""

    def __init__(self) -> None:
        self._steps: dict[int, _Step] = {}
        """The last of each thread."""
        self._hold = threading.Lock()
        self._living: Counter[int] = Counter()
        """By thread."""
        self._ends = threading.Event()
        self._clock: threading.Thread | None = None
        self._line: Callable[[str], None] | None = None

    def __call__(self, text: str) -> None:
        step = _Step(without_controls(as_called(text)), time.monotonic())
        line = f"howlate: {step.text}"
        with self._hold:
            self._steps[threading.get_ident()] = step
            if self._line is None:
                sys.stderr.write(f"\r\x1b[K{line}\n" if obeys_escapes(sys.stderr) else f"{line}\n")
                sys.stderr.flush()
                return
        self._line(line)

    def passing(self, text: str) -> None:
        """A step that leaves no line on a terminal, where an answer follows."""
        if obeys_escapes(sys.stderr):
            self._steps[threading.get_ident()] = _Step(without_controls(as_called(text)), time.monotonic())
        else:
            self(text)

    @contextmanager
    def beside(self, line: Callable[[str], None]) -> Iterator[None]:
        """A line of progress shows more than a clock meanwhile; `line` prints a line above it."""
        self._line = line
        try:
            yield
        finally:
            self._line = None

    @contextmanager
    def living(self, text: str = "") -> Iterator[None]:
        """On a terminal, how long the last step has taken already: of several threads the one that began last.
        `text`: a step that is told nowhere else."""
        if not obeys_escapes(sys.stderr):
            yield
            return
        me = threading.get_ident()
        with self._hold:
            outer = self._steps.get(me)
            if text:
                self._steps[me] = _Step(text, time.monotonic())
            self._living[me] += 1
            if self._living.total() == 1:
                self._ends = threading.Event()
                self._clock = threading.Thread(target=self._tick, args=(self._ends,), daemon=True)
                self._clock.start()
        try:
            yield
        finally:
            with self._hold:
                self._living[me] -= 1
                if self._living[me] and outer is not None:
                    self._steps[me] = outer
                else:
                    self._steps.pop(me, None)
                over = None if self._living.total() else self._clock
                if over is not None:
                    self._ends.set()
                    self._draw("\r\x1b[K")
            if over is not None:
                over.join(SILENT_S)

    def done(self, share: Callable[[], float]) -> None:
        if (step := self._steps.get(threading.get_ident())) is not None:
            step.done = share

    def _tick(self, ends: threading.Event) -> None:
        while not ends.wait(SILENT_S):
            with self._hold:
                step = max(self._steps.values(), key=lambda step: step.since, default=None)
                now = time.monotonic()
                if step is not None and now - step.since >= SILENT_S and not ends.is_set():
                    self._draw(f"\r{step.line(now)[: shutil.get_terminal_size().columns - 1]}\x1b[K")

    def _draw(self, text: str) -> None:
        """Where no line of progress is."""
        if self._line is None:
            with suppress(OSError):  # a closed terminal ends no step
                draw(sys.stderr, text)
                sys.stderr.flush()


say = Steps()
