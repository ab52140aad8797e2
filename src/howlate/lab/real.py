"""Real time: guests with KVM, if the host has it."""

from __future__ import annotations

import os
from pathlib import Path

from howlate.errors import NotPossibleError
from howlate.words.statement import message

NO_REAL_TIME = message("lab.no-real-time", "guests cannot run in real time: {reason}", remedy="{hint}")

DEVICE = Path("/dev/kvm")
TRY_S = 20.0
"""With KVM a guest's first program runs 1 to 3 s after its start."""
HOW_TO_CHECK = (
    "real time needs a machine whose processor's virtualisation howlate may use: `ls -l /dev/kvm`, "
    "`grep -c -E 'vmx|svm' /proc/cpuinfo`; in a virtual machine its host must allow nested guests. "
    "Virtual time needs none of it"
)


def check_device(device: Path = DEVICE) -> None:
    """NotPossibleError if KVM is missing or may not be used."""
    if not device.exists():
        raise NotPossibleError(NO_REAL_TIME(reason=f"{device} does not exist", hint=HOW_TO_CHECK))
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError as problem:
        hint = f"become a member of the group that owns {device}, or root"
        raise NotPossibleError(
            NO_REAL_TIME(reason=f"{device} cannot be opened ({problem.strerror})", hint=hint)
        ) from None
