"""What a folder of the cache was made of, and the hash of each of its files: it is used only while both are
unchanged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from howlate.lab.archive import Package
from howlate.lab.cache import entry_hash, read_sealed, write_sealed

NAME = "files.json"


def write_manifest(folder: Path, name: str, packages: Iterable[Package] = ()) -> None:
    """List all files of a folder that was just made from these packages, and will have this name."""
    content = _content(folder, name, packages)
    write_sealed(folder / NAME, json.dumps(content, ensure_ascii=True, sort_keys=True).encode())


def unchanged(packages: Iterable[Package] = ()) -> Callable[[Path], bool]:
    """Whether a folder was made from these packages, by the hashes that the signed lists state, and is as it was."""

    def is_sound(folder: Path) -> bool:
        try:
            kept = json.loads(read_sealed(folder / NAME))
            return bool(kept == _content(folder, folder.name, packages))
        except (OSError, ValueError, RecursionError):
            return False

    return is_sound


def _content(folder: Path, name: str, packages: Iterable[Package]) -> dict[str, object]:
    return {"name": name, "packages": [package.sha256 for package in packages], "files": _files(folder)}


def _files(folder: Path) -> Mapping[str, str]:
    """Each file's hash, each link's target, by name; OSError for anything else."""
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder, onerror=_raise):
        for name in (*folders, *names):
            path = Path(place) / name
            if path.is_symlink():
                found[str(path.relative_to(folder))] = f"-> {path.readlink()}"
            elif name in names and path != folder / NAME:
                found[str(path.relative_to(folder))] = entry_hash(path)
    return found


def _raise(error: OSError) -> None:
    raise error
