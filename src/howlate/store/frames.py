"""The stream's frames: bytes in, checked payloads out. `stream.py` interprets the payloads (docs/stream.md)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import Enum
from typing import BinaryIO

import google_crc32c
from msgspec import Struct

from howlate.words.say import english
from howlate.words.statement import Statement, message

WHOLE = message("stream.whole", "whole")
NO_TRAILER = message("stream.no-trailer", "the file ends here without a trailer")
CUT = message("stream.cut", "the file ends after {bytes} of {length} bytes of a frame")
WRONG_FRAME = message("stream.wrong-frame", "the {part} of a frame is wrong: {given}")

MAGIC = b"HOWLATE\x01"
PAYLOAD_MAX = 16 * 1024 * 1024
_HEAD = struct.Struct("<IBBHI")
_CHECKED = 8  # the bytes of the frame's head that the checksum covers


class EndKind(Enum):
    """How the reading of a stream ended."""

    WHOLE = "whole"
    """At the trailer, with nothing behind it."""
    CUT = "cut"
    """The file ends inside a frame or without a trailer: the probe did not end by itself."""
    DAMAGED = "damaged"
    """A frame is invalid; what follows it is not read."""


class End(Struct, frozen=True):
    """Where and why the reading ended: `at` is the offset behind the last whole frame."""

    kind: EndKind
    at: int
    statement: Statement

    @property
    def reason(self) -> str:
        return english(self.statement)


class Frame(Struct, frozen=True):
    """One frame with a correct checksum; `at` is its own offset."""

    kind: int
    table: int
    payload: bytes
    at: int


HEADER, BATCH, TRAILER = 1, 2, 3


def crc32c(data: bytes, seed: int = 0) -> int:
    """CRC32C (Castagnoli) of `data`, continued from `seed`."""
    return int(google_crc32c.extend(seed, data))


def encode_frame(kind: int, table: int, payload: bytes) -> bytes:
    if len(payload) > PAYLOAD_MAX:
        raise ValueError(f"a payload of {len(payload)} bytes is more than the {PAYLOAD_MAX} of a frame")
    head = _HEAD.pack(len(payload), kind, 0, table, 0)[:_CHECKED]
    return head + struct.pack("<I", crc32c(payload, crc32c(head))) + payload


def read_frames(file: BinaryIO) -> Iterator[Frame | End]:
    """Every whole frame behind the magic, in order, then one End (never WHOLE: only the reader of trailers
    knows that).

    Holds one frame at a time. OSErrors of the file are left to the caller.
    """
    at = len(MAGIC)
    while True:
        head = file.read(_HEAD.size)
        if not head:
            yield End(EndKind.CUT, at, NO_TRAILER())
            return
        if len(head) < _HEAD.size:
            yield End(EndKind.CUT, at, CUT(bytes=len(head), length=_HEAD.size))
            return
        length, kind, zero, table, crc = _HEAD.unpack(head)
        if length > PAYLOAD_MAX:
            yield End(EndKind.DAMAGED, at, WRONG_FRAME(part="length", given=length))
            return
        payload = file.read(length)
        if len(payload) < length:
            yield End(EndKind.CUT, at, CUT(bytes=len(payload), length=length))
            return
        if crc32c(payload, crc32c(head[:_CHECKED])) != crc:
            yield End(EndKind.DAMAGED, at, WRONG_FRAME(part="checksum", given=f"{crc:08x}"))
            return
        if zero != 0:
            yield End(EndKind.DAMAGED, at, WRONG_FRAME(part="reserved byte", given=zero))
            return
        yield Frame(kind, table, payload, at)
        at += _HEAD.size + length
