"""Standard output and standard error as pipes whose reader may leave early (`howlate show RUN | head`)."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO


@contextmanager
def surviving_readers() -> Iterator[None]:
    """A pipe without a reader swallows the rest, so that the command goes on and ends with the exit code that it
    earned."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_surviving, before)
    try:
        yield
    finally:
        with suppress(OSError):
            sys.stdout.flush()
        sys.stdout, sys.stderr = before


def swallow(descriptor: int) -> None:
    """Whatever is still written there goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _surviving(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper) or not _is_pipe(stream):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno())),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


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
