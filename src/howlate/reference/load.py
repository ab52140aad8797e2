"""The reference files: `reference/<study>.toml`."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from howlate.errors import UsageError
from howlate.model.decode import parse_toml, read_text, suggestion
from howlate.model.decode_reference import decode_reference
from howlate.model.reference import Reference
from howlate.places import REFERENCE


def references(folder: Path = REFERENCE) -> dict[str, Path]:
    """The files that come with howlate, by the study that they are of."""
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def read_reference(path: Path) -> Reference:
    """A file, decoded; the errors name file and place. Numbers keep the digits that they are written with."""
    read = parse_toml(read_text(path, UsageError), str(path), parse_float=Decimal)
    found = decode_reference(read)
    if found.study != path.stem:
        raise read.fail(f'it is of the study "{found.study}"', f"name the file {found.study}.toml")
    return found


def reference_path(study: str, folder: Path = REFERENCE) -> Path:
    """Where the published figures of a study stand, or the nearest name in the error."""
    known = references(folder)
    if study not in known:
        raise UsageError(f'there are no published figures of "{study}"', suggestion(study, known))
    return known[study]


def find_reference(study: str, folder: Path = REFERENCE) -> Reference:
    """The published figures of a study, or the nearest name in the error."""
    return read_reference(reference_path(study, folder))
