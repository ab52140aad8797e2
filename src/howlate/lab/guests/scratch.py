"""Folders for the files of a running guest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from howlate.lab.cache import make_folder, storing
from howlate.system.scratch import MEMORY, free_bytes, held_folder, remove_stale

PREFIX = "howlate-guest-"


@contextlib.contextmanager
def scratch(needed: int, otherwise: Path, memory: Path = MEMORY) -> Iterator[Path]:
    """A folder with room for `needed` bytes: in memory if twice as much is free there, else below
    `otherwise`."""
    place = memory if free_bytes(memory) >= 2 * needed else otherwise
    with contextlib.ExitStack() as stack:
        with storing(place):
            make_folder(place)
            remove_stale(place, PREFIX)
            folder = stack.enter_context(held_folder(PREFIX, place))
        yield folder
