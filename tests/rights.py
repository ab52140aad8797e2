"""Taking rights away, for tests of what is said where they lack."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3, linux/capability.h
_OVERRIDE = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_Header = ctypes.c_uint32 * 2
_Sets = ctypes.c_uint32 * 6  # effective, permitted and inheritable, 32 capabilities at a time


@contextmanager
def without_rights(closed: Path) -> Iterator[None]:
    """A folder that may not be searched, also where the tests run as root: its owner, who is nobody else meanwhile
    (another user may not be able to read the program), gives up the right to pass over a file's mode."""
    was = closed.stat().st_mode
    closed.chmod(0)
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = _Header(_VERSION, 0), _Sets()
    _must(libc.capget(header, sets))
    effective = sets[0]
    sets[0] = effective & ~_OVERRIDE
    _must(libc.capset(header, sets))
    try:
        yield
    finally:
        sets[0] = effective
        _must(libc.capset(header, sets))
        closed.chmod(was)


def _must(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
