"""Taking rights away, for tests of what is said where they lack."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def without_rights(closed: Path) -> Iterator[None]:
    """A folder that may not be searched, also where the tests run as root."""
    was = closed.stat().st_mode
    closed.chmod(0)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65534)
        yield
    finally:
        if root:
            os.seteuid(0)
        closed.chmod(was)
