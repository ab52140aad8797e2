"""Why a test is skipped: what it lacks, and the command that brings it.

Every skip has this form, or the test fails (tests/conftest.py); so `./dev test` can end with a list of what was not
tried, and of what would try it. Only another kernel, or another machine, is brought by no command.
"""

import os
import re
import shutil
from typing import NoReturn

import pytest

KERNEL = "another kernel"
MACHINE = "another machine"
"""What no command brings."""
AS_ROOT = "sudo ./dev test"
_FORM = re.compile(
    rf"lacks (?P<what>\S.*): (?P<remedy>{KERNEL}|{MACHINE}|"
    r"(?:sudo|apt-get|snap|python3 -m pip|\./dev|\./howlate|[A-Z_]+=\S+) .*)",
    re.DOTALL,
)


def lack(what: str, remedy: str) -> str:
    """The reason of a skip. `what` may be a program's message; `remedy` is a command, `KERNEL` or `MACHINE`."""
    return f"lacks {' '.join(what.split())}: {remedy}"


def skip(what: str, remedy: str) -> NoReturn:
    pytest.skip(lack(what, remedy))


def is_whole(reason: str) -> bool:
    """Whether a skip's reason names what it lacks and what brings it."""
    return _FORM.fullmatch(reason.removeprefix("Skipped: ")) is not None


def can_be_had(reason: str) -> bool:
    """Whether a command brings what lacks."""
    match = _FORM.fullmatch(reason.removeprefix("Skipped: "))
    return match is not None and match["remedy"] not in (KERNEL, MACHINE)


def needs_program(name: str, package: str) -> pytest.MarkDecorator:
    """A mark: the test starts this program, of this Debian package."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=lack(name, f"apt-get install {package}"))


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason=lack("root's rights", AS_ROOT))
needs_two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason=lack("a second CPU that it may use", MACHINE)
)
