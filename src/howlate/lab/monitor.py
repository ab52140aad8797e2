"""QEMU's monitor (QMP) for the few things that the lab asks: wait for the guest's stop, save the machine, load it,
let it go on, say how late its clock is.

One socket pair a guest, inherited: nothing in the file system, and nothing that anybody else could connect to.
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

if TYPE_CHECKING:
    from qemu.qmp import QMPClient

T = TypeVar("T")
_LOOK_S = 0.1
"""How often a wait looks whether it should end: for the deadline and for an interrupt, not for what it waits for."""
_STATE = "state"
_AHEAD = re.compile(r"Host - Guest clock\s+(-?[0-9]+) ms")


class GoneError(TargetError):
    """QEMU closed its monitor: it has ended, or is about to."""


class LateError(TargetError):
    """What was waited for did not come in time."""


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

    def wait_for_stop(self, deadline: float) -> None:
        """Until the guest has stopped itself."""
        self._run(self._stopped.get(), deadline)

    def save(self, image: Path, deadline: float) -> None:
        """The whole state of the stopped machine into an empty image (`qcow2`). Not by migration, whose thread does
        not take its turn: QEMU aborts if it keeps a record."""
        file = {"driver": "file", "filename": str(image), "locking": "off"}
        node = {"driver": "qcow2", "node-name": _STATE, "file": file, "cache": {"no-flush": True}}
        self._run(self._client.execute("blockdev-add", node), deadline)
        save = {"command-line": f"savevm {_STATE}"}
        said = self._run(self._client.execute("human-monitor-command", save), deadline)
        if said:
            raise TargetError(f"QEMU could not save the guest's state: {str(said).strip()}")

    def load(self, handle: int, deadline: float) -> None:
        """The machine, started with `-S -incoming defer`, becomes the one in the file."""
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
                raise TargetError("QEMU could not load the guest's state")

    def go_on(self, deadline: float) -> None:
        self._run(self._client.execute("cont"), deadline)

    def ahead_s(self, deadline: float) -> float:
        """How far the host's clock, which stands while the guest is stopped, is ahead of the guest's."""
        answer = self._run(self._client.execute("x-query-jit"), deadline)
        text = answer.get("human-readable-text", "") if isinstance(answer, dict) else ""
        ahead_ms = _AHEAD.search(str(text))
        if ahead_ms is None:
            raise TargetError("QEMU does not say what the guest's clock is")
        return int(ahead_ms[1]) / 1000

    def quit(self, deadline: float) -> None:
        with suppress(GoneError):
            self._run(self._client.execute("quit"), deadline)

    def close(self) -> None:
        """Ends the conversation whatever state it is in."""
        from qemu.qmp import QMPError

        with suppress(QMPError, OSError, EOFError, asyncio.CancelledError, RuntimeError):
            self._loop.run_until_complete(asyncio.wait_for(self._client.disconnect(), 5.0))
        self._loop.close()
        self._socket.close()

    def _run(self, work: Coroutine[Any, Any, T], deadline: float) -> T:
        """Waits for `work`, looking at the deadline and at `check` on the way."""
        from qemu.qmp import ExecuteError, QMPError

        task = self._loop.create_task(work)
        try:
            while not task.done():
                self._loop.run_until_complete(asyncio.wait({task}, timeout=_LOOK_S))
                if not task.done():
                    self._check()
                    if time.monotonic() > deadline:
                        raise LateError("it took too long")
            return task.result()
        except ExecuteError as problem:
            raise TargetError(f"QEMU refused a command: {problem}") from None
        except (QMPError, OSError, EOFError) as problem:
            raise GoneError(f"QEMU ended: {problem}") from None
        except BaseException:
            task.cancel()
            with suppress(BaseException):
                self._loop.run_until_complete(task)
            raise
