"""A boot takes ten seconds of a core: tests that are not about booting share the guests that one made."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.guests import KERNELS


@pytest.fixture(scope="session")
def booted() -> Path:
    """A folder of snapshots for all tests, in whichever process and session they run. Each is kept by the hash of all
    that it is made of, the probe among it, and checked before it is used."""
    folder = KERNELS / "snapshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
