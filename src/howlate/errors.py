"""What can go wrong, told apart by whose fault it is, with the exit codes that DESIGN.md documents."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of probe and host alike."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_POSSIBLE = 3
    BROKEN = 4
    INCONCLUSIVE = 5


class HowlateError(Exception):
    """One sentence of what is wrong and, where there is one, the remedy; never shown as a traceback."""

    exit_code = ExitCode.BROKEN

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class UsageError(HowlateError):
    """The caller asked for something that makes no sense."""

    exit_code = ExitCode.USAGE


class NotPossibleError(HowlateError):
    """Right in itself, but not on this machine."""

    exit_code = ExitCode.NOT_POSSIBLE


class TargetError(HowlateError):
    """The machine that measures did not do what was asked."""

    def __init__(self, message: str, remedy: str = "", console: str = "") -> None:
        super().__init__(message, remedy)
        self.console = console
        """All that a guest wrote on its console, where there is one."""


class DamagedError(HowlateError):
    """A file of ours that is not what it should be."""


class StorageError(HowlateError):
    """A file of ours could not be written."""
