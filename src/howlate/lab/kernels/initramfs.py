"""The guest's only file system: a newc cpio archive whose bytes depend only on its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

_FOLDER, _PROGRAM, _DEVICE = 0o040755, 0o100755, 0o020600
_CONSOLE = (5, 1)
INIT = "init"
MODULES = "lib/modules"


class _Entry(Struct, frozen=True):
    name: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def build(files: Mapping[str, bytes]) -> bytes:
    """An archive of these files (name without the leading slash), the folders above them and /dev/console.

    Equal files give equal bytes: names in order, inode numbers counted, every time and owner 0. All files are
    executable; only root is in the guest.
    """
    entries = [_Entry(folder, _FOLDER) for folder in _folders((*files, "dev/console"))]
    entries.append(_Entry("dev/console", _DEVICE, device=_CONSOLE))
    entries += [_Entry(name, _PROGRAM, files[name]) for name in sorted(files)]
    archive = bytearray()
    for number, entry in enumerate(entries, 1):
        _append(archive, number, entry)
    _append(archive, 0, _Entry("TRAILER!!!", 0))
    archive += bytes(-len(archive) % 512)
    return bytes(archive)


def _folders(names: Iterable[str]) -> list[str]:
    folders = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    return sorted(folders - {"."})  # a folder sorts before its content


def _append(archive: bytearray, number: int, entry: _Entry) -> None:
    name = entry.name.encode() + b"\0"
    # inode, mode, owner, group, links, time, size, device (2), the device it is (2), length of the name, check
    fields = (number, entry.mode, 0, 0, 1, 0, len(entry.data), 0, 0, *entry.device, len(name), 0)
    archive += b"070701" + b"".join(b"%08X" % field for field in fields) + name
    archive += bytes(-len(archive) % 4)
    archive += entry.data
    archive += bytes(-len(archive) % 4)
