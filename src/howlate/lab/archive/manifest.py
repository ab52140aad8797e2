"""What a folder of the cache was made of, and the hash of each of its files: it is used only while both are
unchanged."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from howlate.lab.archive.packages import Package
from howlate.lab.cache import entry_hash, read_sealed, write_sealed
from howlate.model.decode import json_value

NAME = "files.json"
_PASSING = re.compile(r"\.more-.*|\..*\.lock")
"""What a process that works in a folder has there meanwhile."""


def write_manifest(
    folder: Path, name: str, packages: Iterable[Package] = (), but: Collection[str] = ()
) -> None:
    """List all files of a folder that was just made from these packages, and will have this name; `but`: folders
    below it that change."""
    content = _content(folder, name, packages, but)
    write_sealed(folder / NAME, json.dumps(content, ensure_ascii=True, sort_keys=True).encode())


def unchanged(packages: Iterable[Package] = (), but: Collection[str] = ()) -> Callable[[Path], bool]:
    """Whether a folder was made from these packages, by the hashes that the signed lists state, and is as it
    was."""

    def is_sound(folder: Path) -> bool:
        try:
            stored = json_value(read_sealed(folder / NAME))
            return bool(stored == _content(folder, folder.name, packages, but))
        except (OSError, ValueError):
            return False

    return is_sound


def _content(folder: Path, name: str, packages: Iterable[Package], but: Collection[str]) -> dict[str, object]:
    hashes = [package.sha256 for package in packages]
    return {"name": name, "packages": hashes, "files": file_hashes(folder, but)}


def file_hashes(folder: Path, but: Collection[str] = ()) -> Mapping[str, str]:
    """Each file's hash, each link's target, each device's number, by name; OSError for anything else."""
    hashes: dict[str, str] = {}
    for place, folders, names in os.walk(folder, onerror=_raise):
        relative = {name: str((Path(place) / name).relative_to(folder)) for name in (*folders, *names)}
        folders[:] = [name for name in folders if relative[name] not in but and not _passes(relative[name])]
        for name in (*folders, *names):
            path = Path(place) / name
            if path.is_symlink():
                hashes[relative[name]] = f"-> {path.readlink()}"
            elif name not in names or relative[name] == NAME or _passes(relative[name]):
                continue
            elif path.is_char_device():
                hashes[relative[name]] = f"device {path.stat().st_rdev}"
            else:
                hashes[relative[name]] = entry_hash(path)
    return hashes


def _passes(name: str) -> bool:
    return _PASSING.fullmatch(name) is not None


def _raise(error: OSError) -> None:
    raise error
