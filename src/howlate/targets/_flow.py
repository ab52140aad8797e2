"""Data from a connection while it lasts: lines, and a file in pieces. Another machine may send anything, without an
end or a byte a minute: whatever is read has a limit of bytes and of time."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO

from msgspec import Struct

from howlate.errors import TargetError
from howlate.store.frames import crc32c
from howlate.system.interrupts import interrupts_held
from howlate.targets._target import Progress
from howlate.targets.local import NO_ANSWER, SILENT_S, silent
from howlate.words.statement import message

NOT_THE_PROBE = message(
    "target.not-the-probe",
    "the answer of {host} is not from howlate's probe: {reason}",
    remedy="check that no login script prints and that howlate's own probe answers there",
)
TAKES_TOO_LONG = message(
    "target.takes-too-long-there",
    "a cell of {planned_s:number} s was stopped on {host} after {limit_s:number} s",
    remedy="check the load there (`howlate doctor --target ...`), or plan a shorter cell",
)

MARK = b"howlate:\n"
"""Before what a command prints: a login script may print too."""
_MOST_BEFORE = 1 << 20
"""Bytes of what a login script may print."""
_MOST_LINE = 1 << 20
_FREE_BYTES, _BYTES_PER_S = 16 << 20, 64 << 10
"""What a cell's progress may have: at once (a new connection reports it from the beginning), and for each second."""
_TIMES_PLANNED, _FREE_S = 20.0, 600.0
"""The limit of a cell whose progress grows: a multiple of its planned length, and an addition."""
_BLOCK = 65536
_LOOK_S = 1.0


class EndlessError(TargetError):
    """More comes than may come."""


def too_much(host: str, most: int, what: str) -> EndlessError:
    return EndlessError(NOT_THE_PROBE(host=host, reason=f"more than {most} bytes of {what}"))


class Got(Struct):
    """The part of a file that has arrived, and the expected whole."""

    file: IO[bytes]
    count: int = 0
    size: int = -1
    checksum: int = 0
    crc: int = 0
    spent_s: float = 0.0
    """The time of connections over which it came."""
    began: float = 0.0
    """Since when the present one is waited for."""

    def take(self, data: bytes) -> None:
        self.file.write(data)
        self.count += len(data)
        self.crc = crc32c(data, self.crc)

    @property
    def is_whole(self) -> bool:
        return (self.count, self.crc) == (self.size, self.checksum)


class Forward:
    """Progress that only grows: a new connection reports it from the beginning."""

    def __init__(self, on_progress: Callable[[Progress], None]) -> None:
        self._on_progress, self.elapsed_s = on_progress, 0.0

    def __call__(self, progress: Progress | None) -> bool:
        """Whether it grew."""
        if progress is None or progress.elapsed_s <= self.elapsed_s:
            return False
        self.elapsed_s = progress.elapsed_s
        self._on_progress(progress)
        return True


class Incoming:
    """What a command prints. A caller is never held for longer than a second."""

    def __init__(self, output: IO[bytes], host: str) -> None:
        self._output, self._host = output, host
        self._selector = selectors.DefaultSelector()
        self._selector.register(output, selectors.EVENT_READ)
        self._rest = bytearray()
        self._looked = 0
        """So much of the rest holds no line break."""
        self.is_over = False

    def __enter__(self) -> Incoming:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def _more(self) -> bool:
        """Whether something came within a second, or the end."""
        if not self._selector.select(_LOOK_S):
            return False
        data = os.read(self._output.fileno(), _BLOCK)
        self._rest += data
        self.is_over = not data
        return True

    def line(self) -> bytes | None:
        """The next line, without its end; None if there is none yet, or none any more (`is_over`)."""
        if (line := self._taken()) is not None or self.is_over:
            return line
        self._more()
        if (line := self._taken()) is None and len(self._rest) > _MOST_LINE:
            raise too_much(self._host, _MOST_LINE, "a line")
        return line

    def _taken(self) -> bytes | None:
        end = self._rest.find(b"\n", self._looked)
        if end < 0:
            self._looked = len(self._rest)
            return None
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        self._looked = 0
        return line

    def after_mark(self) -> Iterator[bytes | None]:
        """The lines after MARK; None once a second if none came."""
        yield from self._until_mark()
        while (line := self.line()) is not None or not self.is_over:
            yield line

    def _until_mark(self) -> Iterator[None]:
        before = 0
        while not self.is_over:
            line = self.line()
            if line is None:
                yield None
            elif line + b"\n" == MARK:
                return
            else:
                before += len(line) + 1
                if before > _MOST_BEFORE:
                    raise too_much(self._host, _MOST_BEFORE, "text before an answer")

    def bytes_up_to(self, most: int) -> bytes:
        """At most `most` of the bytes that have come or come within a second."""
        if not self._rest and not self.is_over:
            self._more()
        data = bytes(self._rest[:most])
        del self._rest[:most]
        self._looked = 0
        return data


