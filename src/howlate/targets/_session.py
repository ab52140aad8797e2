"""A session on another machine: whose it is, where the probe is put, and what it reports of the jobs that ran."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from howlate.errors import UsageError
from howlate.model.decode import json_value

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


_PLACE = re.compile(r"/[A-Za-z0-9._@:+/-]*")


def is_place(folder: str) -> bool:
    """Whether a command there can name it without quotes."""
    return _PLACE.fullmatch(folder) is not None


def configured_folder() -> str:
    """$HOWLATE_SSH_FOLDER; UsageError where no command there could name it."""
    folder = os.environ.get("HOWLATE_SSH_FOLDER", "")
    if folder and not is_place(folder):
        raise UsageError(
            '$HOWLATE_SSH_FOLDER is "{folder}", which cannot be used',
            remedy="name an absolute folder, of letters, digits and . _ @ : + - only",
            folder=folder,
        )
    return folder


def put_script(folder: str, size: int, owner: str, keep_s: float) -> str:
    """The keeper's answer is its last line; where something fails the folder goes, and the last line says why."""
    probe = f"{folder}/howlate-probe"
    undo = f"{{ rm -rf {folder}; exit"
    return (
        f"exec 2>&1; umask 077; mkdir {folder} || exit 10; "
        f"cat >{probe} || {undo} 11; }}; "
        f"test $(wc -c <{probe}) -eq {size} || {undo} 12; }}; "
        f"chmod 700 {probe}; "
        f"{probe} session open {folder} --owner {owner} --keep {keep_s * 1000:.0f}ms || {undo} 13; }}"
    )


def why_not(lines: Sequence[str], code: int) -> str:
    """Why a place did not take it, from what the script printed and its exit code."""
    last = lines[-1].rpartition(": ")[2] if lines else ""
    if code == 13 and "ermission denied" in last:
        return "mounted noexec, or programs may not be started there"
    if code == 12:
        return "not all of it arrived"
    return last or f"exit code {code}"


def session_of(line: str) -> tuple[str, Owner | None] | None:
    """A line of `session list`: folder and owner; None if it is none."""
    try:
        session = json_value(line)
        folder, owner = session["folder"], session["state"]["owner"]
        if isinstance(folder, str) and is_place(folder) and isinstance(owner, str):
            return folder, Owner.parse(owner)
    except (ValueError, LookupError, TypeError):
        pass
    return None


class JobLine(Struct, frozen=True):
    status: str = ""
    stderr: str = ""


class Report(Struct, frozen=True):
    """What became of a job (`work_report` in probe/src/job/session_folder.cpp)."""

    lines: tuple[JobLine, ...]
    code: int
    free_bytes: int
    errors: str = ""


def status_of(report: Report) -> int | None:
    """The measuring line's; None if it has none."""
    word, _, number = (report.lines[0].status if report.lines else "").partition(" ")
    text = number if word == "signal" else word
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return None
    return -int(text) if word == "signal" else int(text)
