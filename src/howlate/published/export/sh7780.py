"""The three columns of the study `sh7780-2008`, for the test `irq`: time in s, wake-up latency in us, latency of the
interrupt's handler in us. A test without a handler is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from howlate.published.export._three import write_three
from howlate.store.export._rows import Format
from howlate.store.run_folder import RunFolder


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """Returns the rows written."""
    return write_three(run, out, cells, handler=True)


FORMAT = Format("sh7780", ".txt", "the three columns of the study sh7780-2008, of the test irq", write)
