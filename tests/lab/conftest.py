"""A boot takes ten seconds of a core: tests that are not about booting share the guests that one made."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.guests import booted_guests


@pytest.fixture(scope="session")
def booted() -> Path:
    return booted_guests()
