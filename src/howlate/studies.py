"""The studies that come with howlate, and those that the user names by their files."""

from __future__ import annotations

from pathlib import Path

from howlate.errors import UsageError
from howlate.model.decode import read_text, suggestion
from howlate.model.study import Study, read_study
from howlate.places import STUDIES


def studies(folder: Path = STUDIES) -> dict[str, Path]:
    """The studies that come with howlate, by id."""
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_study(text: str, folder: Path = STUDIES) -> Study:
    """A study by its id or its file."""
    if text.endswith(".toml") or "/" in text:
        return read_study(Path(text))
    known = studies(folder)
    if text not in known:
        remedy = suggestion(text, known)
        raise UsageError(
            f'the study "{text}" is not known',
            f"{remedy.removesuffix('?')}? Or name a file that ends in .toml"
            if remedy.endswith("?")
            else f"{remedy}; or name a file that ends in .toml",
        )
    return read_study(known[text])


def study_text(text: str, folder: Path = STUDIES) -> str:
    """The TOML of a study that `find_study` finds."""
    return read_text(studies(folder).get(text) or Path(text), UsageError)
