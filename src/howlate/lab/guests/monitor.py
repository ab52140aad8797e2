"""QEMU's monitor (QMP) for the lab's few requests: wait for the guest's stop, save the machine, load it, let
it continue, read how far its clock is behind.

Each guest has one socket pair, which is inherited: nothing is in the file system, and nobody else can
connect.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from howlate.errors import TargetError
from howlate.lab.problems import qemu_failed

if TYPE_CHECKING:
    from qemu.qmp import QMPClient

TOO_LATE = "it took too long"

T = TypeVar("T")
_LOOK_S = 0.1
"""How often a wait checks whether it should end: for the deadline and for an interrupt."""
_STATE = "state"
SILENT = {"announce-rounds": 0}
"""QEMU would announce a loaded machine to its networks for a second, by a timer of the host's time. While one is due,
no turn of a guest's CPUs is longer than until then, so that turns would follow the host; and a network card would
receive at that time what the other card of its pair announces."""
_AHEAD = re.compile(r"Host - Guest clock\s+(-?[0-9]+) ms")


class GoneError(TargetError):
    """QEMU closed its monitor: it has ended, or is about to."""


class LateError(TargetError):
    """An awaited event did not come in time."""


class Monitor:
    """The monitor of one QEMU, used by one thread. `check` is called while it waits and may raise."""

    def __init__(self, ours: socket.socket, check: Callable[[], None]) -> None:
        from qemu.qmp import EventListener, QMPClient

        self._check = check
        self._loop = asyncio.new_event_loop()
        self._stopped = EventListener(names=("STOP",))
        self._migration = EventListener(names=("MIGRATION",))
        self._client: QMPClient = QMPClient()
        self._client.logger.disabled = True  # it logs what it raises
        self._client.register_listener(self._stopped)
        self._client.register_listener(self._migration)
        self._socket = ours

    def connect(self, deadline: float) -> None:
        self._run(self._client.connect(self._socket), deadline)
        events = [{"capability": "events", "state": True}]
        self._run(self._client.execute("migrate-set-capabilities", {"capabilities": events}), deadline)

    def wait_for_stop(self) -> None:
        self._run(self._stopped.get(), float("inf"))

    def save(self, image: Path, deadline: float) -> None:
        """Save the whole state of the stopped machine into an empty image (`qcow2`). Not by migration, whose
        thread does not take its turn: QEMU aborts if it keeps a record."""
        file = {"driver": "file", "filename": str(image), "locking": "off"}
        node = {"driver": "qcow2", "node-name": _STATE, "file": file, "cache": {"no-flush": True}}
        self._run(self._client.execute("blockdev-add", node), deadline)
        save = {"command-line": f"savevm {_STATE}"}
        answer = self._run(self._client.execute("human-monitor-command", save), deadline)
        if answer:
            raise TargetError(qemu_failed(f"saving: {str(answer).strip()}"))

    def load(self, handle: int, deadline: float) -> None:
        """Turn the machine, started with `-S -incoming defer`, into the one in the file."""
        self._run(self._client.execute("migrate-set-parameters", SILENT), deadline)
        self._hand_over(handle, deadline)
        self._run(self._client.execute("migrate-incoming", {"uri": f"fd:{_STATE}"}), deadline)
        self._wait_for_migration(deadline)

    def _hand_over(self, handle: int, deadline: float) -> None:
        self._client.send_fd_scm(handle)
        self._run(self._client.execute("getfd", {"fdname": _STATE}), deadline)

    def _wait_for_migration(self, deadline: float) -> None:
        while True:
            event = self._run(self._migration.get(), deadline)
            data = event["data"]
            status = data.get("status") if isinstance(data, dict) else None
            if status == "completed":
                return
            if status in ("failed", "cancelled"):
                raise TargetError(qemu_failed("loading the saved state"))

    def go_on(self, deadline: float) -> None:
        self._run(self._client.execute("cont"), deadline)

    def ahead_s(self, deadline: float) -> float:
        """How far the host's clock, which is halted while the guest is stopped, is ahead of the guest's."""
        answer = self._run(self._client.execute("x-query-jit"), deadline)
        text = answer.get("human-readable-text", "") if isinstance(answer, dict) else ""
        ahead_ms = _AHEAD.search(str(text))
        if ahead_ms is None:
            raise TargetError(qemu_failed("it does not report the guest's clock"))
        return int(ahead_ms[1]) / 1000

    def registers(self, deadline: float) -> str:
        """The state of all CPUs, as QEMU prints it."""
        ask = {"command-line": "info registers -a"}
        return str(self._run(self._client.execute("human-monitor-command", ask), deadline))

    def quit(self, deadline: float) -> None:
        with suppress(GoneError):
            self._run(self._client.execute("quit"), deadline)

    def close(self) -> None:
        from qemu.qmp import QMPError

        with suppress(QMPError, OSError, EOFError, asyncio.CancelledError, RuntimeError):
            self._loop.run_until_complete(asyncio.wait_for(self._client.disconnect(), 5.0))
        self._loop.close()
        self._socket.close()

    def _run(self, work: Coroutine[Any, Any, T], deadline: float) -> T:
        """Wait for `work`; meanwhile check the deadline and call `check`."""
        from qemu.qmp import ExecuteError, QMPError

        task = self._loop.create_task(work)
        try:
            while not task.done():
                self._loop.run_until_complete(asyncio.wait({task}, timeout=_LOOK_S))
                if not task.done():
                    self._check()
                    if time.monotonic() > deadline:
                        raise LateError(qemu_failed(TOO_LATE))
            return task.result()
        except ExecuteError as problem:
            raise TargetError(qemu_failed(problem)) from None
        except (QMPError, OSError, EOFError) as problem:
            raise GoneError(qemu_failed(f"it ended: {problem}")) from None
        except BaseException:
            task.cancel()
            with suppress(BaseException):
                self._loop.run_until_complete(task)
            raise
