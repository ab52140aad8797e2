"""Errors that several parts of the lab raise."""

from __future__ import annotations

from howlate.errors import NotPossibleError, UsageError
from howlate.words.statement import Statement, message

NOT_IN_ARCHIVE = message("lab.not-in-archive", "the archive does not have {what}", remedy="{hint}")
NO_MODULE = message("lab.no-module", "no module can be built for {kernel}: {reason}", remedy="{hint}")
FAILED = message("lab.failed", "{what} failed: {reason}")
UNUSABLE = message("lab.unusable", "{what} cannot be used: {reason}", remedy="{hint}")
OTHER_MIRROR = "use another mirror"


def qemu_failed(reason: object) -> Statement:
    return FAILED(what="QEMU", reason=reason)


def guest_failed(reason: str) -> Statement:
    return FAILED(what="the guest", reason=reason)


def saved_unreadable(reason: str) -> Statement:
    return UNUSABLE(what="a guest's saved state", reason=reason, hint="use QEMU 7.2 or newer")


def no_kernels() -> UsageError:
    return UsageError(
        "name the kernels", remedy="write --kernels 6.1,6.1-rt; `howlate lab kernels` lists them"
    )


def not_installed(program: str, package: str) -> NotPossibleError:
    return NotPossibleError(
        "{program} is not installed", remedy="install the package {package}", program=program, package=package
    )
