"""A boot takes ten seconds of a core: tests that are not about booting share the guests that one made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def booted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of snapshots for all tests of a session, in whichever of its processes they run."""
    session = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        session = session.parent
    folder = session / "snapshots"
    folder.mkdir(exist_ok=True)
    return folder
