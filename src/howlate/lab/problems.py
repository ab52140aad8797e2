"""Errors that several parts of the lab raise."""

from __future__ import annotations

from howlate.errors import NotPossibleError
from howlate.words.statement import rule

NOT_INSTALLED = rule(
    "lab.not-installed", "{program} is not installed", remedy="install the package {package}"
)
NOT_IN_ARCHIVE = rule("lab.not-in-archive", "the archive does not have {what}", remedy="{hint}")
NO_MODULE = rule("lab.no-module", "no module can be built for {kernel}: {reason}", remedy="{hint}")
QEMU_FAILED = rule("lab.qemu-failed", "QEMU failed: {reason}")
GUEST_FAILED = rule("lab.guest-failed", "the guest failed: {reason}")
SAVED_UNREADABLE = rule(
    "lab.saved-unreadable",
    "a guest's state that QEMU saved cannot be read: {reason}",
    remedy="use QEMU 7.2 or newer",
)
TWICE = rule("lab.named-twice", "the kernel {label} is named twice", remedy="give each its own name")
OTHER_MIRROR = "use another mirror"


def not_installed(program: str, package: str) -> NotPossibleError:
    """The error about a program that this machine lacks."""
    return NotPossibleError(NOT_INSTALLED(program=program, package=package))
