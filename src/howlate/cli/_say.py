"""What happens, on standard error: a line for each slow step, and on a terminal a clock below it while it lasts,
with a bar where the step fills a folder."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from howlate.system.outputs import draw, obeys_escapes
from howlate.words.language import as_called
from howlate.words.printable import without_controls
from howlate.words.quantities import clock

SILENT_S = 1.0
"""Seconds before the clock is shown, and between its updates."""


class Steps:
    """Prints progress on standard error."""

    def __init__(self) -> None:
        self._text, self._since = "", 0.0
        self._filled: tuple[Path, int] | None = None
        self._is_drawn = False

    def __call__(self, text: str) -> None:
        clear = "\r\x1b[K" if obeys_escapes(sys.stderr) else ""  # a line of progress may be there
        self._text, self._since = without_controls(as_called(text)), time.monotonic()
        self._filled = None
        sys.stderr.write(f"{clear}howlate: {self._text}\n")
        sys.stderr.flush()

    @contextmanager
    def living(self) -> Iterator[None]:
        """On a terminal, how long the last step has taken already. Other threads work next to a line of progress,
        which shows more."""
        alone = threading.current_thread() is threading.main_thread()
        if self._is_drawn or not alone or not obeys_escapes(sys.stderr):
            yield
            return
        ends = threading.Event()
        self._since, self._is_drawn = time.monotonic(), True
        thread = threading.Thread(target=self._tick, args=(ends,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ends.set()
            thread.join(SILENT_S)
            self._is_drawn = False

    def fills(self, folder: Path, size: int) -> None:
        """The last step puts this many bytes into the folder."""
        self._filled = folder, size

    def _far(self, taken_s: float) -> str:
        """How much of it is there, and how long the rest takes; "" where that is not known."""
        if self._filled is None:
            return ""
        folder, size = self._filled
        there = 0
        with suppress(OSError):  # the step ends, and its folder with it
            there = sum(file.stat().st_size for file in folder.iterdir())
        if not 0 < there < size:
            return ""
        share = there / size
        bar = f"[{'#' * round(10 * share):<10}]"
        return f"  {bar} {100 * share:.0f} %, {clock(taken_s * (1 - share) / share)} left"

    def _tick(self, ends: threading.Event) -> None:
        has_drawn = False
        while not ends.wait(SILENT_S):
            taken_s = time.monotonic() - self._since
            if taken_s >= SILENT_S:
                has_drawn = True
                text = f"  {clock(taken_s)}{self._far(taken_s)}  {self._text}"[
                    : shutil.get_terminal_size().columns - 1
                ]
                self._draw(f"\r{text}\x1b[K")
        if has_drawn:
            self._draw("\r\x1b[K")

    @staticmethod
    def _draw(text: str) -> None:
        with suppress(OSError):  # a closed terminal ends no step
            draw(sys.stderr, text)
            sys.stderr.flush()


say = Steps()
