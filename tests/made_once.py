"""Folders that many tests begin with, and may damage: each is made once in a session, and copied."""

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

place: Path | None = None
"""Where they are kept, for all processes of the session (tests/conftest.py); without it each call makes its own."""


def once(path: Path, make: Callable[[Path], object], *inputs: str | bytes) -> None:
    """`path` as `make` makes it of these inputs, in a folder of the same name."""
    if place is None or path.exists():
        make(path)
        return
    key = hashlib.sha256(os.fsencode(path.name))
    for data in inputs:
        key.update(hashlib.sha256(data.encode() if isinstance(data, str) else data).digest())
    kept = place / key.hexdigest()
    if not kept.exists():
        begun = place / f"{kept.name}-{os.getpid()}"
        begun.mkdir()
        make(begun / path.name)
        with suppress(OSError):  # another process was first
            begun.rename(kept)
    shutil.copytree(kept / path.name, path)
