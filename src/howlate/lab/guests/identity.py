"""Whether the guest that answered has the kernel that it should have: by `uname -r`, and by the GNU build ids in its
image. What neither says stays unknown."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping

from howlate.words.statement import Statement, message

OTHER_KERNEL = message("lab.other-kernel", "the guest {guest} runs the kernel {seen}, not {expected}")

RELEASE, NOTES = "kernel.release", "kernel.notes"
"""Of a job's result: what its guest's kernel calls itself, and the notes in its image (/sys/kernel/notes)."""
_BUILD_ID = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
"""How a note NT_GNU_BUILD_ID of 20 bytes begins, little-endian."""
_ID_BYTES = 20


def build_ids(image: bytes) -> frozenset[bytes]:
    """Those in an unpacked kernel: its own, and those of the programs inside it (the vDSO)."""
    ends = (match.end() for match in re.finditer(re.escape(_BUILD_ID), image))
    return frozenset(image[end : end + _ID_BYTES] for end in ends)


def other_kernel(
    files: Mapping[str, bytes], guest: str, release: str, ids: frozenset[bytes]
) -> Statement | None:
    """What in a job's result contradicts this release ("": not known) and these build ids (none: not known)."""
    seen = files.get(RELEASE, b"").decode("ascii", "replace").strip()
    if seen and release and seen != release:
        return OTHER_KERNEL(guest=guest, seen=seen, expected=release)
    own = set(_own_ids(files.get(NOTES, b"")))
    if ids and own and not own <= ids:
        builds = ", ".join(sorted(build.hex() for build in own - ids))
        return OTHER_KERNEL(guest=guest, seen=f"of the build {builds}", expected="that of its file")
    return None


def _own_ids(notes: bytes) -> Iterator[bytes]:
    """The build ids in a section of notes (elf(5)); a cut note ends it."""
    at = 0
    while at + 12 <= len(notes):
        name_bytes, data_bytes, kind = struct.unpack_from("<3I", notes, at)
        name_at = at + 12
        data_at = name_at + (name_bytes + 3 & ~3)
        data = notes[data_at : data_at + data_bytes]
        if kind == 3 and notes[name_at : name_at + name_bytes] == b"GNU\0" and len(data) == _ID_BYTES:
            yield data
        at = data_at + (data_bytes + 3 & ~3)
