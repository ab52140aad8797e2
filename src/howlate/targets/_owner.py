"""Whose a session on another machine is."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from msgspec import Struct

_UNSAFE = re.compile(r"[^A-Za-z0-9._@-]")


class Owner(Struct, frozen=True):
    """Which howlate a session belongs to; on the machine that it runs on one can tell whether it still lives."""

    who: str
    boot: str
    pid: int
    born: str

    @staticmethod
    def this() -> Owner:
        name = f"{os.environ.get('USER') or os.getuid()}@{socket.gethostname()}"
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        boot += "-" + _UNSAFE.sub(
            "", str(Path("/proc/self/ns/pid").readlink())
        )  # containers number from 1 each
        return Owner(_UNSAFE.sub("_", name), boot, os.getpid(), _born(os.getpid()))

    @property
    def text(self) -> str:
        return f"{self.who}+{self.boot}+{self.pid}+{self.born}"

    @staticmethod
    def parse(text: str) -> Owner | None:
        words = text.split("+")
        return Owner(words[0], words[1], int(words[2]), words[3]) if len(words) == 4 else None

    def is_gone(self, now: Owner) -> bool:
        """Certainly: of this machine and boot, and not running."""
        return self.boot == now.boot and _born(self.pid) != self.born


def _born(pid: int) -> str:
    """When a process was started, in ticks since boot; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except OSError:
        return ""
