"""The samples of a cell that another machine measured, fetched over as many connections as it takes."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from howlate.errors import ExitCode, TargetError
from howlate.targets._flow import NOT_THE_PROBE, Got, Incoming, too_much
from howlate.targets._link import ASK_S, SLOWEST, Link
from howlate.words.statement import message

LOST_THERE = message("target.lost-there", "{host} has lost {what}", remedy="check whether it was restarted")
DAMAGED = message("target.damaged", "{what} arrived damaged", remedy="try again")
NO_SPACE = message("target.no-space", "no space is left {where} in {folder}", remedy="make room there")
SAMPLES_SLOW = message(
    "target.samples-slow",
    "{host} sends its samples at less than {slowest} bytes per second",
    remedy="check the connection, or measure fewer releases",
)

NO_PROGRAM = (126, 127)
"""What the shell there says of a program that is gone, with the folder that it was in."""
SESSION_GONE = 6
"""Of `howlate-probe session`: its keeper is gone."""
LOST = (ExitCode.USAGE, ExitCode.NOT_POSSIBLE, ExitCode.BROKEN, SESSION_GONE, *NO_PROGRAM)
"""The machine answers, and has nothing more of the cell: trying again does not help."""
_ENDS_S = 20.0
"""A command whose output has ended, ends within this."""
STREAM = "out/0/stream"
_HEAD = re.compile(rb"([0-9]{1,18}) ([0-9]{1,10})\r?")
_MOST_STREAMS, _FREE_STREAM = 4, 256 << 20
"""The limit of a stream: a multiple of its planned size, and an addition."""


class Samples:
    """A stream there, of about `stream_bytes` bytes."""

    def __init__(
        self, link: Link, stopped: threading.Event, folder: str, name: str, stream_bytes: int
    ) -> None:
        self._link, self._stopped = link, stopped
        self._folder, self._name, self._stream_bytes = folder, name, stream_bytes

    def fetch(self, got: Got) -> None:
        """What one connection brings of it. LinkError if that is not the rest."""
        words = f"session send {self._folder} {self._name} {STREAM} --from {got.count}"
        with self._link.started(f"exec {self._folder}/howlate-probe {words}") as process:
            assert process.stdout is not None
            with Incoming(process.stdout, self._link.host) as incoming, self._timed(got):
                head = next((line for line in incoming.after_mark() if self._goes_on(got, line)), None)
                if head is not None:
                    self._expect(got, head)
                    while got.count < got.size and not incoming.is_over:
                        data = incoming.bytes_up_to(got.size - got.count)
                        self._goes_on(got, data)
                        got.take(data)
                    if got.count == got.size and incoming.bytes_up_to(1):
                        raise too_much(self._link.host, got.size, "samples")
            if got.is_whole:
                return
            code = code_of(process)
        if code in LOST:
            raise TargetError(LOST_THERE(host=self._link.host, what="the samples"))
        if code != 0 or got.count < got.size:
            raise self._link.broke()

    def _expect(self, got: Got, head: bytes) -> None:
        """What the first line announces: "SIZE CRC32C"."""
        match = _HEAD.fullmatch(head)
        if match is None:
            raise TargetError(NOT_THE_PROBE(host=self._link.host, reason="session send"))
        got.size, got.checksum = int(match[1]), int(match[2])
        most = _MOST_STREAMS * self._stream_bytes + _FREE_STREAM
        if got.size > most:
            raise too_much(self._link.host, most, "samples")
        folder = Path(got.file.name).parent
        if got.size - got.count > shutil.disk_usage(folder).free:
            raise TargetError(NO_SPACE(where="here", folder=folder))

    @contextlib.contextmanager
    def _timed(self, got: Got) -> Iterator[None]:
        got.began = time.monotonic()
        try:
            yield
        finally:
            got.spent_s += time.monotonic() - got.began

    def _goes_on(self, got: Got, data: bytes | None) -> bool:
        """Whether something came. Raises if it comes too slowly, or if `stop` was called."""
        if self._stopped.is_set():
            raise KeyboardInterrupt
        spent_s = got.spent_s + time.monotonic() - got.began
        if spent_s > ASK_S + got.count / SLOWEST:
            raise TargetError(SAMPLES_SLOW(host=self._link.host, slowest=SLOWEST))
        return data is not None


def code_of(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a command whose output has ended; -1 if it goes on without any."""
    try:
        return process.wait(_ENDS_S)
    except subprocess.TimeoutExpired:
        return -1
