"""Kernel images: the architecture of a file, what it says about itself, and the form that QEMU boots."""

from __future__ import annotations

import bz2
import io
import lzma
import re
import struct
import zlib
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError, HowlateError, UsageError
from howlate.lab.archive.deb import DAMAGED_PACKAGE, MOST_FILE, TooMuchError, decompressed
from howlate.lab.problems import UNUSABLE

MOST_CONFIG = 16 << 20
_IKCONFIG = (b"IKCFG_ST", b"IKCFG_ED")
_BANNER = re.compile(rb"Linux version (\S+) ")
_RELEASE = re.compile(r"[A-Za-z0-9.+~_@%,:=-]{1,64}")
"""What `uname -r` says; names of folders are made of it."""
_PVH_NOTE = re.compile(rb"\x04\0\0\0[\x04\x08]\0\0\0\x12\0\0\0Xen\0")
"""XEN_ELFNOTE_PHYS32_ENTRY: where a kernel with CONFIG_PVH is entered."""
_TOLD_CLOCK = b"tsc_early_khz\0"
"""The parameter that tells a kernel (5.8 and newer) the rate of its clock."""


class Image(Struct, frozen=True):
    """A kernel's file, decoded."""

    arch: str
    data: bytes
    """The form that QEMU boots: a bzImage unchanged; an Image decompressed (QEMU before 8.0 knows only gzip).
    """
    release: str
    config: str | None
    """From CONFIG_IKCONFIG, if it is built in and can be unpacked."""


def read_image(data: bytes, whence: str) -> Image:
    """UsageError if it is neither a bzImage nor an Image (which may be compressed, also as EFI zboot)."""
    try:
        image = _read_image(data, whence)
    except struct.error:  # it ends within its head
        raise _not_bootable(whence) from None
    return image if _RELEASE.fullmatch(image.release) else replace(image, release="")


def _read_image(data: bytes, whence: str) -> Image:
    if data[0x202:0x206] == b"HdrS" and data[0x1FE:0x200] == b"\x55\xaa":
        return _bzimage(data, whence)
    plain = _arm64(data, whence)
    if plain is not None:
        release = _BANNER.search(plain)
        return Image("arm64", plain, release[1].decode() if release else "", _config(plain))
    if data[:4] == b"\x7fELF" and _BANNER.search(data):
        raise _not_bootable(whence, "it is a vmlinux")
    raise _not_bootable(whence)


def plain_kernel(data: bytes) -> bytes:
    """The kernel's code and strings, as far as they can be unpacked, behind the code that unpacks it."""
    plain = unpacked_kernel(data)
    return data if plain is None or plain is data else data + plain


def unpacked_kernel(data: bytes) -> bytes | None:
    """The kernel in a bzImage, None if it cannot be unpacked here; an Image is itself."""
    return _payload(data) if data[0x202:0x206] == b"HdrS" else data


def pvh_kernel(data: bytes) -> bytes | None:
    """The vmlinux in a bzImage, if it can be unpacked here, QEMU can enter it (CONFIG_PVH), and it need not measure
    its clock."""
    plain = _payload(data) if data[0x202:0x206] == b"HdrS" else None
    if plain is None or plain[:4] != b"\x7fELF" or _TOLD_CLOCK not in plain:
        return None
    return plain if _PVH_NOTE.search(plain) else None


def _payload(data: bytes) -> bytes | None:
    start, end = _payload_place(data)
    return _unpacked(data[start:end])


def _payload_place(data: bytes) -> tuple[int, int]:
    """Start and end of the payload in a bzImage, from its header."""
    sectors = data[0x1F1] or 4
    start, length = struct.unpack_from("<II", data, 0x248)
    start += (sectors + 1) * 512
    return start, start + length


