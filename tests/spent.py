"""What each test costs: CPU time of its process and of all the children that it waited for, and time on the clock.

A busy machine stretches the time on the clock and leaves the CPU time as it is, so the two together tell which tests
are expensive and which ones only wait.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest

PROPERTY = "spent"


def _clocks() -> tuple[float, float]:
    """CPU seconds of this process and its children, and seconds on the clock."""
    return sum(os.times()[:4]), time.monotonic()


class Spent:
    """Adds to each report of a test what its phase cost, and writes the sums to a file where the reports arrive."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.before = _clocks()
        self.tests: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def pytest_runtest_logstart(self) -> None:
        self.before = _clocks()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = _clocks()
        report.user_properties.append((PROPERTY, [now[0] - self.before[0], now[1] - self.before[1]]))
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == PROPERTY:
                cpu_s, clock_s = cast("list[float]", value)
                self.tests[report.nodeid][0] += cpu_s
                self.tests[report.nodeid][1] += clock_s

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.file is not None and not hasattr(session.config, "workerinput"):
            self.file.write_text(json.dumps(self.tests, indent=0))