class ProgressLimit:
    """The limit of a cell's progress."""

    def __init__(self, host: str) -> None:
        self._host, self._began, self._count = host, time.monotonic(), 0

    def count(self, line: bytes) -> None:
        self._count += len(line) + 1
        most = _FREE_BYTES + int((time.monotonic() - self._began) * _BYTES_PER_S)
        if self._count > most:
            raise too_much(self._host, most, "a cell's progress")


def longest_s(planned_s: float) -> float:
    """What a cell of this planned length may take, whatever its progress says."""
    return _TIMES_PLANNED * planned_s + _FREE_S


def check_length(taken_s: float, planned_s: float, host: str) -> None:
    """Progress that grows forever does not justify waiting forever."""
    if taken_s > (limit_s := longest_s(planned_s)):
        raise TargetError(TAKES_TOO_LONG(planned_s=planned_s, host=host, limit_s=limit_s))


def check_silence(heard: float, began: float, limit_s: float) -> None:
    now = time.monotonic()
    if limit_s and now - began > limit_s:
        raise TargetError(NO_ANSWER(command="session follow", limit_s=limit_s))
    if now - heard > SILENT_S:
        raise silent(SILENT_S, " --target ...")


def gathered(
    argv: Sequence[str], given: bytes | None, limit_s: float, most: Sequence[int], environment: dict[str, str]
) -> tuple[int, bytes, bytes] | None:
    """Exit code, output and errors of a command; None if it does not end in time. One that sends more than `most`
    bytes on either is ended; what came is longer then."""
    deadline = time.monotonic() + limit_s
    outputs = (bytearray(), bytearray())
    with interrupts_held():
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            env=environment,
        )
    with process, selectors.DefaultSelector() as selector:
        try:
            _register(selector, process, given)
            while process.stdout in selector.get_map():
                if time.monotonic() > deadline:
                    return None
                _pass_on(selector, outputs, _LOOK_S)
                if any(len(data) > limit for data, limit in zip(outputs, most, strict=True)):
                    return 0, bytes(outputs[0]), bytes(outputs[1])
            process.wait(max(0.1, deadline - time.monotonic()))
            while len(outputs[1]) <= most[1] and _pass_on(
                selector, outputs, 0.0
            ):  # others may hold the other end
                pass
        except subprocess.TimeoutExpired:
            return None
        finally:
            with interrupts_held():
                if process.poll() is None:
                    process.kill()
                process.wait()
    return process.returncode, bytes(outputs[0]), bytes(outputs[1])


def _register(
    selector: selectors.BaseSelector, process: subprocess.Popen[bytes], given: bytes | None
) -> None:
    assert process.stdout is not None
    assert process.stderr is not None
    selector.register(process.stdout, selectors.EVENT_READ, 0)
    selector.register(process.stderr, selectors.EVENT_READ, 1)
    if process.stdin is not None:
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE, memoryview(given or b""))


def _pass_on(selector: selectors.BaseSelector, outputs: Sequence[bytearray], seconds: float) -> bool:
    """Whether there was something to read or to write."""
    ready = selector.select(seconds) if selector.get_map() else []
    for key, _ in ready:
        if isinstance(key.data, memoryview):
            _give(selector, key.fileobj, key.data)
        else:
            _take(selector, key.fileobj, outputs[key.data])
    return bool(ready)


def _take(selector: selectors.BaseSelector, file: object, output: bytearray) -> None:
    data = os.read(file.fileno(), _BLOCK)  # type: ignore[attr-defined]
    output += data
    if not data:
        selector.unregister(file)  # type: ignore[arg-type]


def _give(selector: selectors.BaseSelector, file: object, rest: memoryview) -> None:
    """One that ends without reading all of it says why by its exit code."""
    try:
        rest = rest[os.write(file.fileno(), rest[:_BLOCK]) :]  # type: ignore[attr-defined]
    except BlockingIOError:
        return
    except OSError:
        rest = rest[:0]
    if rest:
        selector.modify(file, selectors.EVENT_WRITE, rest)  # type: ignore[arg-type]
    else:
        selector.unregister(file)  # type: ignore[arg-type]
        file.close()  # type: ignore[attr-defined]
