"""Data from a connection while it lasts: lines, and a file in pieces."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from howlate.errors import TargetError
from howlate.store.frames import crc32c
from howlate.targets._link import MARK
from howlate.targets._target import Progress
from howlate.targets.local import SILENT_S
from howlate.words.statement import rule

NOT_ENDED = rule("target.not-ended", "the command did not end within {limit_s:number} s")
SILENT_THERE = rule(
    "target.silent-there",
    "the probe was silent for {silent_s:number} s, so it was stopped",
    remedy="check whether a real-time task holds all CPUs there (`howlate doctor --target ...`)",
)


@dataclass
class Got:
    """The part of a file that has arrived, and the expected whole."""

    file: IO[bytes]
    count: int = 0
    size: int = -1
    checksum: int = 0
    crc: int = 0

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

    def __call__(self, progress: Progress | None) -> None:
        if progress is not None and progress.elapsed_s > self.elapsed_s:
            self.elapsed_s = progress.elapsed_s
            self._on_progress(progress)


def lines_after_mark(output: IO[bytes]) -> Iterator[bytes | None]:
    """The output after MARK, line by line; None once a second if nothing came."""
    rest, marked = b"", False
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if not selector.select(1.0):
                yield None
                continue
            data = os.read(output.fileno(), 65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if marked:
                    yield line
                marked = marked or line + b"\n" == MARK


def skip_to_mark(output: IO[bytes]) -> bool:
    return any(line == MARK for line in iter(output.readline, b""))


def check_silence(heard: float, began: float, limit_s: float) -> None:
    now = time.monotonic()
    if limit_s and now - began > limit_s:
        raise TargetError(NOT_ENDED(limit_s=limit_s))
    if now - heard > SILENT_S:
        raise TargetError(SILENT_THERE(silent_s=SILENT_S))
