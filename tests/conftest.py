"""What holds for all tests."""

import gc
import os
import re
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import lacks
import made_once
from spent import Spent

# The tests read English, whoever starts them; those of the languages say which one they want.
os.environ["LC_ALL"] = "C.UTF-8"
os.environ.pop("LANGUAGE", None)
# Who runs the tests is why the machine is busy: only the tests of the waiting wait until it is quiet.
os.environ.setdefault("HOWLATE_QUIET_S", "0")

# A shared machine may stop a test for longer than any deadline: how long an example took, or to draw it, says
# nothing of the code.
AT_LEISURE = [HealthCheck.too_slow]
# A run draws the same examples as the one before it: what fails is of the change. `./dev search` draws new ones.
settings.register_profile(
    "howlate", deadline=None, suppress_health_check=AT_LEISURE, derandomize=True, max_examples=30
)
settings.register_profile("search", deadline=None, suppress_health_check=AT_LEISURE, max_examples=2000)
settings.load_profile("howlate")

# Whoever starts the tests in the background of a shell, or under nohup, has these ignored, and so would have all
# that the tests start and interrupt.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# The objects of 12,000 collected tests live to the end, and looking through them for cycles takes a twentieth of all.
gc.set_threshold(100_000, 20, 100)

ALONE = {"probe"}
"""The folders of what works on this machine in real time: asserts how fast it answers, loads it, changes and restores
it. These tests run with nothing beside them; all others, the lab's virtual time among them, on several CPUs at once.
A test of these folders that holds however busy the machine is, and changes nothing of it, is marked `beside`; one
elsewhere that does not is marked `alone` (tests/README.md)."""
MARKED = re.compile(r"mark\.alone|alone_where_shared")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--spent", metavar="FILE", type=Path, help="write what each test cost to this file, as JSON"
    )
    parser.addoption("--alone", action="store_true", help="import no file that has no test marked `alone`")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The second part of `./dev test` has few tests in few files (tools/suite.py)."""
    path = collection_path
    if not config.getoption("alone") or path.suffix != ".py" or ALONE & set(path.parts):
        return None
    return not MARKED.search(path.read_text()) or None


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Spent(config.getoption("spent")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks them, before `-m` chooses."""
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0]
        if folder == "cross":
            item.add_marker(pytest.mark.cross)
        if "howlate" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.command)
        if folder in ALONE and not item.get_closest_marker("beside"):
            item.add_marker(pytest.mark.alone)
    if not any("::" in argument for argument in config.args) and not config.getoption("lf", False):
        check_sweeps(items)


@pytest.fixture(scope="session", autouse=True)
def _made_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    mine = tmp_path_factory.getbasetemp()
    made_once.place = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / "made"
    made_once.place.mkdir(exist_ok=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A skip that does not say what it lacks, and what brings it, fails."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and not lacks.is_whole(report.longrepr[2]):
        report.outcome = "failed"
        report.longrepr = (
            f"skipped without what it lacks and what brings it (tests/lacks.py): {report.longrepr[2]}"
        )
    return report


def check_sweeps(items: list[pytest.Item]) -> None:
    """A sweep repeats what the quick suite claims too, so each of its tests has a variant there. Whoever chooses
    single variants by their names is not held to that."""
    swept: set[str] = set()
    quick: set[str] = set()
    for item in items:
        which = swept if item.get_closest_marker("sweep") else quick
        which.add(item.nodeid.partition("[")[0])
    if swept - quick:
        lost = ", ".join(sorted(swept - quick))
        raise pytest.UsageError(
            f"{lost}: no variant is left in the quick suite. Leave one without the mark `sweep`"
        )
