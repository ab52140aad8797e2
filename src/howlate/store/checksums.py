"""What a cell's files were when the cell was finished: `checksums.json` beside them, and what differs since.

BLAKE2b of every file. The samples can be gigabytes, and `show` must stay quick: their size and the digest of their
end (Parquet's footer, which says where each column's pages are, how long they are, and their extremes) are looked at
each time, the whole digest where the samples are read, and by `howlate show --verify`. It notices accidents and
edits, not a forger who writes checksums.json anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from howlate.errors import DamagedError
from howlate.model.decode import Table
from howlate.store.files import looking, read_json, storing, write_json

CHECKSUMS = "checksums.json"
END_BYTES = 64 * 1024
_PIECE = 1024 * 1024
_DIGEST_BYTES = 32


@dataclass(frozen=True)
class Checksum:
    """One file as it was."""

    size: int
    digest: str
    end: str
    """Of its last 64 KiB."""

    def to_json(self) -> dict[str, Any]:
        return {"bytes": self.size, "blake2b": self.digest, "end": self.end}


def write_checksums(folder: Path) -> None:
    """Of all files of a cell's folder, which is finished with it."""
    with storing(folder / CHECKSUMS):
        names = sorted(p.name for p in folder.iterdir() if p.is_file() and p.name != CHECKSUMS)
        files = {name: _of(folder / name).to_json() for name in names if not name.startswith(".")}
    value = {"schema": 1, "algorithm": f"blake2b-{8 * _DIGEST_BYTES}", "files": files}
    write_json(folder / CHECKSUMS, value)


def read_checksums(folder: Path) -> Mapping[str, Checksum]:
    """By the files' names; empty for a cell that an older howlate finished."""
    path = folder / CHECKSUMS
    with looking(path):
        if not path.is_file():
            return {}
    table = Table(read_json(path), str(path), "", DamagedError).table("files", required=True)
    return {
        name: Checksum(its.integer("bytes"), its.text("blake2b"), its.text("end"))
        for name in table.values
        for its in (table.table(name, required=True),)
    }


def changed(folder: Path, name: str, known: Mapping[str, Checksum], whole: bool) -> str:
    """What is not as it was about a file, as the end of a sentence; "" where all is, or nothing is known. `whole`:
    every byte is read, else size and end."""
    if name not in known:
        return ""
    was, path = known[name], folder / name
    with looking(path):
        if not path.is_file():
            return "is missing"
        size = path.stat().st_size
        if size != was.size:
            return f"has {size:,} bytes, and had {was.size:,} when it was measured"
        now = _of(path).digest if whole else _end_of(path)
    return "" if now == (was.digest if whole else was.end) else "was changed after it was measured"


def differences(folder: Path) -> Iterator[str]:
    """Every file that is not as it was, read whole: "samples.parquet is missing"."""
    known = read_checksums(folder)
    for name in known:
        if what := changed(folder, name, known, whole=True):
            yield f"{name} {what}"


def _of(path: Path) -> Checksum:
    whole = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    size = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            whole.update(piece)
            size += len(piece)
        return Checksum(size, whole.hexdigest(), _end(file))


def _end_of(path: Path) -> str:
    with path.open("rb") as file:
        return _end(file)


def _end(file: BinaryIO) -> str:
    size = file.seek(0, 2)
    file.seek(max(0, size - END_BYTES))
    return hashlib.blake2b(file.read(), digest_size=_DIGEST_BYTES).hexdigest()
