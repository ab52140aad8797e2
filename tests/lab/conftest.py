"""A boot takes ten seconds of a core: tests that are not about booting share the guests that one made."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def booted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of snapshots for all tests of a session."""
    return tmp_path_factory.mktemp("snapshots")
