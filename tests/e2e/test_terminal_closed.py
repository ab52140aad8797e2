"""A terminal that is closed while howlate measures interrupts it: what is whole is kept, and the code says so."""

import contextlib
import fcntl
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from howlate.system.paths import probe_path
from processes import children_of, environment, is_running, until

pytestmark = pytest.mark.alone


def with_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_closed_terminal_ends_with_5(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "howlate", "check", "--duration", "60", "--no-wait"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=tmp_path,
        env=environment(HOWLATE_PROBE=str(probe_path())),
        preexec_fn=with_terminal,
    )
    os.close(slave)
    os.set_blocking(master, False)

    shown = bytearray()

    def measures() -> bool:
        """It shows how far it is."""
        with contextlib.suppress(OSError):
            shown.extend(os.read(master, 65536))
        return b"time left" in shown

    try:
        assert until(measures), shown
        below = children_of(process.pid)
        os.close(master)
        assert process.wait(timeout=60) == 5
        assert until(lambda: not any(map(is_running, below)))
    finally:
        process.kill()
        process.wait()
