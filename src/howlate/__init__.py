"""howlate: how late can your Linux be?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from howlate.system.version import __version__ as __version__

if TYPE_CHECKING:
    from os import PathLike

    from howlate.notebook.load import LoadedRun


def load(run: str | PathLike[str]) -> LoadedRun:
    """The samples, summaries, causes and verdict of a run folder, as values (docs/build-on-it.md)."""
    from pathlib import Path

    from howlate.notebook.load import loaded

    return loaded(Path(run))
