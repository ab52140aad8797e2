"""Results of guests, keyed by the content of all their inputs: an unchanged cell costs the reading of a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from howlate.errors import DamagedError, StorageError
from howlate.lab.archive import Say, silent
from howlate.lab.cache import storing
from howlate.lab.window import decode_tree

FORMAT = 1
"""Incremented when the meaning of a guest's result changes."""


@dataclass(frozen=True)
class Results:
    """A folder of files, one for each job: the SHA-256 of the rest in hexadecimal, a newline, a guest's
    result."""

    folder: Path
    fresh: bool = False
    """Run every job again, and keep the results."""
    say: Say = silent

    def get(self, snapshot_key: str, job: bytes, run: Callable[[], bytes]) -> dict[str, bytes]:
        """The files that the job left, from the cache or from `run`."""
        place = self._place(snapshot_key, job)
        kept = None if self.fresh else _read(place)
        if kept is not None:
            with suppress(OSError):
                os.utime(place)  # when it was last used
            return kept
        data = run()
        files = decode_tree(data)  # before it is kept: what cannot be read is not
        try:
            _write(place, data)
        except StorageError as problem:  # it was measured: what asked for it has it
            self.say(f"a result is not kept in the cache: {problem.message}")
        return files

    def holds(self, snapshot_key: str, job: bytes) -> bool:
        """Whether there is a result for the job, judging by its name."""
        return not self.fresh and self._place(snapshot_key, job).is_file()

    def _place(self, snapshot_key: str, job: bytes) -> Path:
        return self.folder / sha256(f"{FORMAT} {snapshot_key} ".encode() + job).hexdigest()


def _read(place: Path) -> dict[str, bytes] | None:
    """None if it is missing or damaged."""
    try:
        head, _, data = place.read_bytes().partition(b"\n")
        return decode_tree(data) if head.decode("ascii") == sha256(data).hexdigest() else None
    except (OSError, ValueError, DamagedError):
        return None


def _write(place: Path, data: bytes) -> None:
    """Write the whole file or nothing; of two that write the same, one stays. `_read` detects the damage of a
    crash of the machine."""
    with storing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".new-", delete=False) as file:
            beside = Path(file.name)
            try:
                file.write(sha256(data).hexdigest().encode() + b"\n" + data)
                file.close()
                beside.chmod(0o644)
                beside.replace(place)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
