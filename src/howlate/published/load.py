"""The reference files: `documents/<study>.toml`."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from howlate.errors import UsageError
from howlate.model.decode import parse_toml, read_text, unknown
from howlate.published.decode import decode_reference, wrong
from howlate.published.reference import Reference

REFERENCE = Path(__file__).parent / "documents"


def references(folder: Path = REFERENCE) -> dict[str, Path]:
    """The files that come with howlate, by study."""
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def read_reference(path: Path) -> Reference:
    """Decode a file; errors name file and place. Numbers keep the digits as written."""
    read = parse_toml(read_text(path, UsageError), str(path), parse_float=Decimal)
    reference = decode_reference(read)
    if reference.study != path.stem:
        raise wrong(read, "study", f'"{path.stem}"', f'"{reference.study}"')
    return reference


def reference_path(study: str, folder: Path = REFERENCE) -> Path:
    """The path of the published figures of a study; otherwise an error with the nearest name."""
    known = references(folder)
    if study not in known:
        raise UsageError(unknown("study with published figures", study, known))
    return known[study]


def find_reference(study: str) -> Reference:
    """The published figures of a study; otherwise an error with the nearest name."""
    return read_reference(reference_path(study))
