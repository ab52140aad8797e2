"""How each test ended, and what it cost: CPU time of its process and of all the children that it waited for, and
time on the clock.

A busy machine stretches the time on the clock and leaves the CPU time as it is, so the two together tell which tests
are expensive and which ones only wait.
"""

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
        self.costs: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.outcomes: dict[str, tuple[str, str]] = {}
        """Of each test: passed, failed or skipped, and why it was skipped."""

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
        self._note_outcome(report)
        for name, value in report.user_properties:
            if name == PROPERTY:
                cpu_s, clock_s = cast("list[float]", value)
                self.costs[report.nodeid][0] += cpu_s
                self.costs[report.nodeid][1] += clock_s

    def _note_outcome(self, report: pytest.TestReport) -> None:
        """A test has several reports; what failed in one of them has failed."""
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.outcomes[report.nodeid] = ("skipped", reason.removeprefix("Skipped: "))
        elif report.failed:
            self.outcomes[report.nodeid] = ("failed", "")
        else:
            self.outcomes.setdefault(report.nodeid, ("passed", ""))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.file is not None and not hasattr(session.config, "workerinput"):
            rows = {test: [*costs, *self.outcomes[test]] for test, costs in self.costs.items()}
            self.file.write_text(json.dumps(rows, indent=0))
