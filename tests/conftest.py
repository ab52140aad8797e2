"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# A shared machine may stop a test for longer than any deadline: how long an example took says nothing of the code.
settings.register_profile("howlate", deadline=None)
settings.load_profile("howlate")
