"""The window: the memory that host and guest share. A job goes in before the guest goes on, its result comes out
after the guest has ended. While it executes, the host reads whether results still come.

    0  "howlwin1"           8  length of the job       16  its CRC32C       24  state
    32 length of the result 40 its CRC32C              48  the guest's clock, in ns, when it became ready
    512 448 words of the measuring threads, which change as long as results come
    4096  the job           1 MiB  the result

Numbers are of 64 bits, little-endian. The result is a tree of files, each u32 length of its name, u32 CRC32C of its
data, u64 size, the name and the data, both padded with zeros to 8 bytes.
"""

from __future__ import annotations

import os
import struct
from enum import IntEnum
from pathlib import Path

import google_crc32c
from msgspec import Struct

from howlate.errors import DamagedError, UsageError
from howlate.lab.problems import UNUSABLE

SIZE = 64 << 20
"""All of it is touched, because QEMU writes a saved window back as a whole."""
_MAGIC = b"howlwin1"
_HEAD = struct.Struct("<8s5Q")
_CLOCK = struct.Struct("<Q")
FILE_HEAD = struct.Struct("<IIQ")
_JOB, _RESULT = 4096, 1 << 20
_RESULTS = struct.Struct("<448Q")
_RESULTS_AT = 512
ROOM = SIZE - _RESULT
"""The largest result in bytes."""


class State(IntEnum):
    """The content of the window."""

    NOTHING = 0
    JOB = 1
    RESULT = 2
    FAILED = 3
    """The result is the guest's error message."""
    READY = 4
    """The guest waits for a job."""


class GuestAnswer(Struct, frozen=True):
    state: State
    data: bytes = b""


def create(path: Path) -> None:
    """An empty window. Its memory is allocated now, because a guest that finds none later is killed."""
    with path.open("xb") as file:
        file.write(_HEAD.pack(_MAGIC, 0, 0, State.NOTHING, 0, 0))
        os.posix_fallocate(file.fileno(), 0, SIZE)


def put_job(path: Path, job: bytes) -> None:
    """Put a job in; its state is written last."""
    if len(job) > _RESULT - _JOB:
        reason = "it is too large for a guest"
        raise UsageError(UNUSABLE(what=f"a job of {len(job)} bytes", reason=reason, hint="split it"))
    with path.open("r+b", buffering=0) as file:
        file.seek(_JOB)
        file.write(job)
        file.seek(0)
        file.write(_HEAD.pack(_MAGIC, len(job), google_crc32c.value(job), State.JOB, 0, 0))


def read_ready(path: Path) -> int | None:
    """The guest's clock, in ns, when it reported that it waits for a job; None if it has not."""
    with path.open("rb") as file:
        magic, _, _, state, *_ = _HEAD.unpack(file.read(_HEAD.size))
        clock: int = _CLOCK.unpack(file.read(_CLOCK.size))[0]
    return clock if magic == _MAGIC and state == State.READY else None


def read_results(path: Path) -> tuple[int, ...]:
    """What the measuring threads of a guest that executes say of their results; it changes while they come."""
    with path.open("rb") as file:
        file.seek(_RESULTS_AT)
        return _RESULTS.unpack(file.read(_RESULTS.size))


def read_answer(path: Path) -> GuestAnswer:
    """What the guest left; DamagedError if its checksum does not match."""
    with path.open("rb") as file:
        magic, _, _, state, length, crc = _HEAD.unpack(file.read(_HEAD.size))
        if magic != _MAGIC or state not in set(State):
            raise bad_result("its window is overwritten")
        if state not in (State.RESULT, State.FAILED):
            return GuestAnswer(State(state))
        if length > ROOM:
            raise bad_result("it is longer than its window")
        file.seek(_RESULT)
        data = file.read(length)
    if google_crc32c.value(data) != crc:
        raise bad_result("its checksum")
    return GuestAnswer(State(state), data)


def decode_tree(data: bytes) -> dict[str, bytes]:
    """The files of a result by name; DamagedError for anything incomplete."""
    files: dict[str, bytes] = {}
    at = 0
    while at < len(data):
        if len(data) - at < FILE_HEAD.size:
            raise bad_result("it is cut off")
        length, crc, size = FILE_HEAD.unpack_from(data, at)
        name_at = at + FILE_HEAD.size
        data_at = name_at + padded(length)
        at = data_at + padded(size)
        if at > len(data):
            raise bad_result("it is cut off")
        name = data[name_at : name_at + length].decode("utf-8", "replace")
        content = data[data_at : data_at + size]
        if google_crc32c.value(content) != crc:
            raise bad_result(f"the checksum of {name}")
        files[name] = content
    return files


def padded(length: int) -> int:
    return length + -length % 8


def bad_result(reason: str) -> DamagedError:
    return DamagedError("a guest's result is damaged: {reason}", reason=reason)
