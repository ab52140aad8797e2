"""What holds for all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# The tests read English, whoever starts them; those of the languages say which one they want.
os.environ["LC_ALL"] = "C.UTF-8"
os.environ.pop("LANGUAGE", None)

# A shared machine may stop a test for longer than any deadline: how long an example took, or to draw it, says
# nothing of the code.
AT_LEISURE = [HealthCheck.too_slow]
# A run draws the same examples as the one before it: what fails is of the change. `./dev search` draws new ones.
settings.register_profile("howlate", deadline=None, suppress_health_check=AT_LEISURE, derandomize=True)
settings.register_profile("search", deadline=None, suppress_health_check=AT_LEISURE, max_examples=2000)
settings.load_profile("howlate")

# Whoever starts the tests in the background of a shell, or under nohup, has these ignored, and so would have all
# that the tests start and interrupt.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