def _bzimage(data: bytes, whence: str) -> Image:
    (protocol,) = struct.unpack_from("<H", data, 0x206)
    (flags,) = struct.unpack_from("<H", data, 0x236)
    if protocol < 0x20C or not flags & 1:
        raise _not_bootable(whence, "it is for 32 bits")
    needed = _payload_place(data)[1]
    if len(data) < needed:
        raise _not_bootable(whence, f"it has {len(data)} of {needed} bytes", "copy it again")
    (text,) = struct.unpack_from("<H", data, 0x20E)
    banner = data[text + 0x200 :].split(b"\0", 1)[0] if text else b""
    release = banner.split(b" ", 1)[0].decode(errors="replace")
    plain = _payload(data)
    return Image("amd64", data, release, _config(plain) if plain is not None else None)


def _arm64(data: bytes, whence: str) -> bytes | None:
    if data[:2] == b"MZ" and data[4:8] == b"zimg":
        start, size = struct.unpack_from("<II", data, 8)
        plain = _unpacked(data[start : start + size])
        if plain is None:
            kind = data[24:56].split(b"\0", 1)[0].decode(errors="replace")
            raise _not_bootable(whence, f"it is compressed with {kind}", "name its Image")
        data = plain
    elif data[:2] == b"\x1f\x8b":
        data = _whole(_unpacked(data), whence)
    return data if data[0x38:0x3C] == b"ARM\x64" else None


def _whole(plain: bytes | None, whence: str) -> bytes:
    if plain is None:
        raise _not_bootable(whence, "it is cut off or damaged", "copy it again")
    return plain


def _unpacked(packed: bytes, most: int = MOST_FILE) -> bytes | None:
    """The payload of an image, by its first bytes; None if it cannot be unpacked. What follows it is ignored."""
    try:
        if packed[:2] == b"\x1f\x8b":
            unpacker = zlib.decompressobj(31)
            plain = _limited(unpacker.decompress(packed, most + 1), most)
            return plain if unpacker.eof else None
        if packed[:6] == b"\xfd7zXZ\0":
            return _limited(lzma.LZMADecompressor().decompress(packed, most + 1), most)
        if packed[:3] == b"]\0\0":
            return _limited(lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(packed, most + 1), most)
        if packed[:3] == b"BZh":
            return _limited(bz2.BZ2Decompressor().decompress(packed, most + 1), most)
        if packed[:4] == b"\x28\xb5\x2f\xfd":
            return _unzstd(packed, most)
    except TooMuchError:
        raise
    except (OSError, EOFError, ValueError, MemoryError, zlib.error, lzma.LZMAError, HowlateError):
        return None
    return None


def _limited(plain: bytes, most: int) -> bytes:
    if len(plain) > most:
        raise TooMuchError(DAMAGED_PACKAGE(package="the kernel", damage=f"it has more than {most} bytes"))
    return plain


def _unzstd(packed: bytes, most: int) -> bytes:
    """A bzImage's payload ends with its length in four bytes, which are not zstd; an EFI zboot's does not."""
    for frame in (packed[:-4], packed):
        try:
            with decompressed(io.BytesIO(frame), "zst", Path("the kernel"), most) as stream:
                return stream.read()
        except TooMuchError:
            raise
        except DamagedError:
            continue
    raise ValueError("not one whole frame")


def _config(plain: bytes) -> str | None:
    """The config that CONFIG_IKCONFIG put into a kernel."""
    begin, end = plain.find(_IKCONFIG[0]), plain.find(_IKCONFIG[1])
    if begin < 0 or end < begin:
        return None
    try:
        unpacked = _unpacked(plain[begin + 8 : end], MOST_CONFIG)
    except TooMuchError:
        return None
    return unpacked.decode(errors="replace") if unpacked is not None else None


def _not_bootable(
    image: object,
    reason: str = "it is not a kernel",
    hint: str = "name a bzImage (amd64) or an Image (arm64)",
) -> UsageError:
    return UsageError(UNUSABLE(what=image, reason=reason, hint=hint))
