"""The state of a cell's files when the cell was finished, in its `checksums.json`, and the differences since.

The file has the BLAKE2b of every file. The samples can be gigabytes, and `show` must stay quick: it checks
their size and the digest of their end (Parquet's footer, which says where each column's pages are, how long
they are, and their extremes). The whole digest is checked when the samples are read, and by `howlate show
--verify`. It names the run too: a cell of the same id may come from another. The checksums detect accidents and
edits, not a forger who rewrites checksums.json.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from howlate.errors import DamagedError
from howlate.model.decode import Table
from howlate.store.files import looking, not_the_cell, read_json, storing, write_json
from howlate.system.opening import open_file
from howlate.words.statement import Statement

CHECKSUMS = "checksums.json"
END_BYTES = 64 * 1024
_DIGEST_BYTES = 32


class Checksum(Struct, frozen=True):
    size: int
    digest: str
    end: str
    """The digest of its last 64 KiB."""

    def to_json(self) -> dict[str, Any]:
        return {"bytes": self.size, "blake2b": self.digest, "end": self.end}


def write_checksums(folder: Path, run: str) -> None:
    """Write the checksums of all files of a finished cell's folder, with its run's token."""
    with storing(folder / CHECKSUMS):
        names = sorted(p.name for p in folder.iterdir() if p.is_file() and p.name != CHECKSUMS)
        files = {name: _of(folder / name).to_json() for name in names if not name.startswith(".")}
    value = {"schema": 1, "algorithm": f"blake2b-{8 * _DIGEST_BYTES}", "run": run, "files": files}
    write_json(folder / CHECKSUMS, value)


def read_checksums(folder: Path, run: str | None = None) -> Mapping[str, Checksum]:
    """Checksums by file name; empty for a cell that an older howlate finished. DamagedError where they name another
    run than that of this token; where they name none, only `run_of` tells."""
    path = folder / CHECKSUMS
    with looking(path):
        if not os.path.lexists(path):
            return {}
    whole = Table(read_json(path), str(path), "", DamagedError)
    if run is not None and whole.text("run", "") not in ("", run):
        raise not_the_cell(folder)
    table = whole.table("files", required=True)
    return {
        name: Checksum(checksum.integer("bytes"), checksum.text("blake2b"), checksum.text("end"))
        for name in table.values
        for checksum in (table.table(name, required=True),)
    }


def run_of(folder: Path) -> str:
    """The token of the run that a cell's checksums name; "" where they name none."""
    path = folder / CHECKSUMS
    return (
        Table(read_json(path), str(path), "", DamagedError).text("run", "") if os.path.lexists(path) else ""
    )


def changed(
    folder: Path,
    name: str,
    known: Mapping[str, Checksum],
    *,
    whole: bool,
    text: str | None = None,
    called: object = "",
) -> Statement | None:
    """How a file differs; None if it does not, or if nothing is known. `whole`: compare every byte, else only
    size and end. `text`: the file's content, if it was read already. `called`: what to call it, if not `name`."""
    if name not in known:
        return None
    from howlate.statistics.valid import FILE_CHANGED, FILE_MISSING

    file = called or name
    was, path = known[name], folder / name
    with looking(path):
        try:
            content = open_file(path) if text is None else io.BytesIO(text.encode())
        except FileNotFoundError:
            return FILE_MISSING(file=file)
        with content:
            same = content.seek(0, os.SEEK_END) == was.size
            same = same and (_digest(content) == was.digest if whole else _end(content) == was.end)
    return None if same else FILE_CHANGED(file=file)


def differences(folder: Path) -> Iterator[Statement]:
    """How every file that differs does so, read whole."""
    known = read_checksums(folder)
    yield from filter(None, (changed(folder, name, known, whole=True) for name in known))


def _of(path: Path) -> Checksum:
    with open_file(path) as file:
        return Checksum(file.seek(0, os.SEEK_END), _digest(file), _end(file))


def _digest(file: io.BufferedReader | io.BytesIO) -> str:
    file.seek(0)
    return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)).hexdigest()


def _end(file: BinaryIO) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - END_BYTES))
    return hashlib.blake2b(file.read(END_BYTES), digest_size=_DIGEST_BYTES).hexdigest()
