"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A shared machine may stop a test for longer than any deadline: how long an example took, or to draw it, says
# nothing of the code.
AT_LEISURE = [HealthCheck.too_slow]
# A run draws the same examples as the one before it: what fails is of the change. `./dev search` draws new ones.
settings.register_profile("howlate", deadline=None, suppress_health_check=AT_LEISURE, derandomize=True)
settings.register_profile("search", deadline=None, suppress_health_check=AT_LEISURE, max_examples=2000)
settings.load_profile("howlate")
