"""Three columns for any test of wake-ups: time, wake-up latency, and `nan` if there is no interrupt handler."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from howlate.published.export._three import write_three
from howlate.store.export._rows import Format
from howlate.store.run_folder import RunFolder


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """Returns the rows written."""
    return write_three(run, out, cells, handler=False)


FORMAT = Format(
    "text3",
    ".txt",
    "time in s, wake-up latency in us, interrupt-handler latency in us (nan where the test has no handler)",
    write,
)
