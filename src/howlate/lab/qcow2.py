"""As much of the format qcow2 as the lab needs: an empty image for QEMU to save a machine into (`savevm`), and the
machine read out of it, as QEMU's own stream. Numbers are big-endian (docs/interop/qcow2.txt in QEMU's source)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from howlate.errors import DamagedError

_HEAD = struct.Struct(">4sIQIIQIIQQIIQ")
"""Mark, version, backing file's offset and length, bits of a cluster, the disk's size, encryption, L1 table's length
and offset, refcount table's offset and clusters, snapshots' number and offset."""
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


def create(path: Path) -> None:
    """An image of a disk of one cluster that is not there. Its own clusters: header, refcount table, the table's one
    block, L1 table."""
    table, block, l1 = _CLUSTER, 2 * _CLUSTER, 3 * _CLUSTER
    head = _HEAD.pack(_MARK, _VERSION, 0, 0, _BITS, _DISK, 0, 1, l1, table, 1, 0, 0)
    head += _VERSION_3.pack(0, 0, 0, 4, _HEAD.size + _VERSION_3.size)
    clusters = (head, struct.pack(">Q", block), struct.pack(">4H", 1, 1, 1, 1), b"")
    path.write_bytes(b"".join(cluster.ljust(_CLUSTER, b"\0") for cluster in clusters))


def saved_machine(image: BinaryIO) -> Iterator[bytes]:
    """The machine of the image's only snapshot, in pieces; DamagedError if there is not exactly one."""
    try:
        head = _HEAD.unpack(_read(image, 0, _HEAD.size))
        if head[0] != _MARK or head[4] != _BITS or head[11] != 1:
            raise DamagedError("QEMU's image holds no saved machine")
        at = head[12]
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
                    raise DamagedError("QEMU's image of a saved machine has a hole")
                yield _read(image, cluster & _OFFSET, piece)
                size -= piece
    except struct.error:
        raise DamagedError("QEMU's image of a saved machine is cut") from None
    if size:
        raise DamagedError("QEMU's image of a saved machine is cut")


def _read(image: BinaryIO, at: int, size: int) -> bytes:
    image.seek(at)
    data = image.read(size)
    if len(data) < size:
        raise DamagedError("QEMU's image of a saved machine is cut")
    return data
