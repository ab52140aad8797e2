"""Three columns for any test of wake-ups: time, wake-up latency, and `nan` where there is no interrupt's handler."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from howlate.store.export._format import Format
from howlate.store.export._three import write_three
from howlate.store.run_folder import RunFolder


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """Returns the rows written."""
    return write_three(run, out, cells, handler=False)


FORMAT = Format(
    "text3",
    ".txt",
    "time in s, wake-up latency in us, handler latency in us (nan where there is none)",
    write,
)
