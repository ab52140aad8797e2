"""The part of the format qcow2 that the lab needs: an empty image into which QEMU saves a machine (`savevm`),
and extraction of the machine as QEMU's own stream. Numbers are big-endian (docs/interop/qcow2.txt in QEMU's
source)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from howlate.errors import DamagedError
from howlate.lab.problems import saved_unreadable

CUT = "its image is cut off"


_HEAD = struct.Struct(">4sIQIIQIIQQIIQ")
_SNAPSHOT = struct.Struct(">QIHHIIQII")
"""L1 table's offset and length, lengths of id and name, two of the date, a clock, the machine's bytes (32 bits),
bytes of what else follows: first the machine's bytes (64 bits), then the disk's size."""
_MORE = struct.Struct(">QQ")
_MARK, _VERSION, _BITS, _DISK = b"QFI\xfb", 3, 16, 1 << 16
_CLUSTER = 1 << _BITS
_VERSION_3 = struct.Struct(">QQQII")
"""Three sets of features, the refcounts' order (4: 16 bits), the header's length."""
_OFFSET = 0x00FF_FFFF_FFFF_FE00
_COMPRESSED = 1 << 62


class _Head(NamedTuple):
    """The fields of the header, in the order of the file."""

    mark: bytes = _MARK
    version: int = _VERSION
    backing_at: int = 0
    backing_length: int = 0
    cluster_bits: int = _BITS
    disk_bytes: int = _DISK
    encryption: int = 0
    l1_length: int = 1
    l1_at: int = 0
    refcounts_at: int = 0
    refcount_clusters: int = 1
    snapshots: int = 0
    snapshots_at: int = 0


def create(path: Path) -> None:
    """An image of a disk of one cluster, which is not allocated. Its own clusters: header, refcount table,
    the table's one block, L1 table."""
    table, block, l1 = _CLUSTER, 2 * _CLUSTER, 3 * _CLUSTER
    head = _HEAD.pack(*_Head(l1_at=l1, refcounts_at=table))
    head += _VERSION_3.pack(0, 0, 0, 4, _HEAD.size + _VERSION_3.size)
    clusters = (head, struct.pack(">Q", block), struct.pack(">4H", 1, 1, 1, 1), b"")
    path.write_bytes(b"".join(cluster.ljust(_CLUSTER, b"\0") for cluster in clusters))


def saved_machine(image: BinaryIO) -> Iterator[bytes]:
    """The machine of the image's only snapshot, in pieces; DamagedError if there is not exactly one."""
    try:
        head = _Head(*_HEAD.unpack(_read(image, 0, _HEAD.size)))
        if (head.mark, head.cluster_bits, head.snapshots) != (_MARK, _BITS, 1):
            raise DamagedError(saved_unreadable(reason="its image is empty"))
        at = head.snapshots_at
        l1_at, l1_length, *_, size, more = _SNAPSHOT.unpack(_read(image, at, _SNAPSHOT.size))
        if more >= _MORE.size:
            size, _ = _MORE.unpack(_read(image, at + _SNAPSHOT.size, _MORE.size))
        # Behind the disk: the first of its entries that is not the disk's.
        l1 = struct.unpack(f">{l1_length}Q", _read(image, l1_at, 8 * l1_length))[1:]
        for entry in l1:
            l2 = struct.unpack(f">{_CLUSTER // 8}Q", _read(image, entry & _OFFSET, _CLUSTER))
            for cluster in l2:
                if size == 0:
                    return
                piece = min(size, _CLUSTER)
                if cluster & _COMPRESSED or not cluster & _OFFSET:
                    raise DamagedError(saved_unreadable(reason="its image has a hole"))
                yield _read(image, cluster & _OFFSET, piece)
                size -= piece
    except struct.error:
        raise DamagedError(saved_unreadable(reason=CUT)) from None
    if size:
        raise DamagedError(saved_unreadable(reason=CUT))


def _read(image: BinaryIO, at: int, size: int) -> bytes:
    image.seek(at)
    data = image.read(size)
    if len(data) < size:
        raise DamagedError(saved_unreadable(reason=CUT))
    return data
