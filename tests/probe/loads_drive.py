"""A load of the real probe that runs, and what the kernel says of its processes."""

import contextlib
import json
import os
import signal
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from probe.drive import probe_path
from processes import children_of, completed

ROOT = os.geteuid() == 0
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


class Report(Struct, frozen=True):
    time_ns: int
    cpu_ns: int
    units: int
    restarts: int
    deeds: int


class Load:
    """A load that runs, with its report pipe."""

    def __init__(self, *words: str | Path, before: list[str] | None = None) -> None:
        self.read_fd, write_fd = os.pipe()
        self.process = subprocess.Popen(
            [
                *(before or []),
                str(probe_path()),
                "load",
                *map(str, words),
                "--json",
                f"--report-fd={write_fd}",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=[write_fd],
            start_new_session=True,
        )
        os.close(write_fd)

    def come_first(self) -> None:
        come_first(self.process.pid)

    def report(self) -> Report | None:
        """The next report, waited for; None when the load has ended."""
        got = os.read(self.read_fd, 40)
        return Report(*struct.unpack("<5q", got)) if got else None

    def tree(self) -> list[int]:
        return [self.process.pid, *children_of(self.process.pid)]

    def stop(self, number: int = signal.SIGTERM) -> Any:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        return json.loads(out)


@contextlib.contextmanager
def running(*words: str | Path, before: list[str] | None = None) -> Iterator[Load]:
    load = Load(*words, before=before)
    try:
        yield load
    finally:
        if load.process.poll() is None:
            load.process.kill()
        load.process.communicate()
        os.close(load.read_fd)


def come_first(leader: int) -> None:
    """Lets a session come before whoever else works on this machine, where that is allowed."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{leader}/autogroup").write_text("-20")


def of_session(leader: int) -> list[int]:
    """Every process of a session that runs, zombies aside."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == leader and state not in "ZX":
                    found.append(int(folder.name))
    return found


def load_once(*words: str, before: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [*(before or []), str(probe_path()), "load", *words]
    return completed(command, timeout=120)
