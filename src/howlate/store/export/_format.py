"""What a file of this folder gives: a format, and how to write a run in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from howlate.store.run_folder import RunFolder


class Format(Struct, frozen=True):
    """A way to write samples. `write(run, out, cells)` returns the rows written; no cells: all whole ones."""

    name: str
    suffix: str
    """The ending of the file that is written if none is named."""
    summary: str
    write: Callable[[RunFolder, Path, Sequence[str]], int]
    one_text: bool = True
    """It is one text file, which may also go to standard output."""
    write_with_parameters: Callable[[RunFolder, Path, Sequence[str]], int] | None = None
    """`write` with a column for each parameter that the cells were measured under; None where the format has no
    place for them."""
