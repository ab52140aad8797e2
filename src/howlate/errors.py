"""Errors, distinguished by who is at fault, with the exit codes that docs/architecture.md documents."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from howlate.words import say
from howlate.words.say import statement_of
from howlate.words.statement import Statement, message

REMEDIED = message("remedied", "{problem}", remedy="{remedy}")
"""Another statement, or a text that howlate did not write, with a remedy of its own."""


class ExitCode(IntEnum):
    """Exit codes of probe and host alike."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_POSSIBLE = 3
    BROKEN = 4
    INCONCLUSIVE = 5


class HowlateError(Exception):
    """A statement of what is wrong; the remedy of its rule says what to do. Never shown as a traceback."""

    exit_code = ExitCode.BROKEN

    def __init__(self, problem: Statement | str, /, *, remedy: str = "", **values: Any) -> None:
        """With a statement, or with the templates of its sentences and their values (`statement_of`)."""
        self.statement = statement_of(problem, remedy=remedy, **values)
        super().__init__(self.statement)

    @property
    def message(self) -> str:
        return say.english(self.statement)

    @property
    def remedy(self) -> str:
        """What to do about it, in English; "" if nothing is known."""
        return say.remedy(self.statement)

    def __str__(self) -> str:
        return self.message


class UsageError(HowlateError):
    """The request makes no sense."""

    exit_code = ExitCode.USAGE


class NotPossibleError(HowlateError):
    """A valid request that is not possible on this machine."""

    exit_code = ExitCode.NOT_POSSIBLE


class UnfitKernelError(NotPossibleError):
    """It is this kernel that it is not possible with: it lacks something, or cannot be a guest."""


class TargetError(HowlateError):
    """The measuring machine did not do what it should."""

    def __init__(
        self, problem: Statement | str, /, console: str = "", *, remedy: str = "", **values: Any
    ) -> None:
        super().__init__(problem, remedy=remedy, **values)
        self.console = console
        """Everything that a guest wrote to its console, if there is one."""


class GuestError(TargetError):
    """A guest did not boot, died, or was ended because it stopped making progress."""


class DamagedError(HowlateError):
    """One of howlate's files does not have its expected content."""


class StorageError(HowlateError):
    """One of howlate's files could not be written."""
