"""Results of guests, keyed by the content of all their inputs: an unchanged cell costs the reading of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from howlate.errors import DamagedError, StorageError
from howlate.lab.archive.packages import Say, silent
from howlate.lab.cache import read_sealed, say_changed, storing, write_sealed
from howlate.lab.guests.window import decode_tree

FORMAT = 1
"""Incremented when the meaning of a guest's result changes."""


class Results(Struct, frozen=True):
    """A folder of files, one for each job: a seal (lab/cache.py), a newline, a guest's result."""

    folder: Path
    fresh: bool = False
    """Run every job again, and keep the results."""
    say: Say = silent

    def get(
        self,
        snapshot_key: str,
        job: bytes,
        run: Callable[[], bytes],
        is_right: Callable[[Mapping[str, bytes]], bool] = lambda _: True,
    ) -> dict[str, bytes]:
        """The files that the job left, from the cache, where they are right, or from `run`."""
        place = self._place(snapshot_key, job)
        stored = None if self.fresh else self._read(place)
        if stored is not None and not is_right(stored):
            self._changed(place)
            stored = None
        if stored is not None:
            with suppress(OSError):
                os.utime(place)  # when it was last used
            return stored
        data = run()
        files = decode_tree(data)  # before it is kept: what cannot be read is not
        try:
            with storing(place):
                write_sealed(place, data)
        except StorageError as problem:  # it was measured: what asked for it has it
            self.say(f"a result is not kept in the cache: {problem.message}")
        return files

    def _read(self, place: Path) -> dict[str, bytes] | None:
        """None if it is missing or damaged, as after a crash of the machine."""
        try:
            return decode_tree(read_sealed(place))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, MemoryError, DamagedError):
            self._changed(place)
            return None

    def _changed(self, place: Path) -> None:
        say_changed(place, self.say, "it is measured again")

    def holds(self, snapshot_key: str, job: bytes) -> bool:
        """Whether there is a result for the job, judging by its name."""
        return not self.fresh and self._place(snapshot_key, job).is_file()

    def _place(self, snapshot_key: str, job: bytes) -> Path:
        return self.folder / sha256(f"{FORMAT} {snapshot_key} ".encode() + job).hexdigest()
