"""Standard output and standard error: all text passes here. What a terminal would obey is shown instead, whoever
wrote it; and of a pipe the reader may leave early (`howlate show RUN | head`)."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from howlate.words.printable import for_terminal


@contextmanager
def surviving_readers() -> Iterator[None]:
    """No escape sequence of others reaches the terminal. A pipe without a reader swallows the rest, so that the
    command goes on and ends with the exit code that it earned."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_surviving, before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:  # a terminal that is gone; what is detached would try once more
                swallow(stream.fileno())
            except ValueError:
                pass  # closed
            if isinstance(stream, Escaping):
                stream.detach()  # what it writes to is not its own
        sys.stdout, sys.stderr = before


def swallow(descriptor: int) -> None:
    """Whatever is still written there goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _surviving(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    return Escaping(
        io.BufferedWriter(_Pipe(stream.fileno())) if _is_pipe(stream) else stream.buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class Escaping(io.TextIOWrapper):
    def write(self, text: str) -> int:
        super().write(for_terminal(text, styles=self.isatty()))
        return len(text)

    def own(self, text: str) -> int:
        """What howlate draws itself, with escape sequences."""
        return super().write(text)


def draw(stream: TextIO, text: str) -> None:
    (stream.own if isinstance(stream, Escaping) else stream.write)(text)


def obeys_escapes(stream: TextIO) -> bool:
    """Whether it is a terminal that obeys escape sequences, so that a line may be drawn again."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _is_pipe(stream: TextIO) -> bool:
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _Pipe(io.RawIOBase):
    """A descriptor that is not closed with it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        assert isinstance(data, (bytes, bytearray, memoryview))
        try:
            return os.write(self._descriptor, data)
        except (BrokenPipeError, ConnectionResetError):
            swallow(self._descriptor)
            return len(data)
