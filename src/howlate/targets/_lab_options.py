"""The lab's options except its kernels."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from howlate.model.guest_cpus import MOST_MIPS


class LabOptions(Struct, frozen=True):
    """How the lab's guests are made and run."""

    own: tuple[Path, ...] = ()
    """Kernels of the user's own, as `PATH` or `NAME=PATH`, each also with `[parameters]`."""
    probe: Path | None = None
    """A probe of the user's own in place of howlate's: one that was built for a real-time core."""
    modules: tuple[Path, ...] = ()
    """Folders of modules that are built for each kernel and loaded before each cell."""
    clock: str = "virtual"
    jobs: int = 0
    """Guests at once; 0: one for each CPU of the host."""
    cached: bool = True
    """Whether results may come from the cache."""
    cpus: int | None = None
    """CPUs of a guest; None: the study's number, else one."""
    mips: int = MOST_MIPS
    """Millions of instructions in a second of a guest's virtual time."""
    turn_ns: int = 0
    """The longest turn of one of several CPUs; 0: the usual one."""
