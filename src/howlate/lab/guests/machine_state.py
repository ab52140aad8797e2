"""A stopped machine, word by word, from the stream that QEMU saves of it: the pages of its memory, and the fields of
its CPU and devices under the names with which QEMU describes them at the stream's end (docs/devel/migration.rst in
QEMU's source). Numbers are big-endian; the guest's memory is as it is."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from howlate.errors import DamagedError
from howlate.lab.problems import saved_unreadable
from howlate.model.decode import json_value

_BEGIN, _PART, _LAST, _WHOLE, _SUBSECTION, _DESCRIPTION, _CONFIGURATION, _COMMAND = range(1, 9)
_FOOTER = 0x7E
_PAGE_BITS = "configuration/target-page-bits"
_ZERO, _SIZES, _PAGE, _END, _SAME_BLOCK = 0x02, 0x04, 0x08, 0x10, 0x20
PAGE_BYTES = 4096
_HEAD_BYTES = 5


class MachineState(Struct, frozen=True):
    """`pages`: by block of memory and address in it, those that are not all zeros; `fields`: "device/field", or
    "device/field[3]", with its bytes."""

    pages: dict[tuple[str, int], bytes]
    fields: dict[str, bytes]

    @classmethod
    def of(cls, saved: bytes) -> MachineState:
        """DamagedError where QEMU saves otherwise than this is written for."""
        stream = _Stream(saved)
        try:
            return stream.state()
        except (struct.error, IndexError, KeyError, ValueError):
            raise DamagedError(saved_unreadable(f"unknown part at {stream.at}")) from None


class _Stream:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0
        self._pages: dict[tuple[str, int], bytes] = {}
        self._block = ""

    def state(self) -> MachineState:
        described_at = self._description()
        described = json_value(self._data[described_at + _HEAD_BYTES :])["devices"]
        devices = {(one["name"], one["instance_id"]): one for one in described}
        fields: dict[str, bytes] = {}
        self.at = 8  # mark and version
        while self.at < described_at:
            kind = self._byte()
            if kind == 0:
                break
            if kind == _CONFIGURATION:
                self._configuration()
                continue
            if kind == _COMMAND:
                self._take(struct.unpack(">HH", self._take(4))[1])
                continue
            number = self._number()
            if kind == _WHOLE:
                name, instance = self._text(), self._number()
                self._number()
                place = f"{name}.{instance}" if (name, 1) in devices else name
                fields |= self._device(devices[name, instance], place)
            elif kind in (_BEGIN, _PART, _LAST):
                if kind == _BEGIN:
                    self._only(self._text(), "ram")
                    self._take(8)
                self._memory()
            else:
                raise ValueError(kind)
            self._only(str(self._byte()), str(_FOOTER))
            self._only(str(self._number()), str(number))
        return MachineState(self._pages, fields)

    def _description(self) -> int:
        """Where it begins: a mark, its length, and a text to the end, in which the mark is not."""
        at = self._data.rindex(_DESCRIPTION)
        while struct.unpack_from(">I", self._data, at + 1)[0] != len(self._data) - at - _HEAD_BYTES:
            at = self._data.rindex(_DESCRIPTION, 0, at)
        return at

    def _configuration(self) -> None:
        """The machine's name, and the size of its pages where that can vary."""
        self._take(self._number())
        if self._data[self.at] == _SUBSECTION:
            self._byte()
            self._only(self._text(), _PAGE_BITS)
            self._number()
            self._only(str(1 << self._number()), str(PAGE_BYTES))

    def _memory(self) -> None:
        while True:
            (word,) = struct.unpack(">Q", self._take(8))
            flags, at = word % PAGE_BYTES, word - word % PAGE_BYTES
            if flags & _END:
                return
            if flags & _SIZES:
                while at > 0:
                    self._text()
                    (size,) = struct.unpack(">Q", self._take(8))
                    at -= size
                continue
            if not flags & _SAME_BLOCK:
                self._block = self._text()
            if flags & _ZERO:
                self._take(1)
            elif flags & _PAGE:
                page = self._take(PAGE_BYTES)
                if page.count(0) < PAGE_BYTES:
                    self._pages[self._block, at] = page
            else:
                raise ValueError(flags)

    def _device(self, described: dict[str, Any], place: str) -> Iterator[tuple[str, bytes]]:
        for one in described.get("fields", ()):
            name, count = f"{place}/{one['name']}", one.get("array_len", 0)
            if not count:
                yield name, self._take(one["size"])
            for number in range(count):
                yield f"{name}[{number}]", self._take(one["size"])
        for part in described.get("subsections", ()):
            self._only(str(self._byte()), str(_SUBSECTION))
            self._only(self._text(), part["vmsd_name"])
            self._number()
            yield from self._device(part, f"{place}/{part['vmsd_name'].rpartition('/')[2]}")

    def _only(self, actual: str, expected: str) -> None:
        if actual != expected:
            raise ValueError(actual)

    def _byte(self) -> int:
        return self._take(1)[0]

    def _number(self) -> int:
        (number,) = struct.unpack(">I", self._take(4))
        return int(number)

    def _text(self) -> str:
        return self._take(self._byte()).decode("ascii")

    def _take(self, size: int) -> bytes:
        if self.at + size > len(self._data):
            raise IndexError
        self.at += size
        return self._data[self.at - size : self.at]
